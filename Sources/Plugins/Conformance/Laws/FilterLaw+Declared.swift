import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandTesting

/// Laws for filters that store responses, authenticate or sign requests, or obey `Retry-After`.
extension FilterLaw {
    /// The law that a stored response replaces only a failure of the network.
    public static let errors = FilterLaw(
        "errors", "law: an error of another filter or a cancellation reaches the caller, even if a response is stored",
        advice: """
            Return a stored response only after a failure of the network or the server. Rethrow every other error, for \
            example one that isn't an `ErrandError`, and every cancellation: `error.isCancellation`.
            """,
        share: 10,
        exchanges: { random in
            var exchange = LawExchange(.get, LawExchange.randomURL(&random))
            exchange.replies[0].headers = random.pick([
                [:], [.cacheControl: "max-age=60"], [.entityTag: "\"law\""],
                [.entityTag: "\"law\"", .cacheControl: "max-age=60, stale-if-error=600"],
            ])
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            for refusal in [BenchError(), CancellationError()] as [any Error] {
                let (run, permissions) = try bench.subject()
                if !permissions.mayRespond || permissions.isResponder { return nil }
                // Twice, because a filter may store a response only on the second request.
                for _ in 0..<2 { _ = await run.play(exchange) }
                // Later, a stored response is stale, so a filter sends a request.
                for pause in [Duration.zero, .seconds(70)] {
                    run.clock.pass(pause)
                    let came = await run.begin(LawCall(exchange, refusedWith: refusal)).trace
                    let isRefused = came.sends.contains { !$0.isDetached && $0.failure != nil }
                    guard isRefused, let response = came.outcome.response else { continue }
                    return LawViolation(
                        expected: refusal.isCancellation ? "a cancellation" : "the error of another filter",
                        came: "a response with status \(response.status) from \(response.source)")
                }
            }
        }
        return nil
    }

    /// The law that the fields of an authenticating filter stay at the origin for which it adds them.
    public static let credentials = FilterLaw(
        "credentials", "law: an authenticating filter's credential isn't sent to another origin after a redirect",
        advice: """
            Mark the fields as sensitive, so a redirect to another origin removes them, or add them in the stage \
            `.hop`, if `exchange.isTrusted`. A filter without credentials doesn't need the trait `.authenticates`.
            """,
        share: 10,
        exchanges: { random in
            var exchange = LawExchange.random([.get, .get, .post], &random)
            let origin = random.pick(LawVocabulary.foreignOrigins + LawVocabulary.similarOrigins)
            let location: HTTPHeaders = [.location: "\(origin)/v1/there"]
            exchange.replies = [LawReply(exchange.method == .get ? 302 : 307, headers: location), LawReply()]
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges where exchange.reply(to: 1).isRedirect {
            let filter = try bench.filters.make()
            // A group's traits are those of all its filters, so they don't tell which filter adds a field.
            let traits = filter.traits.union(filter.traits(for: LawRequest(LawCall(exchange))))
            guard traits.contains(.authenticates) else { return nil }
            var home = exchange
            home.replies = [LawReply()]
            let (run, _) = try bench.subject()
            guard let plain = await bench.control().play(home).sends.first,
                let steady = await run.play(home).sends.first
            else { return nil }
            let secrets = steady.http.headers.filter { field in
                !field.value.isEmpty && !plain.http.headers.contains(field.name) && !harmless.contains(field.name)
            }
            guard let first = secrets.first else { return nil }
            for away in await run.play(exchange).sends where away.origin != plain.origin {
                // A filter may also add fields that aren't credentials, so only a filter that keeps all of its fields
                // fails.
                let isSent = secrets.allSatisfy { away.http.headers.values(of: $0.name).contains($0.value) }
                if !isSent { continue }
                return LawViolation(
                    expected: "at least one field of the filter to be missing in a request to \(away.origin)",
                    came: "all of its fields, such as \(first.name), as in a request to \(plain.origin)")
            }
        }
        return nil
    }

    /// Fields that a filter may add to each request, and that don't tell who sends it.
    private static let harmless: Set<HTTPHeaderName> = [
        .accept, .acceptEncoding, .acceptLanguage, .cacheControl, .contentEncoding, .contentLength, .contentType,
        .userAgent, .date, "Prefer", "traceparent", "tracestate",
    ]

    /// The law that a streamed body isn't signed as an empty one.
    public static let signatures = FilterLaw(
        "signatures", "law: a streamed body isn't signed as if it were empty",
        advice: """
            `body.data` is nil for a file or a stream. Read the body, up to a limit, and replace it by the bytes that \
            you've read, or sign a text such as "UNSIGNED", which an empty body doesn't have.
            """,
        share: 10,
        exchanges: { random in
            let method = random.pick([HTTPMethod.post, .put, .patch])
            return [
                LawExchange(
                    method, LawExchange.randomURL(&random),
                    body: .stream(["law", "b"], isReplayable: random.isTrue(), hasLength: random.isTrue()))
            ]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            guard case .stream(let chunks, _, _) = exchange.body, !exchange.body.text.isEmpty else { continue }
            var fields: [HTTPHeaders] = []
            for body in [.text(chunks.joined()), .text(chunks.joined()), .text(""), exchange.body] as [LawBody] {
                // A new filter for each request, because a filter may number its signatures.
                let (run, permissions) = try bench.subject()
                guard permissions.traits.contains(.signs) else { return nil }
                var each = exchange
                each.body = body
                guard let came = await run.play(each).sends.first,
                    let plain = await bench.control().play(each).sends.first
                else { return nil }
                fields.append(
                    HTTPHeaders(
                        came.http.headers.filter { field in
                            field.name != .contentLength && !plain.http.headers.contains(field.name)
                        }))
            }
            // A filter that leaves a field out for a stream declares that it doesn't sign the body.
            let names = Set(fields[0].map(\.name))
            guard names == Set(fields[3].map(\.name)) else { continue }
            for name in names {
                let values = fields.map { $0.values(of: name) }
                // Skip values that differ in each request, and values that don't depend on the body.
                if values[0] != values[1] || values[0] == values[2] || values[3] != values[2] { continue }
                return LawViolation(
                    expected: "the field \(name) to depend on a stream's bytes, as on bytes in memory",
                    came: "the same value as for an empty body")
            }
        }
        return nil
    }

    /// The law that both forms of `Retry-After` have the same effect (RFC 9110, section 10.2.3).
    public static let pauses = FilterLaw(
        "pauses", "law: Retry-After has the same effect in seconds and as a date",
        advice: "Read the field with `headers.retryAfter(from: exchange.time.date)`, which accepts both forms.",
        share: 10,
        exchanges: { random in
            let url = LawExchange.randomURL(&random)
            let status = random.pick([429, 503, 503])
            let reply = LawReply(status, headers: [.retryAfter: random.pick(["60", "20", "300"])])
            return [LawExchange(.get, url, replies: [reply, LawReply()])]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            guard let text = exchange.reply(to: 1).headers[.retryAfter], let seconds = Int(text), seconds > 0 else {
                continue
            }
            let date = Date(timeIntervalSince1970: 1_000_000_000)
            var dated = exchange
            dated.replies[0].headers[.date] = HTTPDate.format(date)
            let inSeconds = dated
            dated.replies[0].headers[.retryAfter] = HTTPDate.format(date + TimeInterval(seconds))
            var courses: [[String]] = []
            for each in [inSeconds, inSeconds, dated, dated] {
                courses.append(await course(try bench.subject(date: date).run, each, seconds))
            }
            // Skip a course that differs in each run, because a filter may choose a wait at random.
            for (index, expected) in courses[0].enumerated()
            where expected == courses[1][index] && courses[2][index] == courses[3][index] {
                if expected == courses[2][index] { continue }
                return LawViolation(
                    expected: "\(expected), as after \(seconds) in the field Retry-After",
                    came: "\(courses[2][index]), after a date that is as many seconds later")
            }
        }
        return nil
    }

    /// Describes a call and later calls: their ends, their requests, and whether they wait.
    private static func course(_ run: LawRun, _ exchange: LawExchange, _ seconds: Int) async -> [String] {
        let good = LawExchange(exchange.method, exchange.url)
        var texts: [String] = []
        for (index, each) in [exchange, good, good].enumerated() {
            if index == 2 { run.clock.pass(.seconds(seconds + 5)) }
            let trace = await run.play(each)
            // A date has no fractions, so a wait may differ by less than a second.
            let waits = trace.elapsed > .seconds(max(1, seconds / 2)) ? "with" : "without"
            let count = trace.sends.count
            texts.append("call \(index + 1): \(trace.outcome), \(count) requests, \(waits) a wait")
        }
        return texts
    }
}
