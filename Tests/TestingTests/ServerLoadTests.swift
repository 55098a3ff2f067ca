import Errand
import ErrandTesting
import Testing

@Suite("The test server under load", .endsInTime, .serialized, .leakChecked)
struct ServerLoadTests {
    @Test("500 keep-alive connections are served side by side")
    func manyConnections() async throws {
        let server = try TestServer { request in .text(request.path) }
        try await blocking {
            let clients = try (0..<500).map { _ in try RawClient(port: server.port) }
            for round in 0..<3 {
                for (index, client) in clients.enumerated() { try client.send(get("/\(round)/\(index)", close: false)) }
                for (index, client) in clients.enumerated() {
                    #expect(try client.receive(until: "/\(round)/\(index)").hasSuffix("\r\n\r\n/\(round)/\(index)"))
                }
            }
            #expect(server.openConnections == 500)
            withExtendedLifetime(clients) {}
        }
        #expect(server.requestCount == 1500 && server.connectionCount == 500)
        try await server.waitUntilNoConnections()
    }

    @Test("1,000 requests wait at one gate and are released together")
    func thousandAtOnce() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on("/", .text("through").waiting(for: gate))
        let clients = try await blocking {
            try (0..<1000).map { _ in
                let client = try RawClient(port: server.port)
                try client.send(get("/"))
                return client
            }
        }
        try await gate.reached(by: 1000)
        #expect(server.openConnections == 1000)
        gate.open()
        let responses = try await blocking { try clients.map { try $0.receiveAll().text } }
        #expect(responses.allSatisfy { $0.hasSuffix("\r\n\r\nthrough") })
        try await server.waitUntilNoConnections()
    }
}
