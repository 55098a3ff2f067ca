import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// Laws about the clock: a call must be the same at any date.
extension FilterLaw {
    /// Compares calls whose server sends dates: first by an agent's clock in 2001, and then by a clock with the
    /// system's date.
    static func otherClock(_ bench: LawBench, _ exchange: LawExchange) async throws -> LawViolation? {
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let long = try await course(bench, exchange, from: Date(timeIntervalSince1970: 1_000_000_000))
        let current = try await course(bench, exchange, from: now)
        for (index, (past, present)) in zip(long, current).enumerated() {
            if past.sends != present.sends {
                return LawViolation(
                    expected: "\(past.sends) requests in call \(index + 1), as in 2001",
                    came: "\(present.sends) at the system's date")
            }
            let difference = past.elapsed - present.elapsed
            if max(difference, .zero - difference) > .seconds(5) {
                return LawViolation(
                    expected: "waits of \(past.elapsed) in call \(index + 1), as in 2001",
                    came: "\(present.elapsed) at the system's date")
            }
        }
        return nil
    }

    private static func course(
        _ bench: LawBench, _ exchange: LawExchange, from date: Date
    ) async throws -> [(sends: Int, elapsed: Duration)] {
        let (run, _) = try bench.subject(date: date)
        var exchange = exchange
        exchange.deadline = nil
        let isGood = exchange.reply(to: 1).status < 400
        exchange.replies[0].headers = [
            "Date": HTTPDate.format(date), .expires: HTTPDate.format(date + 60), .entityTag: "\"law\"",
            .lastModified: HTTPDate.format(date - 1_000),
            .setCookie: "law=1; Expires=\(HTTPDate.format(date + 60))",
        ]
        if !isGood {
            // A filter could compute the wait from the server's date without a clock.
            exchange.replies[0].headers.remove(.date)
            exchange.replies[0].headers[.retryAfter] = HTTPDate.format(date + 10)
            exchange.replies = [exchange.replies[0], LawReply()]
        }
        var course: [(Int, Duration)] = []
        for pause in [Duration.seconds(30), .seconds(100), .zero] {
            let trace = await run.play(exchange)
            course.append((trace.sends.count, trace.elapsed))
            run.clock.pass(pause)
        }
        return course
    }
}
