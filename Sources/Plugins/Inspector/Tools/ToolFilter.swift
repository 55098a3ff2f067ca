import Errand
import ErrandEssentials
import Synchronization

struct ToolFilter: Filter {
    private let tools: ToolBox

    init(_ tools: ToolBox) { self.tools = tools }

    var stages: FilterStages { .wire }

    var explanation: String { tools.current.isActive ? "the inspector's tools: on" : "the inspector's tools: off" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let plan = tools.plan(for: { exchange.http.urlText }) else { return try await next(exchange) }
        if plan.delay > .zero {
            exchange.note("inspector", "delayed by \(plan.delay)")
            try await Self.wait(plan.delay, exchange)
        }
        if let rule = plan.rule { return try await Self.respond(by: rule, exchange) }
        if let status = plan.failure { return try Self.fail(with: status, exchange) }
        let response = try await next(exchange)
        guard plan.bandwidth > 0 else { return response }
        exchange.note("inspector", "limited to \(plan.bandwidth) bytes a second")
        return try await Self.slowed(response, to: plan.bandwidth, for: exchange)
    }

    private static func wait(_ duration: Duration, _ exchange: Exchange) async throws {
        try await exchange.time.sleep(until: exchange.time.instant(after: duration))
    }

    private static func respond(by rule: ToolSettings.Rule, _ exchange: Exchange) async throws -> HTTPResponse {
        exchange.note("inspector", "responds with the rule \(rule.pattern)")
        if rule.latency > 0 { try await wait(.milliseconds(rule.latency), exchange) }
        var headers: HTTPHeaders = [:]
        if !rule.type.isEmpty { headers[.contentType] = rule.type }
        return HTTPResponse(
            to: exchange.http, status: rule.status, headers: headers, body: HTTPBody(Data(rule.body.utf8)),
            source: ResponseSource("inspector"))
    }

    private static func fail(with status: Int, _ exchange: Exchange) throws -> HTTPResponse {
        if status == 0 {
            exchange.note("inspector", "fails with a lost connection")
            throw ErrandError(.connectionLost, "injected by the inspector's tools")
        }
        exchange.note("inspector", "fails with status \(status)")
        return HTTPResponse(to: exchange.http, status: status, source: ResponseSource("inspector"))
    }

    private static func slowed(
        _ response: HTTPResponse, to bandwidth: Int, for exchange: Exchange
    ) async throws -> HTTPResponse {
        var response = response
        if let data = response.body.data {
            if !data.isEmpty { try await wait(SlowBody.time(for: data.count, bandwidth), exchange) }
            return response
        }
        response.body = HTTPBody(
            length: response.body.length, source: SlowBody(response.body, bandwidth: bandwidth, time: exchange.time))
        return response
    }
}

private final class SlowBody: HTTPBodySource {
    private let body: HTTPBody
    private let bandwidth: Int
    private let time: any TimeSource
    private let pull: Pull

    private actor Pull {
        private var iterator: HTTPBody.Iterator

        init(_ body: HTTPBody) { iterator = body.makeAsyncIterator() }

        func next() async throws -> Data? {
            var current = iterator
            let chunk = try await current.next(isolation: self)
            iterator = current
            return chunk
        }
    }

    init(_ body: HTTPBody, bandwidth: Int, time: any TimeSource) {
        (self.body, self.bandwidth, self.time, pull) = (body, bandwidth, time, Pull(body))
    }

    func nextChunk() async throws -> Data? {
        guard let chunk = try await pull.next() else { return nil }
        try await time.sleep(until: time.instant(after: Self.time(for: chunk.count, bandwidth)))
        return chunk
    }

    func cancel() { body.cancel() }

    static func time(for count: Int, _ bandwidth: Int) -> Duration {
        .milliseconds(Int(min(Double(count) / Double(bandwidth) * 1000, 600_000)))
    }
}
