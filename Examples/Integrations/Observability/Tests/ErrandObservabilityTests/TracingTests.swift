import Errand
import ErrandCache
import ErrandConformance
import ErrandObservability
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing

@Suite("Tracing", .timeLimit(.minutes(10)))
struct TracingTests {
    @Test("a request is a span of kind CLIENT with exactly the conventions' attributes")
    func attributes() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("Ada"))
        let observed = Observed(server.url)
        let (caller, spans) = try await observed.trace { try await $0.send(GetUser()) }
        let span = try #require(spans.first)
        #expect(spans.count == 1 && span.operationName == "GET /users/{id}" && span.kind == .client)
        #expect(span.parentSpanID == caller.spanID && span.traceID == caller.traceID)
        #expect(span.status == nil && span.errors.isEmpty)
        #expect(
            span.texts == [
                "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(server.port)",
                "url.full": server.url("/users/7"), "url.template": "/users/{id}", "http.response.status_code": "200",
                "network.protocol.version": "1.1",
            ])
        let received = try #require(server.received.first)
        #expect(received.headers["in-memory-span-id"] == span.spanID)
        #expect(received.headers["in-memory-trace-id"] == caller.traceID)
    }

    @Test("a request without a template is named by its method, and secrets are masked")
    func names() async throws {
        let server = try TestServer { _ in .text("ok") }
        let observed = Observed(server.url)
        let (_, spans) = try await observed.trace { agent in
            let query: Parameters = ["page": 2, "Signature": "s3cret", "sig": "s3cret", "AWSAccessKeyId": "s3cret"]
            try await agent.send(Call<Void>(.post, "files", query: query, body: .text("x")))
            try await agent.send(Call<Void>("PROPFIND", "files"))
        }
        #expect(spans.map(\.operationName) == ["POST", "HTTP"])
        #expect(
            spans.first?.texts["url.full"]
                == server.url("/files?AWSAccessKeyId=REDACTED&Signature=REDACTED&page=2&sig=REDACTED"))
        #expect(spans.last?.texts["http.request.method"] == "_OTHER")
        #expect(spans.last?.texts["http.request.method_original"] == "PROPFIND")
    }

    @Test("a status from 400 is an error whose type is the status", arguments: [399, 400, 404, 500, 503])
    func statuses(status: Int) async throws {
        let server = try TestServer { _ in .status(status) }
        let observed = Observed(server.url)
        let (_, spans) = try await observed.trace { _ = try? await $0.send(GetUser()) }
        let span = try #require(spans.first)
        #expect(span.texts["http.response.status_code"] == "\(status)")
        #expect(span.texts["error.type"] == (status < 400 ? nil : "\(status)"))
        #expect(span.status?.code == (status < 400 ? nil : .error) && span.status?.message == nil)
    }

    @Test("a redirect is a separate span, counted as resent, and another origin gets no context unless configured")
    func redirects() async throws {
        for propagation in [RequestTracing.Propagation.trustedOrigins, .everywhere, .off] {
            let (server, other) = (try TestServer(), try TestServer { _ in .text("there") })
            server.on("/users/7", .redirect(to: "/moved"))
            server.on("/moved", .redirect(to: other.url("/there")))
            let observed = Observed(server.url, propagation: propagation)
            let (_, spans) = try await observed.trace { try await $0.send(GetUser()) }
            #expect(spans.map { $0.texts["http.request.resend_count"] } == [nil, "1", "2"])
            #expect(spans.map { $0.texts["http.response.status_code"] } == ["302", "302", "200"])
            #expect(spans.map(\.status) == [nil, nil, nil])
            #expect(spans.last?.texts["server.port"] == "\(other.port)")
            #expect(Set(spans.map(\.operationName)) == ["GET /users/{id}"])
            let sent = (server.received + other.received).map { $0.headers["in-memory-span-id"] }
            switch propagation {
            case .trustedOrigins: #expect(sent == [spans[0].spanID, spans[1].spanID, nil])
            case .everywhere: #expect(sent == spans.map(\.spanID))
            case .off: #expect(sent == [nil, nil, nil])
            }
        }
    }

    @Test("each attempt of a retry is a span, as a child of the caller's span")
    func retries() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("Ada"))
        server.enqueue(.status(503), .status(503))
        var policy = RetryPolicy(maximumAttempts: 3, backoff: .none)
        policy.budget = nil
        let observed = Observed(server.url, filters: [.retry(policy)])
        let (caller, spans) = try await observed.trace { try await $0.send(GetUser()) }
        #expect(spans.map { $0.texts["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(spans.map { $0.texts["error.type"] } == ["503", "503", nil])
        #expect(Set(spans.map(\.parentSpanID)) == [caller.spanID])
        #expect(observed.metrics.counterTotal(label: "errand.client.retries") == 2)
    }

    @Test("a hedge is a span, and the losing hedge is cancelled without an error")
    func hedges() async throws {
        let (server, gate) = (try TestServer(), Gate())
        server.on("/users/7", .text("Ada"))
        let observed = Observed(server.url, filters: [.hedge(HedgePolicy(share: 1, minimumSamples: 1))])
        // Two requests that measure how long a response takes.
        for _ in 0..<2 { try await observed.agent.send(GetUser()) }
        observed.tracer.clearFinishedSpans()
        server.enqueue(.text("late").waiting(for: gate))
        try await observed.tracer.withSpan("caller") { _ in
            let text = try await observed.agent.send(GetUser()).value
            #expect(text == "Ada")
        }
        gate.open()
        while observed.tracer.finishedSpans.count < 3 { await Task.yield() }
        let spans = observed.tracer.finishedSpans.filter { $0.operationName != "caller" }
        let winner = try #require(spans.first { $0.texts["http.response.status_code"] == "200" })
        let loser = try #require(spans.first { $0.texts["http.response.status_code"] == nil })
        #expect(winner.texts["http.request.resend_count"] == "1" && loser.texts["http.request.resend_count"] == nil)
        #expect(loser.texts["error.type"] == nil && loser.status == nil)
    }

    @Test("a cached response isn't a span, but an event of the caller's span")
    func cacheHits() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("Ada").header("Cache-Control", "max-age=600"))
        let observed = Observed(server.url, filters: [ResponseCache(.memory(), policy: .http)])
        let first = try await observed.trace { try await $0.send(GetUser()) }
        #expect(first.requests.count == 1 && first.caller.events.isEmpty)
        let second = try await observed.trace { try await $0.send(GetUser()) }
        #expect(second.requests.isEmpty && server.requestCount == 1)
        let event = try #require(second.caller.events.first)
        #expect(second.caller.events.count == 1 && event.name == "errand.cache.hit")
        #expect(event.attributes["errand.response.source"]?.toSpanAttribute() == .string("cache"))
        #expect(event.attributes["url.template"]?.toSpanAttribute() == .string("/users/{id}"))
        let counts = observed.metrics.counters(label: "errand.client.cache.requests")
        #expect(Set(counts.map { "\($0.dimensions[0].1) \($0.totalValue)" }) == ["uri-miss 1", "hit 1"])
    }

    @Test("a cancellation isn't an error")
    func cancellation() async throws {
        let (server, gate) = (try TestServer(), Gate())
        server.on("/users/7", .text("late").waiting(for: gate))
        let observed = Observed(server.url)
        let task = Task { try await observed.agent.send(GetUser()) }
        _ = try await server.nextRequest()
        task.cancel()
        _ = await task.result
        gate.open()
        let span = try #require(observed.tracer.finishedSpans.first)
        #expect(span.status == nil && span.texts["error.type"] == nil && span.parentSpanID == nil)
        let timer = try #require(observed.metrics.timers(label: "http.client.request.duration").first)
        #expect(timer.named["error.type"] == nil && timer.named["http.response.status_code"] == nil)
    }

    @Test("a failure has the name of its code, at every stage")
    func failures() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("0123456789").closing(afterBodyBytes: 4))
        server.on("/users/8", .text("never").stalled(afterBytes: 0))
        let observed = Observed(server.url) { $0.timeout = .milliseconds(300) }
        let (_, spans) = try await observed.trace { agent in
            _ = try? await agent.send(GetUser())
            _ = try? await agent.send(GetUser(id: 8))
            server.stop()
            _ = try? await agent.send(GetUser(id: 9))
        }
        #expect(spans.map { $0.texts["error.type"] } == ["truncated", "timedOut", "cannotConnect"])
        #expect(spans.map { $0.texts["http.response.status_code"] } == ["200", nil, nil])
        #expect(spans.map(\.status?.code) == [.error, .error, .error])
        #expect(spans.map(\.status?.message) == ["truncated", "timedOut", "cannotConnect"])
        #expect(observed.tracer.activeSpans.isEmpty)
    }

    @Test("a request that a breaker refuses doesn't reach a server, and isn't a span")
    func refusals() async throws {
        let server = try TestServer { _ in .status(500) }
        let policy = BreakerPolicy(failureShare: 0.5, minimumRequests: 2)
        let observed = Observed(server.url, filters: [.breaker(policy)])
        let (_, spans) = try await observed.trace { agent in
            for _ in 0..<4 { _ = try? await agent.send(GetUser()) }
        }
        #expect(spans.count == 2 && server.requestCount == 2)
        let changes = observed.metrics.counters(label: "errand.client.breaker.changes").filter { $0.totalValue > 0 }
        #expect(changes.map { "\($0.dimensions[0].1) \($0.totalValue)" } == ["open 1"])
    }

    @Test("a response that can't be decoded has a span without an error, because the exchange succeeded")
    func decoding() async throws {
        let server = try TestServer { _ in .json("{}") }
        let observed = Observed(server.url)
        let (_, spans) = try await observed.trace { _ = try? await $0.send(Call<Int>(.get, "number")) }
        #expect(spans.map(\.status) == [nil] && spans.first?.texts["http.response.status_code"] == "200")
    }

    @Test("host and port are read from any spelling of a URL")
    func servers() async throws {
        for (url, server) in [
            ("https://API.example.com", "api.example.com 443"), ("http://a.example/x:1", "a.example 80"),
            ("http://[::1]:8080/x", "::1 8080"), ("https://[fe80::1]", "fe80::1 443"),
            ("http://1.2.3.4:5", "1.2.3.4 5"),
        ] {
            let observed = Observed(url, transport: .stub(.text("ok")))
            let (_, spans) = try await observed.trace { try await $0.send(Call<Void>(.get, "")) }
            let texts = try #require(spans.first?.texts)
            #expect("\(texts["server.address"] ?? "") \(texts["server.port"] ?? "")" == server)
        }
    }

    @Test(
        "passes the filter conformance suite", arguments: FilterConformance.cases(for: { RequestTracing(NoOpTracer()) })
    )
    func filterConformance(each: PluginConformanceCase) async throws { try await each.run() }

    @Test(
        "passes the accessory conformance suite",
        arguments: AccessoryConformance.cases(for: { RequestTracing(NoOpTracer()) })
    )
    func accessoryConformance(each: PluginConformanceCase) async throws { try await each.run() }
}
