import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("How the test server simulates faults", .endsInTime, .leakChecked)
struct ServerFaultTests {
    private let response = TestResponse.text("hi").chunked(sizes: [1])

    @Test("it closes at every byte of a response")
    func closesAtEveryByte() async throws {
        let server = try TestServer()
        let whole = response.wireBytes()
        for count in 0...whole.count {
            server.enqueue(response.closing(afterBytes: count))
            let rest = try await exchange(server.port, get("/", close: false))
            #expect(rest.bytes == whole.prefix(count))
            #expect(!rest.wasReset)
        }
        #expect(server.connectionCount == whole.count + 1)
    }

    @Test("it resets at every byte of a response")
    func resetsAtEveryByte() async throws {
        let server = try TestServer()
        let whole = response.wireBytes()
        for count in 0...whole.count {
            server.enqueue(response.resetting(afterBytes: count))
            let rest = try await exchange(server.port, get("/", close: false))
            #expect(rest.wasReset)
            #expect(whole.starts(with: rest.bytes) && rest.bytes.count <= count)
        }
    }

    @Test("it truncates the body after a number of bytes")
    func cutsTheBody() async throws {
        let server = try TestServer()
        server.on("/close", .text("hello").truncated(to: 2))
        server.on("/reset", .text("hello").resetting(afterBodyBytes: 2))
        server.on("/big", .repeating(count: 1_000_000).truncated(to: 999_999))
        let closed = try await exchange(server.port, get("/close", close: false))
        #expect(closed.text.contains("Content-Length: 5\r\n") && closed.text.hasSuffix("\r\n\r\nhe"))
        #expect(try await exchange(server.port, get("/reset", close: false)).wasReset)
        let big = try await exchange(server.port, get("/big", close: false)).bytes
        let head = try #require(big.firstRange(of: Data("\r\n\r\n".utf8)))
        #expect(big.count - head.upperBound == 999_999)
    }

    @Test("it stalls until the client disconnects")
    func stalls() async throws {
        let server = try TestServer()
        server.on("/", .text("hello").stalled(afterBodyBytes: 2))
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(get("/"))
            #expect(try client.receive(until: "\r\n\r\nhe").hasSuffix("he"))
            #expect(server.openConnections == 1)
        }
        try await server.waitUntilNoConnections()
    }

    @Test("stopping ends connections that stall, wait, send slowly or idle, and closes the port")
    func stops() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on("/stall", .text("hello").stalled(afterBytes: 0))
        server.on("/delay", .text("hello").delayed(by: .seconds(3600)))
        server.on("/gate", .text("hello").waiting(for: gate))
        server.on("/slow", .text("hello").slowly(bytesPerChunk: 1, every: .seconds(3600)))
        server.on("/endless", .repeating(count: .max))
        server.on("/held", .text("hello"), reading: .held(by: gate))
        let paths = ["/stall", "/delay", "/gate", "/slow", "/endless", "/held"]
        let clients = try await blocking {
            try paths.map { path in
                let client = try RawClient(port: server.port)
                try client.send(get(path, "Content-Length: 1\r\n") + (path == "/held" ? "" : "x"))
                return client
            } + [RawClient(port: server.port)]
        }
        try await server.wait(forRequests: 5)
        try await gate.reached(by: 2)
        try await server.wait(forOpenConnections: 7)
        server.stop()
        #expect(server.openConnections == 0)
        try await blocking {
            for client in clients { _ = try client.receiveAll() }
            #expect(throws: RawClient.Failure.self) { _ = try RawClient(port: server.port) }
        }
    }

    @Test("an endless body can be chunked")
    func endlessChunks() async throws {
        let server = try TestServer()
        server.on("/", .repeating(count: .max).chunked(sizes: [1]).closing(afterBodyBytes: 100_000))
        let response = try await exchange(server.port, get("/"))
        #expect(response.text.contains("\r\n1\r\n.\r\n") && response.text.hasSuffix("..."))
    }

    @Test("a stopped server refuses connections while it is retained, so no other program gets its port")
    func keepsPort() throws {
        let server = try TestServer()
        server.stop()
        #expect(throws: RawClient.Failure.refused) { _ = try RawClient(port: server.port) }
        #expect(throws: RawClient.Failure.taken) { _ = try RawClient(taking: server.port) }
        withExtendedLifetime(server) {}
    }

    @Test("a server that goes out of scope closes its connections")
    func scope() async throws {
        let client = try await blocking {
            let server = try TestServer()
            server.on("/", .text("hi"))
            let client = try RawClient(port: server.port)
            try client.send(get("/", close: false))
            _ = try client.receive(until: "hi")
            return client
        }
        #expect(try await blocking { try client.receiveAll() }.bytes.isEmpty)
    }

    @Test("a handler can stop its own server")
    func stopsItself() async throws {
        let server = try TestServer()
        server.on("/") { [weak server] _ in
            server?.stop()
            return .text("too late")
        }
        #expect(try await exchange(server.port, get("/")).bytes.isEmpty)
    }

    @Test("it notices a client that disconnects while it waits")
    func clientGoes() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on("/delay", .text("hello").delayed(by: .seconds(3600)))
        server.on("/gate", .text("hello").waiting(for: gate))
        for path in ["/delay", "/gate"] {
            let client = try await blocking {
                let client = try RawClient(port: server.port)
                try client.send(get(path))
                return client
            }
            _ = try await server.nextRequest()
            withExtendedLifetime(client) {}
        }
        try await server.waitUntilNoConnections()
    }

    @Test("a gate holds back a response, or the rest of its body, until a test opens it")
    func gates() async throws {
        let server = try TestServer()
        let (before, within) = (Gate(), Gate())
        server.on("/", .text("hello").waiting(for: before).waiting(for: within, afterBodyBytes: 3).keepAlive(false))
        let client = try await blocking { try RawClient(port: server.port) }
        try await blocking { try client.send(get("/")) }
        try await before.reached()
        #expect(before.arrivals == 1 && within.arrivals == 0 && !before.isOpen)
        before.open()
        let start = try await blocking { try client.receive(until: "hel") }
        #expect(start.hasSuffix("\r\n\r\nhel"))
        try await within.reached()
        within.open()
        #expect(try await blocking { try client.receiveAll() }.text == "lo")
    }

    @Test("a slow response arrives completely, with or without splitting its head", arguments: [false, true])
    func slowly(_ includesHead: Bool) async throws {
        let server = try TestServer()
        let slow = response.slowly(bytesPerChunk: 1, every: .microseconds(100), includingHead: includesHead)
            .informational(103)
        server.on("/", slow.closingSilently())
        #expect(try await exchange(server.port, get("/", close: false)).bytes == slow.wireBytes())
    }

    @Test("a connection is closed silently after a response, at once or at the next request")
    func closesSilently() async throws {
        let server = try TestServer()
        server.on("/now", .text("hi").closingSilently())
        server.on("/next", .text("hi").closingSilently(atNextRequest: true))
        let now = try await exchange(server.port, get("/now", close: false)).text
        #expect(now.hasSuffix("\r\n\r\nhi") && !now.contains("Connection"))
        // The client sees the end before the server has removed the connection from its list.
        try await server.waitUntilNoConnections()
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(get("/next", close: false))
            #expect(try client.receive(until: "hi").hasSuffix("\r\n\r\nhi"))
            #expect(server.openConnections == 1)
            try client.send(get("/next", close: false))
            #expect(try client.receiveAll().bytes.isEmpty)
        }
        #expect(server.requestCount == 2)
    }

    @Test("a closure can speak another protocol on a connection")
    func otherProtocol() async throws {
        let server = try TestServer()
        server.enqueueConnections(
            .converse { connection in
                try connection.send(try connection.receive() ?? Data())
                try connection.send(Data(" bye".utf8))
            })
        #expect(try await exchange(server.port, "PRI * HTTP/2.0\r\n\r\n").text == "PRI * HTTP/2.0\r\n\r\n bye")
        #expect(server.requestCount == 0)
    }

    @Test("connections are closed, reset, ignored or greeted as they arrive")
    func connectionPlans() async throws {
        let server = try TestServer { _ in .text("served") }
        server.enqueueConnections(.close, .reset, .send(Array("HTTP/1.1 200 OK\r\n\r\nearly".utf8)), .silence)
        #expect(try await exchange(server.port, "").bytes.isEmpty)
        #expect(try await exchange(server.port, "").wasReset)
        #expect(try await exchange(server.port, "").text.hasSuffix("early"))
        let silent = try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(get("/"))
            return client
        }
        #expect(try await exchange(server.port, get("/")).text.hasSuffix("served"))
        try await server.wait(forOpenConnections: 1)
        #expect(server.requestCount == 1)
        server.closeConnections()
        _ = try await blocking { try silent.receiveAll() }
        try await server.waitUntilNoConnections()
        #expect(try await exchange(server.port, get("/")).text.hasSuffix("served"))
    }

    @Test("it listens on ::1 too")
    func ipv6() throws {
        var configuration = TestServer.Configuration()
        configuration.usesIPv6 = true
        let server: TestServer
        do { server = try TestServer(configuration) } catch {
            try Test.cancel("this machine has no ::1: \(error)")
        }
        #expect(server.url("a") == "http://[::1]:\(server.port)/a")
    }
}
