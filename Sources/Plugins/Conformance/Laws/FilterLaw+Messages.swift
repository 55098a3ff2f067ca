import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about a single call.
extension FilterLaw {
    /// The law that a request reaches the transport unchanged, except for declared effects.
    public static let request = FilterLaw(
        "request", "law: a request reaches the transport unchanged, except for declared effects",
        advice: """
            Change only a copy of the exchange, and only the part that your filter is about. If the change is \
            intended, list it in `effects:`.
            """,
        exchanges: { random in
            var exchanges = LawExchange.story(&random)
            if random.isTrue(0.15) { exchanges[exchanges.count - 1].redirect(&random) }
            return exchanges
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            let isRedirected = expected.sends.count > 1
            // Skip a call whose method the filter changed, because that can change the redirect.
            let isSame = came.sends.map(\.http.method) == expected.sends.map(\.http.method)
            if isRedirected, !isSame { continue }
            for (index, send) in came.sends.enumerated() {
                guard let plain = expected.sends.indices.contains(index) ? expected.sends[index] : expected.sends.last
                else { break }
                if let violation = Comparison(permissions, exchange).difference(of: send, from: plain) {
                    return violation
                }
            }
        }
        return nil
    }

    /// The law that requests that a server can distinguish stay different.
    public static let distinction = FilterLaw(
        "distinction", "law: requests that differ for a server stay different",
        advice: """
            Change URLs as encoded text: `percentEncodedPath` and `percentEncodedQuery` instead of `path` and \
            `queryItems`, which decode and encode again. Bodies can be streams: `data` is nil for them.
            """,
        share: 200, needsTwo: true,
        exchanges: { random in
            var exchange = LawExchange()
            exchange.method = random.pick([.get, .get, .get, .post, .put, "REPORT"])
            exchange.url = LawExchange.randomURL(&random)
            var other = exchange
            if random.isTrue(0.7) {
                let (a, b) = random.pick(differences)
                let url = exchange.url + (exchange.url.contains("?") ? "&" : "?") + "z=\(a)"
                let isInQuery = random.isTrue(0.5)
                let base = "\(LawVocabulary.origin)/v1/x"
                exchange.url = isInQuery ? url : "\(base)\(a)y"
                other.url = isInQuery ? String(url.dropLast(a.count)) + b : "\(base)\(b)y"
            } else {
                exchange.method = .post
                other.method = .post
                let isReplayable = random.isTrue()
                let isText = random.isTrue(0.3)
                exchange.body = isText ? .text("law") : .stream(["law"], isReplayable: isReplayable)
                other.body = isText ? .text("another") : .stream(["another"], isReplayable: isReplayable)
            }
            // Many servers use a version number as the entity tag of all resources.
            let fields: HTTPHeaders = random.pick([
                [:], [.entityTag: "\"1\""], [.entityTag: "\"1\""], [.entityTag: "\"1\"", .cacheControl: "max-age=60"],
                [.cacheControl: "max-age=60"],
            ])
            exchange.replies = [LawReply(headers: fields, body: .text("law-first"))]
            other.replies = [LawReply(headers: fields, body: .text("law-second"))]
            var branch = random.branch
            if branch.isTrue(0.3) {
                // Many URLs have the same template.
                (exchange.tags, other.tags) = ([template], [template])
            }
            if exchange.body == .text("law"), branch.isTrue(0.4) {
                (exchange.body, other.body) = (.bytes([0xFF, 0x61]), .bytes([0xFE, 0x61]))
            }
            if random.isTrue(0.5) {
                exchange.differ(from: &other, &random)
            } else if random.isTrue(0.1) {
                (exchange.method, exchange.body) = (.get, .none)
                exchange.headers = [.range: "bytes=0-8"]
                exchange.replies[0].status = 206
                exchange.replies[0].headers[.contentRange] = "bytes 0-8/100"
                other.method = .get
                (other.url, other.body) = (exchange.url, .none)
            }
            return [exchange, other]
        }
    ) { bench, exchanges in
        guard exchanges.count == 2 else { return nil }
        var (images, plain): ([String], [String]) = ([], [])
        for exchange in exchanges {
            guard let send = await bench.control().play(exchange).sends.first else { return nil }
            plain.append(send.image)
        }
        if plain[0] == plain[1] { return nil }
        if let violation = try await confusion(bench, exchanges) { return violation }
        for exchange in exchanges {
            // A new filter for each request, because a counter in one filter would hide that the requests became equal.
            guard let send = try await bench.subject().run.play(exchange).sends.first else { return nil }
            images.append(send.image)
        }
        if images[0] != images[1] { return nil }
        let first = images[0].split(separator: "\n").first.map(String.init) ?? ""
        return LawViolation(
            expected: "two different requests, as without the filter",
            came: "the same request twice: \(first)")
    }

    /// The second request must not get the first one's response, neither later nor at the same time.
    private static func confusion(_ bench: LawBench, _ exchanges: [LawExchange]) async throws -> LawViolation? {
        let (first, second) = (exchanges[0], exchanges[1])
        let text = first.reply(to: 1).body.text
        if text.isEmpty || second.reply(to: 1).body.text.contains(text) { return nil }
        let (run, permissions) = try bench.subject()
        // Skip a difference that the cache's policy may ignore.
        if permissions.traits.contains(.cachesCalls), first.isUnknownVariant(of: second) { return nil }
        // Twice, because a filter may store a response only on the second request.
        for _ in 0..<2 { _ = await run.play(first) }
        var outcomes = [await run.play(second).outcome]
        let (other, _) = try bench.subject()
        // Send the second request before the first one has a response.
        let gate = Gate()
        let calls = [first, second].map { LawCall($0, isShared: true, heldBy: gate) }
        async let earlier = other.begin(calls[0])
        try await poll(10) { calls[0].trace.isReached }
        async let later = other.begin(calls[1])
        try await poll(5) { calls[1].trace.isReached }
        gate.open()
        outcomes.append(await (earlier, later).1.trace.outcome)
        for outcome in outcomes {
            let body = String(decoding: outcome.response?.body ?? Data(), as: UTF8.self)
            let isOther = body.contains(text) || outcome.response?.headers["X-Law-C"] == "law-first"
            guard isOther else { continue }
            return LawViolation(
                expected: "the response to \(summary(of: second))", came: "the response to \(summary(of: first))")
        }
        return nil
    }

    private static func summary(of exchange: LawExchange) -> String {
        let fields = exchange.headers.isEmpty ? "" : " with \(LawCode.headers(exchange.headers))"
        return "\(exchange.method) \(exchange.url)\(fields)"
    }

    private static let template = LawTag(URLTemplate.self, "/v1/{law}")
    private static let differences = [
        ("%2F", "/"), ("%2B", "+"), ("%26", "&"), ("%3D", "="), ("%252F", "%2F"), ("%3F", "?"), ("%23", "%2523"),
        ("%20", "%2520"), ("a", "A"), ("b", "B"), ("", "%00"), ("%C3%A4", "a%CC%88"), ("%2B", "%20"), (";", "%3B"),
        ("%2C", ","),
    ]

    /// The law that a filter sends a request as often as without it, except for declared repeats.
    public static let count = FilterLaw(
        "count", "law: a request is sent as often as without the filter, except for declared repeats",
        advice: """
            Call `next` once. A filter that repeats requests needs the trait `.retries`, and must not repeat one that \
            isn't idempotent and may have been received; see `exchange.possiblyReceivedCount`. A filter that responds \
            itself needs `.caches`, `.shares` or `effects: [.responds]`. Repeat the exchange that you received, so \
            nothing of the request is lost.
            """, share: 200,
        exchanges: { random in
            var exchange = LawExchange.random(&random)
            exchange.cancellation = nil
            if random.isTrue() {
                // Combine each method with each failure that filters retry.
                exchange.method = random.pick([.get, .put, .delete, .post])
                exchange.body = [.put, .post].contains(exchange.method) ? .text("law") : .none
            }
            exchange.replies = [.random(to: exchange, &random), .random(to: exchange, &random), LawReply()]
            if random.isTrue(0.4) {
                exchange.replies[0].failure = random.pick([.connectionLost, .timedOut, .truncated, .invalidResponse])
                if exchange.method == .get || exchange.method == .head { exchange.method = random.pick([.get, .post]) }
            } else if random.isTrue(0.7) {
                exchange.replies[0].failure = nil
                exchange.replies[0].status = random.pick([401, 403, 407, 408, 425, 429, 500, 502, 503, 504, 202, 421])
                exchange.replies[0].headers[.retryAfter] = random.pick([nil, "0", "1"])
            }
            if exchange.isStreamed { for index in 0..<3 { exchange.replies[index].body = .stream(["law"]) } }
            if random.isTrue(0.2) { exchange.interrupt(&random) }
            return [exchange]
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            let (least, most) = (expected.sends.count, came.sends.count)
            if let violation = changedKey(pair) ?? repeatedBeforeRedirect(pair) { return violation }
            // The filter may reject the first response, or repeat the request itself.
            let isInterrupted = exchange.isRepeated || exchange.reply(to: 1).isRedirect
            if isInterrupted, most < least || permissions.retries { continue }
            if least == 1, let violation = changedRepetition(pair) { return violation }
            if least == most { continue }
            if most < least {
                // A filter may respond without sending a request only if it declares that.
                if permissions.mayRespond { continue }
                return LawViolation(
                    expected: "\(least) requests at the transport", came: "\(most), and \(came.outcome)")
            }
            if permissions.mayRepeatReceived(exchange.method) { continue }
            if permissions.declaresRepeats(of: exchange.method) {
                if let violation = repeatedAfterReceipt(pair) { return violation }
                continue
            }
            let repeated = came.sends.dropLast()
            let isUnreceived = repeated.allSatisfy { ["cannotConnect", "nameLookupFailed"].contains($0.failure) }
            if permissions.traits.contains(.retries), isUnreceived { continue }
            let status = exchange.reply(to: 1).failure == nil ? exchange.reply(to: 1).status : 0
            let asks = [401, 403, 407].contains(status)
            if !permissions.traits.isDisjoint(with: [.repeatsHops, .authenticates, .retries]), asks { continue }
            return LawViolation(
                expected: "\(exchange.method), sent \(least) times",
                came: "\(most) times, after \(repeated.last?.failure ?? "status \(status)")")
        }
        return nil
    }

    /// A repeated request must have the same method, body, and unknown fields as the first one.
    private static func changedRepetition(_ pair: LawBench.Pair) -> LawViolation? {
        guard let first = pair.came.sends.first, let plain = pair.expected.sends.first else { return nil }
        for send in pair.came.sends.dropFirst() {
            if send.http.method != first.http.method, !pair.permissions.kinds.contains(.method) {
                return LawViolation(
                    expected: "the same request again: \(first.http.method)", came: "\(send.http.method)")
            }
            if let body = send.body, body.isEmpty, !(first.body ?? Data()).isEmpty,
                !pair.permissions.kinds.contains(.body)
            {
                return LawViolation(
                    expected: "the same request again, with \(first.body?.count ?? 0) bytes", came: "no body")
            }
            let comparison = Comparison(pair.permissions, pair.exchange)
            if let violation = comparison.difference(of: send, from: plain) { return violation }
        }
        return nil
    }

    /// The law that responses and errors reach the caller unchanged, except for declared effects.
    public static let response = FilterLaw(
        "response", "law: a response or error reaches the caller unchanged, except for declared effects",
        advice: """
            Return the response that you received, or change a copy of it; a new HTTPResponse loses version, source and \
            fields. Rethrow errors and cancellations. Don't read a stream: leave it to the caller. If the \
            change is intended, list `.response` or `.error` in `effects:`.
            """,
        share: 200,
        exchanges: { random in
            if random.isTrue(0.05) { return LawExchange.conditionalStory(&random) }
            var exchanges = LawExchange.story(&random)
            if random.isTrue() { exchanges[exchanges.count - 1].replies = [LawReply.full(&random)] }
            if random.isTrue(0.1) { exchanges[exchanges.count - 1].redirect(&random) }
            if random.isTrue(0.2) { exchanges = [.slow(&random)] }
            return exchanges
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            let violation = await Comparison(permissions, exchange).difference(of: came, from: expected) { last in
                await bench.control().play(last)
            }
            if let violation { return violation }
        }
        return nil
    }

    /// The law that events, trailers, checks, and other filters' work stay the same.
    public static let bystanders = FilterLaw(
        "bystanders", "law: events, trailers and other filters' work are the same as without the filter",
        advice: """
            Pass on the exchange that you received, so observers, checks and staged work stay with it. Set \
            `reportsProgress` to false only if you report the progress yourself. Before you repeat a request, call \
            `discardStagedWork(after:)`, with the count before the first attempt.
            """,
        exchanges: { random in
            var exchanges = LawExchange.story(&random)
            var branch = random.branch
            if branch.isTrue(0.3) { exchanges[exchanges.count - 1].fail(&branch) }
            return exchanges
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            if let violation = confusedWork(pair) { return violation }
            let sends = came.sends.count
            // Skips repeated requests, and below those with a changed body, because they have their own progress.
            // Detached requests, such as the refresh of a stored response, don't belong to the call.
            guard sends == expected.sends.count, sends > 0, !came.sends.contains(where: \.isDetached) else { continue }
            let isRevalidated = permissions.mayRespond && revalidates(came.sends, expected.sends)
            if came.sends.map(\.body) == expected.sends.map(\.body), came.events != expected.events,
                !permissions.kinds.contains(.response), !isRevalidated
            {
                return LawViolation(
                    expected: expected.events.joined(separator: ", "), came: came.events.joined(separator: ", "))
            }
            if came.outcome.kind == expected.outcome.kind, came.work.sorted() != expected.work.sorted() {
                return LawViolation(
                    expected: "checks and staged work: \(expected.work.sorted().joined(separator: ", "))",
                    came: came.work.sorted().joined(separator: ", "))
            }
        }
        return nil
    }

    /// After a repetition, only the work for the accepted response may be committed, and other work not discarded.
    private static func confusedWork(_ pair: LawBench.Pair) -> LawViolation? {
        let (exchange, came) = (pair.exchange, pair.came)
        guard came.sends.count > pair.expected.sends.count, !came.sends.contains(where: \.isDetached),
            !exchange.replies.contains(where: \.isRedirect), came.outcome.response != nil
        else { return nil }
        func count(_ text: String) -> Int { came.work.count { $0 == text } }
        if count("outside committed") == 0 {
            return LawViolation(
                expected: "the work that an earlier filter staged to be committed, after \(came.sends.count) requests",
                came: "it was discarded")
        }
        // A response with one of these statuses isn't a part of another response.
        let unused = came.sends.indices.dropLast().count { index in
            let reply = exchange.reply(to: index + 1)
            return reply.failure == nil && (reply.status >= 400 || reply.status == 202)
        }
        let committed = count("inside committed")
        if committed > came.sends.count - unused {
            return LawViolation(
                expected: "the work for the accepted response to be committed, after \(came.sends.count) requests",
                came: "the work for \(committed) responses was committed")
        }
        if committed == 0, !pair.permissions.mayRespond, !pair.permissions.kinds.contains(.response) {
            return LawViolation(
                expected: "the work for the accepted response to be committed, after \(came.sends.count) requests",
                came: "it was discarded")
        }
        return nil
    }

    /// Whether the filter revalidates a stored response, so the server may respond with a 304 without a body.
    private static func revalidates(_ came: [LawTrace.Send], _ expected: [LawTrace.Send]) -> Bool {
        zip(came, expected).contains { came, expected in
            came.http.headers.contains(.ifNoneMatch) && !expected.http.headers.contains(.ifNoneMatch)
        }
    }

    /// The law that a call takes as long as without the filter, except for declared waits.
    public static let time = FilterLaw(
        "time", "law: on the agent's clock, a call takes as long as without the filter",
        advice: """
            Wait with `exchange.time`, and only after a failure. Don't start a wait that ends after `exchange.deadline`; \
            return the failure instead. If the filter holds requests back on purpose, list `.waits` in `effects:`.
            """,
        share: 40,
        exchanges: { random in
            var exchange = LawExchange()
            exchange.method = random.pick([.get, .get, .post, .put])
            exchange.isStreamed = random.isTrue(0.3)
            var reply = LawReply()
            if random.isTrue(0.7) {
                exchange.deadline = .seconds(10)
                reply.status = random.pick([429, 503, 503, 503, 500, 502, 202, 408])
                reply.headers[.retryAfter] = random.pick(["60", "3600", "10", "86400", "Sun, 09 Sep 2001 02:46:40 GMT"])
                if random.isTrue(0.2) { reply.failure = .connectionLost }
            } else {
                reply.delay = random.pick([.zero, .milliseconds(50), .seconds(1)])
            }
            exchange.replies = [reply]
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            if let violation = try await otherClock(bench, exchange) { return violation }
            if let violation = try await hiddenWait(bench, exchange) { return violation }
        }
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            if permissions.mayWait { continue }
            if case .endless = came.outcome {
                return LawViolation(
                    expected: "\(expected.outcome)",
                    came: "a call that doesn't end, because it waits for something other than the agent's clock")
            }
            if came.outcome.kind == "deadlineExceeded", expected.outcome.kind != "deadlineExceeded" {
                return LawViolation(
                    expected: "\(expected.outcome) before the deadline", came: "a wait that ends after the deadline")
            }
            let isHealthy = expected.outcome.response.map { $0.status == 200 } ?? false
            if isHealthy, came.elapsed > expected.elapsed + .seconds(1) {
                return LawViolation(expected: "the call to take \(expected.elapsed)", came: "it took \(came.elapsed)")
            }
        }
        return nil
    }
}
