import Errand
import ErrandRetry
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

@Suite("The tools for trying", .endsInTime, .leakChecked)
struct ToolTests {
    private func set(_ settings: ToolSettings, _ visit: Visit) throws -> Int {
        let body = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        return try visit.request("POST", "/tools", body: body).status
    }

    private func agent(_ visit: Visit, _ stub: StubTransport, time: some TimeSource = SystemTimeSource())
        -> NetworkAgent
    {
        NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: visit.inspector.filters,
            accessories: [visit.inspector], time: time)
    }

    @Test("the tools are off at first and after a stop")
    func off() async throws {
        let visit = try Visit()
        let stub = StubTransport(StubResponse.text("ok"))
        let agent = agent(visit, stub)
        #expect(try await agent.send(Call<String>(.get, "a")).value == "ok")
        #expect(agent.explain(Call<String>(.get, "a")).description.contains("the inspector's tools: off"))
        #expect(try set(ToolSettings(failures: 1), visit) == 200)
        #expect(agent.explain(Call<String>(.get, "a")).description.contains("the inspector's tools: on"))
        visit.inspector.stop()
        #expect(try await agent.send(Call<String>(.get, "a")).value == "ok")
        #expect(stub.received.count == 2)
    }

    @Test("the next requests fail, up to the requested number")
    func failures() async throws {
        let visit = try Visit()
        let stub = StubTransport(StubResponse.text("ok"))
        let agent = agent(visit, stub)
        #expect(try set(ToolSettings(failures: 2), visit) == 200)
        for _ in 0..<2 {
            await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, "a")) }
        }
        #expect(try await agent.send(Call<String>(.get, "a")).value == "ok")
        #expect(stub.received.count == 1)
        #expect(try set(ToolSettings(failures: 1, failureStatus: 503), visit) == 200)
        let response = try await agent.send(Call<HTTPResponse>(.get, "a") { $0.acceptableStatuses = .any })
        #expect(response.value.status == 503)
        let notes = try #require(try visit.activities().last?["noteList"] as? [[String: Any]])
        #expect(
            notes.contains { $0["name"] as? String == "inspector" && $0["text"] as? String == "fails with status 503" })
    }

    @Test("a rule responds without the transport, for URLs that match its pattern")
    func rules() async throws {
        let visit = try Visit()
        let stub = StubTransport(StubResponse.text("real"))
        let agent = agent(visit, stub)
        let rule = ToolSettings.Rule(
            pattern: "/users/*/photo", status: 418, type: "text/plain", body: "tea", latency: 0)
        #expect(try set(ToolSettings(rules: [rule]), visit) == 200)
        let stubbed = try await agent.send(Call<HTTPResponse>(.get, "users/7/photo") { $0.acceptableStatuses = .any })
        #expect(stubbed.value.status == 418 && stubbed.value.data == Data("tea".utf8))
        #expect(try await agent.send(Call<String>(.get, "users/7")).value == "real")
        #expect(stub.received.count == 1)
        let shown = try #require(try visit.activities().first)
        #expect(shown["source"] as? String == "inspector" && shown["status"] as? Int == 418)
    }

    @Test("delay and bandwidth wait on the agent's clock")
    func slow() async throws {
        let visit = try Visit()
        let time = ManualTimeSource()
        let stub = StubTransport(StubResponse(status: 200, body: Data(count: 3000)))
        let agent = agent(visit, stub, time: time)
        #expect(try set(ToolSettings(delay: 500, bandwidth: 1000), visit) == 200)
        let start = time.now
        let handle = agent.start(Call<Data>(.get, "a"))
        try await time.waitForSleepers()
        #expect(stub.received.isEmpty)
        time.advance(by: .milliseconds(500))
        try await eventually { stub.received.count == 1 }
        while !handle.activity.isOver {
            if let wake = time.nextWake { time.advance(to: wake) }
            await Task.yield()
        }
        #expect(try await handle.value.value.count == 3000)
        #expect(start.duration(to: time.now) >= .milliseconds(3500))
        let notes = try visit.activities().first?["noteList"] as? [[String: Any]] ?? []
        #expect(
            notes.compactMap { $0["text"] as? String } == ["delayed by 0.5 seconds", "limited to 1000 bytes a second"])
    }

    @Test("settings out of range are clamped, and invalid settings are refused")
    func bounds() throws {
        let rule = ToolSettings.Rule(pattern: "a", status: 7, type: "a\r\nX: b", body: "", latency: 1 << 40)
        let wild = ToolSettings(
            delay: 1 << 40, bandwidth: -5, failures: -1, failureStatus: 42, rules: Array(repeating: rule, count: 100))
        let bounded = wild.bounded
        #expect(
            bounded.delay == 60_000 && bounded.bandwidth == 0 && bounded.failures == 0 && bounded.failureStatus == 0)
        #expect(bounded.rules.count == 32 && bounded.rules[0].status == 200 && bounded.rules[0].type.isEmpty)
        #expect(bounded.rules[0].latency == 60_000)
        let visit = try Visit()
        for body in [
            "", "{", "[]", "{}", #"{"delay":1e99}"#, #"{"delay":"1"}"#, String(repeating: "[", count: 100_000),
        ] {
            #expect(try visit.request("POST", "/tools", body: body).status == 400, "\(body.prefix(20))")
        }
    }

    @Test(
        "a pattern matches anywhere in the URL",
        arguments: [
            ("users", true), ("*", true), ("https://*/users", true), ("a*e", true), ("users/*/x", false),
            ("USERS", false),
            ("com/users", true), ("com*users*7", true), ("**7", true), ("8", false),
        ])
    func patterns(pattern: String, matches: Bool) {
        #expect(URLPattern.matches("https://api.example.com/users/7", pattern) == matches)
    }

    @Test("a pattern with many stars doesn't take exponential time")
    func patternTime() {
        #expect(!URLPattern.matches(String(repeating: "a", count: 20_000), String(repeating: "a*", count: 200) + "b"))
    }
}
