import Errand
import ErrandTestPrograms
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

@Suite("Attacks on the inspector", .endsInTime, .leakChecked)
struct AttackTests {
    private static func agent(_ inspector: TrafficInspector, body: Data = Data("ok".utf8)) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com",
            transport: StubTransport(StubResponse(status: 200, body: body), maximumRecordedRequests: 0),
            accessories: [inspector])
    }

    @Test(
        "a request that two parsers could read in different ways is refused",
        arguments: [
            "GET / HTTP/1.1\nHost: 127.0.0.1\n\n", "GET /\r\nHost: a\r\n\r\n", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\u{0}b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "get / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\n\r\n\r\n",
            "GET /ü HTTP/1.1\r\nHost: a\r\n\r\n",
        ])
    func smuggling(text: String) throws {
        let visit = try Visit()
        let visitor = try Visitor(port: visit.port)
        // The first example never ends for a strict parser.
        visitor.send(text.contains("\n\n") ? text + String(repeating: "a", count: 20_000) : text)
        let reply = try visitor.response()
        #expect([400, 413, 431, 501, 505].contains(reply.status))
        #expect(visitor.isClosed())
    }

    @Test("huge heads, many fields and large bodies are refused")
    func sizes() throws {
        let visit = try Visit()
        let long = String(repeating: "a", count: 64 << 10)
        #expect(try visit.request("GET", "/?\(long)").status == 431)
        #expect(try visit.request("GET", "/", [long: "1"]).status == 431)
        #expect(try visit.request("GET", "/", ["X-Long": long]).status == 431)
        let many = Dictionary(uniqueKeysWithValues: (0..<70).map { ("X-\($0)", "1") })
        #expect(try visit.request("GET", "/", many).status == 431)
        #expect(try visit.request("POST", "/tools", body: String(repeating: " ", count: 200_000)).status == 413)
        let endless = try Visitor(port: visit.port)
        endless.send([UInt8](repeating: 65, count: 4 << 20))
        #expect(endless.isClosed())
        #expect(try visit.request("GET", "/").status == 200)
    }

    @Test("requests that arrive in pieces or together get their responses in order")
    func pieces() throws {
        let visit = try Visit()
        let text = visit.head("POST", "/clear", [:], "{}") + "{}" + visit.head("GET", "/nothing", [:], "")
        let slow = try Visitor(port: visit.port)
        for byte in text.utf8 { slow.send([byte]) }
        #expect(try slow.response().status == 200)
        #expect(try slow.response().status == 404)
        let fast = try Visitor(port: visit.port)
        fast.send(text + text)
        #expect(try (0..<4).map { _ in try fast.response().status } == [200, 404, 200, 404])
    }

    @Test("a thousand silent connections don't block the page")
    func silence() throws {
        let visit = try Visit()
        let page = try visit.events()
        while !page.text.contains("event: hello") { #expect(page.receive()) }
        var silent: [Visitor] = []
        for number in 0..<1000 {
            // The inspector limits only its own descriptors, so close old connections here.
            if silent.count >= 200 { silent.removeFirst(100) }
            silent.append(try Visitor(port: visit.port))
            if number % 100 == 0 { #expect(try visit.request("GET", "/").status == 200) }
        }
        #expect(try visit.request("GET", "/").status == 200)
        #expect(silent[0].isClosed())
        // The page that is open stays open.
        visit.inspector.clear()
        while !page.text.contains("event: clear") { #expect(page.receive()) }
    }

    @Test("a request that doesn't arrive in time gets a response, and a silent connection is closed")
    func deadlines() async throws {
        let time = ManualTimeSource()
        let visit = try Visit(TrafficInspector(time: time))
        let partial = try Visitor(port: visit.port)
        partial.send("GET / HTTP/1.1\r\nHost: ")
        let silent = try Visitor(port: visit.port)
        while partial.received.isEmpty {
            time.advance(by: .seconds(20))
            _ = partial.receive(milliseconds: 20)
        }
        #expect(try partial.response().status == 408)
        while silent.receive(milliseconds: 20) { time.advance(by: .seconds(20)) }
        #expect(silent.received.isEmpty)
    }

    @Test("a page that doesn't read doesn't delay others or use memory, and learns how many rows it missed")
    func neverReads() async throws {
        let visit = try Visit(TrafficInspector(maximumActivities: 200))
        let agent = Self.agent(visit.inspector)
        let page = try visit.events()
        while !page.text.contains("event: hello") { #expect(page.receive()) }
        let before = residentBytes()
        let label = String(repeating: "x", count: 2000)
        for number in 0..<8000 {
            _ = try await agent.send(Call<Data>(.get, "items/\(number)") { $0.label = label })
        }
        #expect(residentBytes() - before < 96 << 20)
        // The page reads again, and receives the newest state.
        while !page.text.contains("items/7999") { #expect(page.receive()) }
        let missed = page.text.matches(of: /"missed":(\d+)/).compactMap { Int($0.1) }.max()
        #expect(try #require(missed) > 0)
        #expect(visit.inspector.recordedIDs.count == 200)
    }

    @Test("a large body is kept only in part, and memory stays bounded by the limits")
    func largeBodies() async throws {
        let visit = try Visit(TrafficInspector(maximumBodyBytes: 1000, maximumBytes: 1 << 20))
        let agent = Self.agent(visit.inspector, body: Data(repeating: 65, count: 100 << 20))
        agent.configure { $0.maximumBodyBytes = 128 << 20 }
        for _ in 0..<3 { _ = try await agent.send(Call<Data>(.get, "large")) }
        let details = try #require(try visit.activities().last)
        let exchange = try #require((details["exchanges"] as? [[String: Any]])?.first)
        let body = try #require((exchange["response"] as? [String: Any])?["body"] as? [String: Any])
        #expect(
            body["length"] as? Int == 100 << 20 && body["copied"] as? Int == 1000 && body["truncated"] as? Bool == true)
        #expect((body["text"] as? String)?.count == 1000)
    }

    @Test("names of 64 KB stay within the limits of a row, and the memory limit counts them")
    func longNames() async throws {
        let visit = try Visit(TrafficInspector(maximumBytes: 4 << 20))
        let agent = Self.agent(visit.inspector)
        let long = String(repeating: "n", count: 64 << 10)
        for _ in 0..<100 {
            let call = Call<Data>(.get, long) { call in
                call.headers = HTTPHeaders([long: long])
                call.label = long
            }
            _ = try await agent.send(call)
        }
        let count = visit.inspector.recordedIDs.count
        #expect(count > 5 && count < 40)
        let page = try visit.events()
        while page.text.matches(of: /"id":/).count < count { #expect(page.receive()) }
        #expect(page.received.count < count * (80 << 10))
        #expect(try visit.request("GET", "/archive").status == 200)
    }

    @Test("after many exchanges, the number of activities and the memory stay constant")
    func flatMemory() async throws {
        let inspector = TrafficInspector(maximumActivities: 500, maximumBytes: 4 << 20)
        _ = try inspector.start(inReleaseBuilds: true) { _ in }
        defer { inspector.stop() }
        let agent = Self.agent(inspector, body: Data(repeating: 66, count: 10_000))
        func send(_ count: Int) async throws {
            for number in 0..<count { _ = try await agent.send(Call<Data>(.get, "items/\(number)")) }
        }
        try await send(3000)
        let (count, before) = (inspector.recordedIDs.count, residentBytes())
        #expect(count > 300 && count <= 500)
        try await send(20_000)
        #expect(abs(inspector.recordedIDs.count - count) < 50)
        // Other tests run meanwhile. A leak of these bodies alone would be 200 MB.
        #expect(residentBytes() - before < 96 << 20)
    }
}
