import CoreMetrics
import Errand
import ErrandCache
import ErrandConformance
import ErrandObservability
import ErrandRetry
import ErrandTesting
import Foundation
import MetricsTestKit
import Testing

@Suite("Metrics", .timeLimit(.minutes(10)))
struct MetricsTests {
    @Test("the duration is in seconds, on the agent's clock, with the conventions' dimensions")
    func duration() async throws {
        let time = ManualTimeSource()
        let wait = ClosureTransport { request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .milliseconds(250)))
            return HTTPResponse(to: request, status: 404, body: HTTPBody(Data("no".utf8)), version: "2")
        }
        let observed = Observed("https://api.example.com", transport: wait, time: time)
        let task = Task { try await observed.agent.send(GetUser()) }
        try await time.waitForSleepers()
        let active = try observed.metrics.expectMeter(
            "http.client.active_requests",
            [
                ("http.request.method", "GET"), ("server.address", "api.example.com"), ("server.port", "443"),
                ("url.template", "/users/{id}"),
            ])
        #expect(active.lastValue == 1)
        time.advance(by: .milliseconds(250))
        _ = await task.result
        #expect(active.lastValue == 0)
        let timer = try #require(observed.metrics.timers(label: "http.client.request.duration").first)
        #expect(timer.values == [250_000_000] && timer.valueInPreferredUnit(atIndex: 0) == 0.25)
        #expect(
            timer.named == [
                "http.request.method": "GET", "server.address": "api.example.com", "server.port": "443",
                "url.template": "/users/{id}", "http.response.status_code": "404", "network.protocol.version": "2",
                "error.type": "404",
            ])
        #expect(
            RequestMetrics.durationBounds.map { $0 / .milliseconds(1) }
                == [5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000])
    }

    @Test("bodies are measured in bytes")
    func sizes() async throws {
        let server = try TestServer { _ in .text("0123456789") }
        let observed = Observed(server.url)
        try await observed.agent.send(Call<Void>(.post, "x", body: .text("four")))
        try await observed.agent.send(Call<Void>(.get, "x"))
        let sent = observed.metrics.recorders(label: "http.client.request.body.size").flatMap(\.values)
        let received = observed.metrics.recorders(label: "http.client.response.body.size").flatMap(\.values)
        #expect(sent == [4] && received == [10, 10])
    }

    @Test("paths don't create series, and servers beyond the maximum share one series")
    func cardinality() async throws {
        let (metrics, stub) = (TestMetrics(), StubTransport(.text("ok")))
        let agent = NetworkAgent(
            baseURL: "https://0.example.com", transport: stub, filters: [RequestMetrics(metrics, maximumSeries: 3)])
        for number in 0..<50 { try await agent.send(Call<Void>(.get, "users/\(number)")) }
        #expect(metrics.timers.count { $0.label == "http.client.request.duration" } == 1)
        for number in 0..<50 { try await agent.send(Call<Void>(.get, "https://\(number).example.com/")) }
        let timers = metrics.timers(label: "http.client.request.duration")
        #expect(timers.count == 4 && timers.map(\.values.count).reduce(0, +) == 100)
        #expect(timers.count { $0.named["server.address"] == "_OTHER" } == 1)
        #expect(metrics.meters(label: "http.client.active_requests").count == 4)
    }

    @Test("waits at a gate and validated stored responses are counted")
    func notes() async throws {
        let time = ManualTimeSource()
        let limits = HostLimits(rate: RequestRate(1, per: .seconds(10)))
        let transport = ClosureTransport { request, _ in
            let isKnown = request.headers.contains(.ifNoneMatch)
            return HTTPResponse(
                to: request, status: isKnown ? 304 : 200, headers: ["ETag": "\"1\"", "Cache-Control": "no-cache"],
                body: isKnown ? .empty : HTTPBody(Data("ok".utf8)))
        }
        let observed = Observed(
            "https://api.example.com", filters: [ResponseCache(.memory(), policy: .http), .hostLimit(limits)],
            transport: transport, time: time)
        try await observed.agent.send(GetUser())
        let second = Task { try await observed.agent.send(GetUser()) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(10))
        _ = try await second.value
        #expect(observed.metrics.timers(label: "errand.client.gate.wait").flatMap(\.values) == [10_000_000_000])
        let results = observed.metrics.counters(label: "errand.client.cache.requests")
        #expect(
            Set(results.map { "\($0.dimensions[0].1) \($0.totalValue)" }) == ["uri-miss 1", "stale 1", "revalidated 1"])
    }

    @Test(
        "passes the filter conformance suite",
        arguments: FilterConformance.cases(for: { RequestMetrics(NOOPMetricsHandler.instance) }))
    func filterConformance(each: PluginConformanceCase) async throws { try await each.run() }

    @Test(
        "passes the accessory conformance suite",
        arguments: AccessoryConformance.cases(for: { RequestMetrics(NOOPMetricsHandler.instance) }))
    func accessoryConformance(each: PluginConformanceCase) async throws { try await each.run() }
}

/// A transport that calls a closure.
struct ClosureTransport: Transport {
    let body: @Sendable (HTTPRequest, TransportOptions) async throws -> HTTPResponse

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try await body(request, options)
    }
}
