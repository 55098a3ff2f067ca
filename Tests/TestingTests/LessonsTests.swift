import Errand
import ErrandTesting
import Foundation
import Testing

/// Faults that users of other test servers have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other test servers", .endsInTime, .leakChecked)
struct ServerLessonsTests {
    @Test("a client that waits for 100 Continue gets it before a chunked body, which is recorded with its field")
    func chunkedExpectation() async throws {
        let server = try TestServer { request in .text(request.text) }
        let head = get("/", "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n", method: "PUT")
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(head)
            #expect(try client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("2\r\nhi\r\n0\r\n\r\n")
            #expect(try client.receiveAll().text.hasSuffix("\r\n\r\nhi"))
        }
        let request = try await server.nextRequest()
        #expect(request.headers["Expect"] == "100-Continue" && request.text == "hi" && request.isChunked)
        // A client that doesn't wait may get none.
        let text = try await exchange(server.port, head + "5\r\nhello\r\n0\r\n\r\n").text
        #expect(text.contains("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\nhello"))
        #expect(server.received.last?.text == "hello" && server.faults.isEmpty)
    }

    @Test("after an event stream, a chunked body or an error, the connection serves the next request")
    func keptConnection() async throws {
        let server = try TestServer()
        server.on("/events", .events("a", "b"))
        server.on("/chunks", .text("hello").chunked(sizes: [1, 2]))
        server.on("/error", .text("no", status: 500))
        server.on("/last", .text("last").keepAlive(false))
        try await blocking {
            let client = try RawClient(port: server.port)
            for (path, end) in [("/events", "0\r\n\r\n"), ("/chunks", "0\r\n\r\n"), ("/error", "\r\n\r\nno")] {
                try client.send(get(path, close: false))
                let text = try client.receive(until: end)
                #expect(!text.lowercased().contains("connection: close"))
            }
            try client.send(get("/last", close: false))
            #expect(try client.receiveAll().text.contains("Connection: close\r\n"))
        }
        #expect(server.connectionCount == 1 && server.requestCount == 4)
    }

    @Test("a server stops even if unscripted requests have come and some wait for a gate")
    func unexpectedRequests() async throws {
        let (server, gate) = (try TestServer(), Gate())
        server.enqueue(.text("one"), .text("two").waiting(for: gate))
        #expect(try await exchange(server.port, get("/")).text.hasSuffix("one"))
        async let held = exchange(server.port, get("/"))
        try await gate.reached()
        for _ in 0..<3 { #expect(try await exchange(server.port, get("/")).text.hasPrefix("HTTP/1.1 404 ")) }
        server.stop()
        #expect(try await held.bytes.isEmpty)
        #expect(server.requestCount == 5 && server.openConnections == 0)
        gate.open()
    }

    @Test("a truncated request doesn't count, and the server continues", arguments: [0, 1, 20, 60])
    func truncatedRequests(missing: Int) async throws {
        let server = try TestServer { request in .text("\(request.bodyLength)") }
        let whole = get("/cut", "Content-Length: 40\r\n", method: "PUT") + String(repeating: "x", count: 40)
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(String(whole.dropLast(missing)))
            client.finishSending()
            let text = try client.receiveAll().text
            #expect(missing == 0 ? text.hasSuffix("\r\n\r\n40") : !text.contains(" 200 "))
        }
        #expect(server.received.count == (missing == 0 ? 1 : 0))
        #expect(try await exchange(server.port, get("/next")).text.hasSuffix("\r\n\r\n0"))
    }
}
