import Errand
import ErrandBatch
import ErrandCache
import ErrandRetry
import ErrandSystemTransport
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

@Suite("What the page receives", .endsInTime, .leakChecked)
struct ContentTests {
    private struct Get: CacheableRequest {
        typealias Output = Data
        var path: String
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    private func exchanges(_ details: [String: Any]) -> [[String: Any]] {
        details["exchanges"] as? [[String: Any]] ?? []
    }

    private func phases(_ exchange: [String: Any]) -> Double {
        (exchange["phases"] as? [Any] ?? []).reduce(0) { $0 + ($1 as? Double ?? 0) }
    }

    @Test("requests at the same time have their own bodies")
    func concurrentBodies() async throws {
        let (visit, filter) = (try Visit(), FirstWins())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: filter.transport, filters: [filter],
            accessories: [visit.inspector])
        _ = try await agent.send(Call<String>(.get, "text"))
        let exchanges = exchanges(try #require(try visit.activities().first))
        let sent = exchanges.map { ($0["requestBody"] as? [String: Any])?["text"] as? String }
        let received = exchanges.map { exchange in
            ((exchange["response"] as? [String: Any])?["body"] as? [String: Any])?["text"] as? String
        }
        #expect(sent == ["first", "second"] && received == ["one", nil])
    }

    @Test("a request over a real connection: its fields, bodies, timings and sizes")
    func request() async throws {
        let server = try TestServer()
        server.on(
            .post, "/v1/users",
            TestResponse(
                status: 201, headers: ["Content-Type": "application/json", "X-Answer": "42"],
                body: Data(#"{"id":7,"name":"Ada"}"#.utf8)
            ).delayed(by: .milliseconds(20)))
        let visit = try Visit()
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system, accessories: [visit.inspector.named("shop")])
        visit.inspector.explainRequests(of: agent, named: "shop")
        let body = RequestBody.data(Data(#"{"name":"Ada"}"#.utf8), contentType: "application/json")
        _ = try await agent.send(Call<Data>(.post, "users", body: body))
        let details = try #require(try visit.activities().first)
        #expect(details["method"] as? String == "POST" && details["status"] as? Int == 201)
        #expect(details["url"] as? String == server.url("v1/users") && details["state"] as? String == "success")
        #expect(details["agent"] as? String == "shop" && details["size"] as? Int == 21 && details["sent"] as? Int == 14)
        #expect((details["explanation"] as? String)?.contains("hop   transport") == true)
        let exchange = try #require(exchanges(details).first)
        let response = try #require(exchange["response"] as? [String: Any])
        // Unknown fields are masked, as in the log and the recorder.
        let fields = try #require(response["headers"] as? [[String]])
        #expect(fields.contains(["Content-Type", "application/json"]), "\(fields)")
        #expect(fields.contains(["X-Answer", Redaction.mask]), "\(fields)")
        #expect((response["body"] as? [String: Any])?["text"] as? String == #"{"id":7,"name":"Ada"}"#)
        #expect((exchange["requestBody"] as? [String: Any])?["text"] as? String == #"{"name":"Ada"}"#)
        #expect((exchange["curl"] as? String)?.contains("--data-binary '{\"name\":\"Ada\"}'") == true)
        let duration = try #require(details["duration"] as? Double)
        #expect(duration >= 20 && phases(exchange) > 0 && phases(exchange) <= duration + 1)
        #expect((exchange["address"] as? String)?.contains("127.0.0.1") == true)
        let archive = try visit.request("GET", "/archive?id=\(details["id"] ?? 0)")
        let file = try JSONSerialization.jsonObject(with: Data(archive.body)) as? [String: Any]
        let entries = (file?["log"] as? [String: Any])?["entries"] as? [[String: Any]]
        #expect(entries?.count == 1)
    }

    @Test("attempts, redirects and a cache hit, with the filters' notes")
    func hops() async throws {
        let stub = StubTransport()
        stub.on("/busy", response: StubResponse(status: 503), StubResponse(status: 200, body: Data("ok".utf8)))
        stub.on("/old", response: .redirect(to: "/new"))
        stub.on("/new", response: .text("new"))
        let visit = try Visit()
        let time = ManualTimeSource()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [.retry(RetryPolicy(maximumAttempts: 3)), .cache(.memory())], accessories: [visit.inspector],
            time: time)
        let handle = agent.start(Call<Data>(.get, "busy"))
        try await time.waitForSleepers()
        let running = try #require(try visit.activities().first)
        #expect(running["state"] as? String == "running" && running["duration"] == nil)
        time.advance(by: .seconds(60))
        _ = try await handle.value
        _ = try await agent.send(Call<Data>(.get, "old"))
        for _ in 0..<2 { _ = try await agent.send(Get(path: "new")) }
        let all = try visit.activities()
        #expect(all.count == 4)
        #expect(all[0]["attempts"] as? Int == 2 && exchanges(all[0]).count == 2)
        #expect((all[0]["noteList"] as? [[String: Any]])?.contains { $0["name"] as? String == "retry" } == true)
        #expect(all[1]["hops"] as? Int == 2 && all[1]["url"] as? String == "https://api.example.com/old")
        #expect((exchanges(all[1])[0]["response"] as? [String: Any])?["location"] as? String == "/new")
        #expect(exchanges(all[3]).isEmpty && (all[3]["source"] as? String)?.hasPrefix("cache") == true)
        let stored = try #require(all[3]["other"] as? [String: Any])
        #expect((stored["body"] as? [String: Any])?["text"] as? String == "new")
    }

    @Test("a cancelled request isn't shown as running: it has its end and its duration")
    func cancelled() async throws {
        let (visit, gate) = (try Visit(), Gate())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("ok").waiting(for: gate)),
            accessories: [visit.inspector])
        let handle = agent.start(Call<Data>(.get, "text"))
        try await gate.reached()
        #expect(try visit.activities().first?["state"] as? String == "running")
        handle.cancel()
        _ = await handle.result
        let details = try #require(try visit.activities().first)
        #expect(details["state"] as? String == "cancelled" && details["duration"] is Double)
    }

    @Test("a copied command has the cookies that a filter has added, with their values masked")
    func addedCookies() async throws {
        let visit = try Visit()
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers.set("Cookie", "session=canary; theme=dark", sensitive: true)
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("ok")), filters: [adding],
            accessories: [visit.inspector])
        _ = try await agent.send(Call<Data>(.get, "text"))
        let details = try #require(try visit.activities().first)
        let command = try #require(exchanges(details).first?["curl"] as? String)
        #expect(command.contains("Cookie: \(Redaction.mask)") && !command.contains("canary"), "\(command)")
    }

    @Test("a batch is the parent of its parts, and a failure shows its evidence")
    func tree() async throws {
        let stub = StubTransport()
        stub.on("/*", response: .text("ok"))
        stub.on("/sold-out", response: StubResponse(status: 404, body: Data("sold out".utf8)))
        let visit = try Visit()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: [visit.inspector])
        _ = try await agent.run(Batch([Get(path: "a"), Get(path: "b")], label: "both"))
        _ = try? await agent.send(Call<Data>(.get, "sold-out"))
        let all = try visit.activities()
        let batch = try #require(all.first)
        #expect(batch["kind"] as? String == "batch" && batch["label"] as? String == "both")
        #expect(all.filter { $0["parent"] as? Int == batch["id"] as? Int }.count == 2)
        let failed = try #require(all.last)
        let failure = try #require(failed["failure"] as? [String: String])
        #expect(failure["name"] == "unacceptableStatus" && failure["description"]?.contains("404") == true)
        #expect(failed["state"] as? String == "failure" && failed["status"] as? Int == 404)
    }

    @Test("the stream greets a page, sends all rows, then each change, and a clear")
    func stream() async throws {
        let visit = try Visit()
        let gate = Gate()
        let stub = StubTransport()
        stub.on("/first", response: .text("1"))
        stub.on("/later", response: StubResponse(status: 200, body: Data("2".utf8)).waiting(for: gate))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: [visit.inspector])
        _ = try await agent.send(Call<Data>(.get, "first"))
        let page = try visit.events()
        while !page.text.contains("/first") { #expect(page.receive()) }
        #expect(
            page.text.contains("Content-Type: text/event-stream")
                && page.text.contains("event: hello\ndata: {\"limit\":10000"))
        let handle = agent.start(Call<Data>(.get, "later"))
        while page.text.firstMatch(of: /later"[^{]*"state":"running"/) == nil { #expect(page.receive()) }
        gate.open()
        _ = try await handle.value
        while page.text.firstMatch(of: /later"[^{]*"state":"success"/) == nil { #expect(page.receive()) }
        #expect(try visit.request("POST", "/clear", body: "{}").status == 200)
        while !page.text.contains("event: clear") { #expect(page.receive()) }
        #expect(visit.inspector.recordedIDs.isEmpty)
    }

    @Test("the oldest activities are removed first, and running activities stay")
    func eviction() async throws {
        let visit = try Visit(TrafficInspector(maximumActivities: 10))
        let gate = Gate()
        let stub = StubTransport()
        stub.on("/*", response: .text("ok"))
        stub.on("/open", response: StubResponse(status: 200).waiting(for: gate))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: [visit.inspector])
        let open = agent.start(Call<Data>(.get, "open"))
        for number in 0..<50 { _ = try await agent.send(Call<Data>(.get, "\(number)")) }
        #expect(visit.inspector.recordedIDs.count == 11)
        let all = try visit.activities()
        #expect(all.first?["state"] as? String == "running")
        #expect(
            all.dropFirst().compactMap { $0["url"] as? String } == (40..<50).map { "https://api.example.com/\($0)" })
        gate.open()
        _ = try await open.value
        #expect(visit.inspector.recordedIDs.count == 10)
    }

    @Test("a stopped inspector leaves no trace in requests, and doesn't see them")
    func stopped() async throws {
        let inspector = TrafficInspector()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("ok")), filters: inspector.filters,
            accessories: [inspector])
        _ = try await agent.send(Call<Data>(.get, "a"))
        #expect(inspector.recordedIDs.isEmpty)
    }

    @Test("hostile text is escaped, and JSON keeps every character")
    func hostileText() throws {
        for text in [
            "</script><script>alert(1)</script>", "\u{1B}[2J\u{202E}x\u{0}\u{7F}\u{85}\u{2028}", "\"\\\n\r\t/",
            "🦊é\u{FFFD}",
            String(repeating: "\u{1}", count: 70_000),
        ] {
            var json = JSONText()
            json.object { $0.add("a", text) }
            #expect(!json.bytes.contains { $0 < 0x20 })
            let read = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: String]
            #expect(read == ["a": text])
        }
    }

    @Test(
        "durations are milliseconds with three decimals",
        arguments: [(0, "0"), (1, "0.001"), (999, "0.999"), (1000, "1"), (1_010, "1.010"), (-1_500, "-1.500")])
    func durations(microseconds: Int, text: String) {
        var json = JSONText()
        json.add(Duration.microseconds(microseconds))
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }
}
