import Errand
import ErrandEssentials

/// Laws about a single call.
extension FilterLaw {
    /// All parts of a request that the filter doesn't declare reach the transport unchanged.
    public static let request = FilterLaw(
        "request", "law: a request reaches the transport as it was, except for what the filter declares",
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
            // Another method is redirected differently.
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

    /// Requests that a server can tell apart stay different.
    public static let distinction = FilterLaw(
        "distinction", "law: two requests that a server tells apart stay different",
        advice: """
            Change URLs as encoded text: `percentEncodedPath` and `percentEncodedQuery` instead of `path` and \
            `queryItems`, which decode and encode again. Bodies can be streams: `data` is nil for them.
            """,
        needsTwo: true,
        exchanges: { random in
            var exchange = LawExchange()
            exchange.method = random.pick([.get, .post, .put, "REPORT"])
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
            return [exchange, other]
        }
    ) { bench, exchanges in
        guard exchanges.count == 2 else { return nil }
        var (images, plain): ([String], [String]) = ([], [])
        for exchange in exchanges {
            // Each with its own filter, so a counter doesn't hide that they became equal.
            guard let pair = try await bench.pairs([exchange]).first, let send = pair.came.sends.first,
                let original = pair.expected.sends.first
            else { return nil }
            images.append(send.image)
            plain.append(original.image)
        }
        if plain[0] == plain[1] || images[0] != images[1] { return nil }
        let first = images[0].split(separator: "\n").first.map(String.init) ?? ""
        return LawViolation(
            expected: "two requests that differ, as without the filter", came: "twice the same request: \(first)")
    }

    private static let differences = [
        ("%2F", "/"), ("%2B", "+"), ("%26", "&"), ("%3D", "="), ("%252F", "%2F"), ("%3F", "?"), ("%23", "%2523"),
        ("%20", "%2520"), ("a", "A"), ("", "%00"), ("%C3%A4", "a%CC%88"), ("%2B", "%20"), (";", "%3B"), ("%2C", ","),
    ]

    /// A request is sent as often as without the filter.
    public static let count = FilterLaw(
        "count", "law: a request is sent as often as without the filter, except for what it declares",
        advice: """
            Call `next` once. A filter that repeats requests needs the trait `.retries`, and must not repeat one that \
            isn't idempotent and may have been received; see `exchange.possiblyReceivedCount`. A filter that responds \
            itself needs `.caches`, `.shares` or `effects: [.responds]`.
            """,
        exchanges: { random in
            var exchange = LawExchange.random(&random)
            exchange.cancellation = nil
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
            return [exchange]
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            let (least, most) = (expected.sends.count, came.sends.count)
            if least == most { continue }
            if most < least {
                // A refusal is an error; a response must be declared.
                if permissions.mayRespond { continue }
                return LawViolation(
                    expected: "\(least) requests at the transport", came: "\(most), and \(came.outcome)")
            }
            if permissions.mayRepeat(exchange.method) { continue }
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

    /// Responses and errors pass unchanged.
    public static let response = FilterLaw(
        "response", "law: a response or an error reaches the caller as it was, except for what the filter declares",
        advice: """
            Return the response that you received, or change a copy of it; a new HTTPResponse loses version, source and \
            fields. Let errors and cancellations pass. Don't read a stream: its reader gets it as it comes. If the \
            change is intended, list `.response` or `.error` in `effects:`.
            """
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            if let violation = Comparison(permissions, exchange).difference(of: came, from: expected) {
                return violation
            }
        }
        return nil
    }

    /// What others do with a call goes on.
    public static let bystanders = FilterLaw(
        "bystanders", "law: progress, 1xx responses, trailers, and the work of other filters are as without the filter",
        advice: """
            Pass on the exchange that you received, so observers, checks and staged work stay with it. Set \
            `reportsProgress` to false only if you report the progress yourself. Before you repeat a request, call \
            `discardStagedWork(after:)`.
            """
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            let sends = came.sends.count
            // A repetition or another body has its own progress.
            guard sends == expected.sends.count, sends > 0 else { continue }
            if came.sends.map(\.body) == expected.sends.map(\.body), came.events != expected.events,
                !permissions.kinds.contains(.response)
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

    /// A call takes no longer.
    public static let time = FilterLaw(
        "time", "law: a call takes as long as without the filter, by the agent's clock",
        advice: """
            Wait with `exchange.time`, and only after a failure. Begin no wait that ends after `exchange.deadline`; \
            return the failure instead. If the filter holds requests back on purpose, list `.waits` in `effects:`.
            """,
        share: 40,
        exchanges: { random in
            var exchange = LawExchange()
            exchange.method = random.pick([.get, .post, .put])
            exchange.isStreamed = random.isTrue(0.3)
            var reply = LawReply()
            if random.isTrue(0.5) {
                exchange.deadline = .seconds(10)
                reply.status = random.pick([429, 503, 503, 500, 502, 202, 408])
                reply.headers[.retryAfter] = random.pick(["60", "3600", "10", "86400", "Sun, 09 Sep 2001 02:46:40 GMT"])
                if random.isTrue(0.2) { reply.failure = .connectionLost }
            } else {
                reply.delay = random.pick([.zero, .milliseconds(50), .seconds(1)])
            }
            exchange.replies = [reply]
            return [exchange]
        }
    ) { bench, exchanges in
        for pair in try await bench.pairs(exchanges) {
            let (exchange, expected, came, permissions) = (pair.exchange, pair.expected, pair.came, pair.permissions)
            if permissions.mayWait { continue }
            if case .endless = came.outcome {
                return LawViolation(
                    expected: "\(expected.outcome)",
                    came: "a call that doesn't end: it waits for something else than the agent's clock")
            }
            if came.outcome.kind == "deadlineExceeded", expected.outcome.kind != "deadlineExceeded" {
                return LawViolation(
                    expected: "\(expected.outcome), before the deadline", came: "a wait that ends after the deadline")
            }
            let isHealthy = expected.outcome.response.map { $0.status == 200 } ?? false
            if isHealthy, came.elapsed > expected.elapsed + .seconds(1) {
                return LawViolation(expected: "an end after \(expected.elapsed)", came: "an end after \(came.elapsed)")
            }
        }
        return nil
    }
}

extension LawExchange {
    /// Redirects the first request, sometimes to another origin.
    mutating func redirect(_ random: inout LawRandom) {
        let origin = random.pick([LawVocabulary.origin, LawVocabulary.foreignOrigins[0]])
        let location: HTTPHeaders = [.location: "\(origin)/v1/there"]
        replies = [LawReply(method == .get ? random.pick([302, 307]) : 307, headers: location), LawReply()]
        if case .stream(_, false) = body { body = .text("law") }
    }
}

/// Compares a call with the filter to the same call without it.
struct Comparison {
    let permissions: Permissions
    let exchange: LawExchange

    init(_ permissions: Permissions, _ exchange: LawExchange) {
        (self.permissions, self.exchange) = (permissions, exchange)
    }

    // MARK: Requests

    func difference(of came: LawTrace.Send, from expected: LawTrace.Send) -> LawViolation? {
        if came.http.method != expected.http.method {
            let isKnown = expected.http.method.rawValue != "REPORT"
            if !permissions.mayChange(.method) || !permissions.isListed && !isKnown {
                return different("the method", "\(expected.http.method)", "\(came.http.method)")
            }
        }
        if let violation = urlDifference(came.http.urlText, expected.http.urlText) { return violation }
        if let violation = headerDifference(came.http.headers, expected.http.headers) { return violation }
        if came.body != expected.body, came.failure == nil || came.body != nil, let body = came.body {
            let isLost = !(expected.body ?? Data()).isEmpty && body.isEmpty
            if isLost || !permissions.mayChange(.body) {
                return different("the body", text(expected.body), text(body))
            }
        }
        let rest: [(FilterEffect.Kind, String, String, String)] = [
            (.timeout, "the timeout", "\(expected.timeout)", "\(came.timeout)"),
            (.priority, "the priority", "\(expected.priority)", "\(came.priority)"),
            (.delivery, "the delivery", delivery(expected), delivery(came)),
            (.tags, "the tag of the request", mark(expected), mark(came)),
        ]
        for (kind, name, before, after) in rest where before != after && !permissions.mayChange(kind) {
            return different(name, before, after)
        }
        if came.isTrusted != expected.isTrusted, came.origin == expected.origin {
            return different("whether the origin is trusted", "\(expected.isTrusted)", "\(came.isTrusted)")
        }
        return nil
    }

    private func delivery(_ send: LawTrace.Send) -> String { send.isStreamed ? "a stream" : "data" }
    private func mark(_ send: LawTrace.Send) -> String { send.hasTag ? "there" : "missing" }

    private func urlDifference(_ came: String, _ expected: String) -> LawViolation? {
        if came == expected { return nil }
        let violation = different("the URL", expected, came)
        if !permissions.mayChange(.url) { return violation }
        if permissions.kinds.contains(.url) { return nil }
        // Whatever is added or replaced around it, the request's own path and query stay byte for byte.
        let (path, items) = Self.parts(of: expected)
        let (newPath, newItems) = Self.parts(of: came)
        if !newPath.contains(path) { return violation }
        var rest = newItems[...]
        for item in items {
            guard let index = rest.firstIndex(of: item) else { return violation }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    /// The path after the base URL, and the items of the query.
    private static func parts(of url: String) -> (String, [Substring]) {
        let halves = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path =
            halves[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first ?? ""
        let own = path.hasPrefix("v1/") ? path.dropFirst(3) : path
        let query = halves.count == 2 ? halves[1].split(separator: "&", omittingEmptySubsequences: true) : []
        return (String(own), query)
    }

    private func headerDifference(_ came: HTTPHeaders, _ expected: HTTPHeaders) -> LawViolation? {
        var names: [HTTPHeaderName] = []
        for field in Array(expected) + Array(came) where !names.contains(field.name) { names.append(field.name) }
        for name in names where !permissions.mayChange(name) {
            let (before, after) = (Self.values(expected, name), Self.values(came, name))
            if before != after { return different("the field \(name)", text(before), text(after)) }
        }
        return nil
    }

    static func values(_ headers: HTTPHeaders, _ name: HTTPHeaderName) -> [String] {
        headers.filter { $0.name == name }.map { "\($0.value.debugDescription)\($0.isSensitive ? " (sensitive)" : "")" }
    }

    // MARK: Results

    func difference(of came: LawTrace, from expected: LawTrace) -> LawViolation? {
        // A stored response has its own end.
        if came.sends.isEmpty, permissions.mayRespond { return nil }
        switch (expected.outcome, came.outcome) {
        case (.endless, _): return nil
        case (_, .endless):
            return LawViolation(expected: "\(expected.outcome)", came: "\(came.outcome)")
        case (.response(let before), .response(let after)):
            if permissions.kinds.contains(.response) { return nil }
            let (sent, plain) = (came.sends.last, expected.sends.last)
            return responseDifference(
                after, before, sent: sent?.http.urlText, isSameRequest: sent != nil && sent?.image == plain?.image)
        case (.response(let response), .failure(let error)):
            // A filter may reject a response, but cancels nothing.
            let isRejection = response.status >= 400 || permissions.kinds.contains(.error)
            if isRejection, !error.isCancellation { return nil }
            return LawViolation(expected: "\(expected.outcome)", came: "\(error)")
        case (.failure(let error), .response(let response)):
            // A stored response can replace a failure, but not a cancellation.
            if permissions.mayRespond, !error.isCancellation { return nil }
            return LawViolation(expected: LawTrace.name(of: error), came: "a response with status \(response.status)")
        case (.failure(let before), .failure(let after)):
            if before.isCancellation != after.isCancellation {
                return LawViolation(expected: "\(expected.outcome)", came: "\(type(of: after)): \(after)")
            }
            if permissions.kinds.contains(.error) || before.isCancellation { return nil }
            return errorDifference(after, before)
        }
    }

    private func errorDifference(_ came: any Error, _ expected: any Error) -> LawViolation? {
        let (before, after) = (LawTrace.name(of: expected), LawTrace.name(of: came))
        if before != after { return LawViolation(expected: "the error \(before)", came: after) }
        guard let old = expected as? ErrandError, let new = came as? ErrandError else { return nil }
        if old.message != new.message { return different("the error's message", old.message, new.message) }
        if old.response?.status != new.response?.status {
            return different("the error's response", "\(old.response?.status ?? 0)", "\(new.response?.status ?? 0)")
        }
        return nil
    }

    private func responseDifference(
        _ came: LawTrace.Response, _ expected: LawTrace.Response, sent url: String?, isSameRequest: Bool
    ) -> LawViolation? {
        // A response that the filter stored or validated can be another one.
        if !isSameRequest, permissions.mayRespond { return nil }
        let parts = [
            ("the status", "\(expected.status)", "\(came.status)"),
            ("the URL", permissions.mayChange(.url) ? url ?? expected.url : expected.url, came.url),
            ("the HTTP version", expected.version ?? "nil", came.version ?? "nil"),
            ("the source", expected.source, came.source),
        ]
        for (name, before, after) in parts where before != after { return different(name, before, after) }
        var names: [HTTPHeaderName] = []
        for field in expected.headers where !names.contains(field.name) { names.append(field.name) }
        for name in names {
            let (before, after) = (Self.values(expected.headers, name), Self.values(came.headers, name))
            if before != after { return different("the field \(name)", text(before), text(after)) }
        }
        if expected.body != came.body { return different("the body", text(expected.body), text(came.body)) }
        if expected.length != came.length {
            return different("the length of the body", "\(expected.length ?? -1)", "\(came.length ?? -1)")
        }
        return nil
    }

    // MARK: Texts

    private func different(_ name: String, _ expected: String, _ came: String) -> LawViolation {
        LawViolation(expected: "\(name): \(expected)", came: came)
    }

    private func text(_ values: [String]) -> String { values.isEmpty ? "none" : values.joined(separator: ", ") }

    private func text(_ data: Data?) -> String {
        guard let data else { return "none" }
        return data.isEmpty ? "no bytes" : String(decoding: data.prefix(200), as: UTF8.self).debugDescription
    }
}
