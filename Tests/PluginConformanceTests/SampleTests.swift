import Errand
import ErrandConformance
import Foundation
import Testing

/// Filters that act on the exchanges of their author's samples.
@Suite("Laws with samples accept right filters", .endsInTime, .leakChecked)
struct SampleTests {
    @Test("a filter that changes responses can turn a success into a status that the request doesn't accept")
    func rejectedStatus() async throws {
        let refused = LawExchange(isStrict: true, replies: [LawReply(headers: ["X-Status": "404"])])
        try await FilterLaw.response.check({ StatusField() }, effects: [.response], refused)
        try await FilterLaw.concurrency.check({ StatusField() }, effects: [.response], refused)
        var checked = refused
        checked.isRefused = true
        try await FilterLaw.response.check({ StatusField() }, effects: [.response], checked)
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check({ StatusField() }, refused)
        }
    }

    @Test("a filter that repeats a request can return the reply to its last attempt")
    func polls() async throws {
        let ready = LawExchange(replies: [LawReply(202), LawReply()])
        let failed = LawExchange(replies: [LawReply(202), LawReply(failure: .timedOut)])
        for (law, exchange) in [(FilterLaw.response, ready), (.concurrency, ready), (.response, failed)] {
            try await law.check({ Poll() }, effects: [.repeats(.get), .waits], exchange)
        }
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check({ Poll(traits: []) }, effects: [.waits], ready)
        }
    }

    @Test("a filter that repeats a request must not lose a success, unless it declares the repeat")
    func lostSuccess() async {
        let lost = LawExchange(replies: [LawReply(), LawReply(503)])
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check({ Poll(status: 200) }, effects: [.waits], lost)
        }
    }

    @Test("a filter can wait before the caller reads the body and cancels the call")
    func waits() async throws {
        let replies = [LawReply(202, body: .stream(["a", "b"]))]
        for exchange in [
            LawExchange(cancellation: .whileReading, replies: [LawReply(202)]),
            LawExchange(isStreamed: true, cancellation: .whileReading, replies: replies),
        ] {
            try await FilterLaw.release.check({ Poll() }, effects: [.repeats(.get), .waits], exchange)
        }
        await #expect(throws: ConformanceFailure.self) {
            let exchange = LawExchange(cancellation: .onTheWire)
            try await FilterLaw.release.check({ DeafWait() }, effects: [.waits], exchange)
        }
    }

    @Test("a filter can trust an origin that isn't the suite's own")
    func trust() async throws {
        let headers = HTTPHeaders(["X-Law-A": "1"]).sensitive("X-Law-A")
        for fields in [[:], headers] {
            try await FilterLaw.request.check(
                { TrustedHost(isCareful: true) },
                LawExchange(
                    .get, "https://api.service.test/v1/a", headers: fields,
                    tags: [LawTag(LinkSource.self, URL(string: "https://conformance.example/v1/from"))]))
        }
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.request.check(
                { TrustedHost(isCareful: false) }, LawExchange(.get, "https://other.example/v1/a"))
        }
    }
}

private struct StatusField: Filter {
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if let status = response.headers["X-Status"].flatMap({ Int($0) }) { response.status = status }
        return response
    }
}

/// Repeats a GET while the response has a status, up to three times.
private struct Poll: Filter {
    var status = 202
    var traits: FilterTraits = .retries

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        for _ in 0..<3 {
            let staged = exchange.stagedWorkCount
            let response = try await next(exchange)
            if response.status != status || exchange.http.method != .get { return response }
            await exchange.discard(response)
            await exchange.discardStagedWork(after: staged)
            try await exchange.time.sleep(until: exchange.time.instant(after: .seconds(2)))
        }
        return try await next(exchange)
    }
}

/// Waits after a cancellation.
private struct DeafWait: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        do { return try await next(exchange) } catch {
            let time = exchange.time
            await Task { try? await time.sleep(until: time.instant(after: .seconds(60))) }.value
            throw error
        }
    }
}

private struct TrustedHost: Filter {
    let isCareful: Bool

    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !isCareful || exchange.http.host == "api.service.test" { exchange.trustOrigin() }
        return try await next(exchange)
    }
}
