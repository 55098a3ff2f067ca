import Errand
import ErrandEssentials
import ErrandTesting

extension FilterLaw {
    /// The law that a cache can distinguish the users of two filters.
    public static let users = FilterLaw(
        "users", "law: a cache distinguishes the users for whom two instances of the filter send requests",
        advice: """
            A cache compares URLs and users, and doesn't know what a field means. Declare the user, with \
            `exchange.assign(to: UserMark(id, source: "tenant"))`, or mark the field as sensitive.
            """,
        share: 10,
        exchanges: { random in [LawExchange(.get, LawExchange.randomURL(&random))] }
    ) { bench, exchanges in
        guard let another = bench.another else { return nil }
        for exchange in exchanges {
            var sides: [(first: LawTrace.Send, second: LawTrace.Send)] = []
            for make in [bench.filters.make, another] {
                let (run, _) = try bench.subject(make)
                // Twice, because values that differ in each request, such as a nonce, don't tell who sends it.
                if let first = await run.play(exchange).sends.first, let second = await run.play(exchange).sends.first {
                    sides.append((first, second))
                }
            }
            if sides.count == 2, isUnknown(sides[0].first, sides[1].first), let part = difference(sides[0], sides[1]) {
                return LawViolation(
                    expected:
                        "different users (`exchange.userMarks`) for two requests with different values of \(part)",
                    came: "the same users and URL, so a cache returns one user's response to the other")
            }
            if let violation = try await sharedResponse(bench, another, exchange) { return violation }
        }
        return nil
    }

    /// Whether a cache can't distinguish the users of two requests.
    private static func isUnknown(_ one: LawTrace.Send, _ other: LawTrace.Send) -> Bool {
        one.users == other.users && one.resource == other.resource
    }

    /// Returns the part of a request that two filters set to different values. Each filter sets it to the same value
    /// again.
    private static func difference(
        _ one: (first: LawTrace.Send, second: LawTrace.Send), _ other: (first: LawTrace.Send, second: LawTrace.Send)
    ) -> String? {
        func differs<Value: Equatable>(_ value: (LawTrace.Send) -> Value) -> Bool {
            value(one.first) == value(one.second) && value(other.first) == value(other.second)
                && value(one.first) != value(other.first)
        }
        let names = Set(one.first.http.headers.map(\.name) + other.first.http.headers.map(\.name))
        for name in names.sorted(by: { $0.rawName < $1.rawName }) where differs({ $0.http.headers.values(of: name) }) {
            return "the field \(name)"
        }
        if differs({ $0.http.urlText }) { return "the URL, which `ResourceURL` leaves out" }
        return differs { $0.body } ? "the body" : nil
    }

    /// Filters of two users can have a store in common.
    private static func sharedResponse(
        _ bench: LawBench, _ another: @escaping @Sendable () throws -> any Filter, _ exchange: LawExchange
    ) async throws -> LawViolation? {
        var mine = exchange
        // The filters may have stored a response for the exchange's URL.
        mine.url += mine.url.contains("?") ? "&law-user" : "?law-user"
        var theirs = mine
        mine.replies = [LawReply(headers: [.cacheControl: "private, max-age=60"], body: .text("law-canary-user"))]
        theirs.replies = [LawReply(headers: [.cacheControl: "private, max-age=60"], body: .text("law"))]
        for (one, other) in [(bench.filters.make, another), (another, bench.filters.make)] {
            let (run, _) = try bench.subject(one)
            // Twice, because a filter may store a response only on the second request.
            for _ in 0..<2 { _ = await run.play(mine) }
            let body = try await bench.subject(other).run.play(theirs).outcome.response?.body ?? Data()
            if String(decoding: body, as: UTF8.self).contains("law-canary-") {
                return LawViolation(
                    expected: "no response of another user", came: "the response of the filter's other user")
            }
        }
        return nil
    }
}
