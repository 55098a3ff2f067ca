import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about consecutive calls.
extension FilterLaw {
    /// The law that a call doesn't depend on calls of other users or to other hosts.
    public static let history = FilterLaw(
        "history", "law: a call is the same after calls of other users or to other hosts",
        advice: """
            Store what you remember separately for each host and user: by `exchange.http.host` and \
            `exchange.userMarks`, or by the fields that identify users. Share a variable between all calls only if its \
            value is the same for all of them.
            """,
        share: 60, needsTwo: true,
        exchanges: { LawExchange.strangers(&$0) }
    ) { bench, exchanges in
        guard exchanges.count == 2, exchanges[0].isStranger(to: exchanges[1]) else { return nil }
        let (first, second) = (exchanges[0], exchanges[1])
        let isFailing = first.reply(to: 1).failure != nil || first.reply(to: 1).status >= 400
        // A circuit breaker needs several failures.
        let count = isFailing ? 8 : 2
        let (run, permissions) = try bench.subject()
        for index in 0..<count {
            var each = first
            if isFailing { each.url += (each.url.contains("?") ? "&" : "?") + "n=\(index)" }
            _ = await run.begin(LawCall(each, users: each.users))
        }
        let past = first.reply(to: 1).failure.map { "\($0)" } ?? "status \(first.reply(to: 1).status)"
        return try await trail(
            in: run, of: "\(count) calls to \(first.host) with \(past)", count, before: second, permissions, bench)
    }

    /// Compares a call after others with the same call alone, and after as many calls of its own kind, which show
    /// changes such as a counter's.
    private static func trail(
        in run: LawRun, of past: String, _ count: Int, before second: LawExchange, _ permissions: Permissions,
        _ bench: LawBench
    ) async throws -> LawViolation? {
        let came = await aspects(run, second, permissions)
        var alone: [[String: String]] = []
        for _ in 0..<2 { alone.append(await aspects(try bench.subject().run, second, permissions)) }
        let (own, _) = try bench.subject()
        for _ in 0..<count {
            var each = second
            each.replies = [LawReply(body: second.reply(to: 1).body)]
            _ = await own.begin(LawCall(each, users: each.users))
        }
        let repeated = await aspects(own, second, permissions)
        for name in Set(came.keys).union(alone[0].keys).sorted() {
            let value = came[name]
            if value == alone[0][name] || value == repeated[name] || alone[0][name] != alone[1][name] { continue }
            // Skip values that differ in each request, such as a counter.
            let isField = name.contains("field")
            if isField, alone[0][name] != repeated[name] { continue }
            return LawViolation(
                expected: "\(name): \(alone[0][name] ?? "none"), as without the earlier calls",
                came: "\(value ?? "none"), after \(past)")
        }
        return nil
    }

    /// The law that calls that their callers gave up don't count as failures.
    public static let abandonment = FilterLaw(
        "abandonment", "law: a call is the same after calls that their callers cancelled or stopped reading",
        advice: """
            A cancellation is the caller's decision, and tells nothing about the server. Rethrow it before you count \
            failures: `error.isCancellation`. Return in a `defer` whatever the call took.
            """,
        share: 15, needsTwo: true,
        exchanges: { random in
            let url = "\(LawVocabulary.origin)/v1/\(random.pick(["a", "b/c", "a?b=1"]))"
            var second = LawExchange(random.pick([.get, .get, .post]), url)
            if second.method == .post { second.body = .text("law") }
            var first = second
            if random.isTrue(0.3) {
                first = LawExchange(.get, url)
                (first.isStreamed, first.isDropped) = (true, true)
                first.replies = [LawReply(body: .stream(["a", "b"]))]
            } else {
                first.cancellation = .onTheWire
            }
            return [first, second]
        }
    ) { bench, exchanges in
        guard exchanges.count == 2, exchanges[0].cancellation != nil || exchanges[0].isDropped else { return nil }
        let (first, second) = (exchanges[0], exchanges[1])
        let count = 12
        let (run, permissions) = try bench.subject()
        for index in 0..<count {
            var each = first
            each.url += (each.url.contains("?") ? "&" : "?") + "n=\(index)"
            _ = await run.play(each)
        }
        let past = first.cancellation == nil ? "whose callers dropped the body" : "whose callers cancelled"
        return try await trail(in: run, of: "\(count) calls \(past)", count, before: second, permissions, bench)
    }

    /// The law that a response that its request rejected never reaches a later call.
    public static let acceptance = FilterLaw(
        "acceptance", "law: a response that a check rejected isn't returned to a later call, however that call ends",
        advice: """
            A response is only good after all checks and decoding. Store it in `exchange.whenAccepted`, and keep the \
            earlier response until then.
            """,
        share: 20, needsTwo: true,
        exchanges: { random in
            let url = LawExchange.randomURL(&random)
            let fields: HTTPHeaders = random.pick([
                [:], [.cacheControl: "max-age=60"], [.entityTag: "\"1\""], [.cacheControl: "max-age=0"],
            ])
            let good = LawExchange(.get, url, replies: [LawReply(headers: fields, body: .text("law-good"))])
            var bad = LawExchange(.get, url, isRefused: true)
            bad.replies = [LawReply(headers: fields, body: .text("law-refused"))]
            var later = LawExchange(.get, url)
            later.replies = [
                random.pick([
                    LawReply(headers: fields, body: .text("law-new")), LawReply(503, body: .text("law-new")),
                    LawReply(failure: .connectionLost), LawReply(failure: .cannotConnect),
                    LawReply(failure: .timedOut), LawReply(failure: .nameLookupFailed),
                ])
            ]
            return random.isTrue() ? [good, bad, later] : [bad, later]
        }
    ) { bench, exchanges in
        guard let later = exchanges.last, exchanges.contains(where: \.isRefused), !later.isRefused else { return nil }
        let (run, _) = try bench.subject()
        for exchange in exchanges.dropLast() { _ = await run.play(exchange) }
        let rejected = exchanges.filter(\.isRefused).map { $0.reply(to: 1).body.text }
        for _ in 0..<2 {
            let outcome = await run.play(later).outcome
            let body = String(decoding: outcome.response?.body ?? Data(), as: UTF8.self)
            guard !body.isEmpty, rejected.contains(body), later.reply(to: 1).body.text != body else { continue }
            return LawViolation(
                expected: "another response than the one that a check rejected, or an error", came: body)
        }
        return nil
    }

    /// The law that the effect of a response doesn't depend on when its bytes arrive.
    public static let arrival = FilterLaw(
        "arrival", "law: a response has the same effect, whether its body arrives with the head or in pieces after it",
        advice: """
            If the status is 300 or more, or the caller reads a stream, often only the head has arrived, and \
            `response.data` is empty. Call `exchange.gatherEvidence(of:)` before you read the body of a failure. If you \
            read a stream, keep what a chunk leaves over for the next one.
            """,
        share: 60,
        exchanges: { random in
            var exchange = LawExchange.random(&random)
            (exchange.deadline, exchange.isDropped, exchange.cancellation) = (nil, false, nil)
            exchange.isStrict = random.isTrue()
            exchange.replies[0].failure = nil
            if random.isTrue() { exchange.replies[0].status = random.pick(LawVocabulary.decisiveStatuses) }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            var images: [[String: String]] = []
            var times: [Duration] = []
            for arrival in [LawCall.Arrival.atOnce, .atOnce, .inPieces] {
                let (run, permissions) = try bench.subject()
                let call = LawCall(exchange, arrival: arrival)
                images.append(await aspects(run, call, permissions).filter { $0.key != timeAspect })
                // A body that arrives in pieces is late by itself.
                let delay = LawSource.arrivalDelay * call.trace.sends.count
                times.append(call.trace.elapsed - (arrival == .inPieces ? min(delay, call.trace.elapsed) : .zero))
                if permissions.mayWait { times[times.count - 1] = .zero }
            }
            if times[0] == times[1], times[2] > times[0] + .seconds(1) {
                return LawViolation(
                    expected: "\(timeAspect): \(times[0] / .seconds(1)), as for a body that arrives at once",
                    came: "\(times[2] / .seconds(1)), for a body that arrives in pieces")
            }
            // A hedge may send another request because the body is late.
            let names = Set(images[0].keys).union(images[2].keys).filter { !$0.contains("request") }
            for name in names.sorted()
            where images[0][name] == images[1][name] && images[0][name] != images[2][name] {
                return LawViolation(
                    expected: "\(name): \(images[0][name] ?? "none"), as for a body that arrives at once",
                    came: "\(images[2][name] ?? "none"), for a body that arrives in pieces")
            }
        }
        return nil
    }

    private static func aspects(
        _ run: LawRun, _ exchange: LawExchange, _ permissions: Permissions
    ) async -> [String: String] {
        await aspects(run, LawCall(exchange, users: exchange.users), permissions)
    }

    private static let timeAspect = "the time of the call in seconds"

    static func aspects(
        _ run: LawRun, _ call: LawCall, _ permissions: Permissions
    ) async -> [String: String] {
        let trace = await run.begin(call).trace
        var aspects = ["the number of requests": "\(trace.sends.count)", "the end of the call": trace.outcome.kind]
        for (index, send) in trace.sends.enumerated() {
            let place = "request \(index + 1)"
            aspects["the method of \(place)"] = "\(send.http.method)"
            aspects["the URL of \(place)"] = send.http.urlText
            aspects["the timeout of \(place)"] = "\(send.timeout)"
            aspects["the priority of \(place)"] = "\(send.priority)"
            aspects["the body of \(place)"] = send.body.map { String(decoding: $0.prefix(200), as: UTF8.self) }
            for name in Set(send.http.headers.map(\.name)) {
                aspects["the field \(name.rawName.lowercased()) of \(place)"] =
                    send.http.headers.values(of: name).joined(separator: ", ")
            }
        }
        if !permissions.mayWait { aspects[timeAspect] = "\(Int(trace.elapsed / .seconds(1)))" }
        guard let response = trace.outcome.response else { return aspects }
        aspects["the body of the response"] = response.body.map {
            "\(String(decoding: $0.prefix(200), as: UTF8.self)) (\($0.count) bytes)"
        }
        for name in Set(response.headers.map(\.name)) {
            aspects["the field \(name.rawName.lowercased()) of the response"] =
                response.headers.values(of: name).joined(separator: ", ")
        }
        return aspects
    }

    /// The law that equal calls are separate calls, if their method may change something at the server.
    public static let repetition = FilterLaw(
        "repetition", "law: a request that is sent twice reaches the server twice, each time as a new one",
        advice: """
            An order that a user places twice is two orders: create an Idempotency-Key for each call, with \
            `exchange.once`, not from the request. Only share or store responses to safe methods.
            """,
        share: 20,
        exchanges: { random in
            var exchange = LawExchange(random.pick([.post, .post, .put, .patch, .delete, "REPORT"]))
            exchange.url = LawExchange.randomURL(&random)
            if exchange.method != .delete {
                exchange.body = random.pick([.none, .text("law"), .stream(["law"], isReplayable: true)])
            }
            exchange.isRepeated = random.isTrue(0.3)
            if exchange.isRepeated { exchange.replies = [LawReply(503), LawReply()] }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            if exchange.method.isSafe { continue }
            let (run, permissions) = try bench.subject()
            // Skip filters whose policy can allow stored responses, for example to a query with POST.
            if permissions.isResponder || permissions.traits.contains(.cachesCalls) { continue }
            let row = [await run.play(exchange), await run.play(exchange)]
            let gate = Gate()
            let (other, _) = try bench.subject()
            let calls = (0..<2).map { _ in LawCall(exchange, isShared: true, heldBy: gate) }
            async let one = other.begin(calls[0])
            async let two = other.begin(calls[1])
            try await poll(10) { calls.allSatisfy(\.trace.isReached) }
            gate.open()
            let together = [await one.trace, await two.trace]
            for (traces, moment) in [(row, "one after the other"), (together, "at the same time")] {
                for trace in traces where trace.sends.isEmpty && trace.outcome.response != nil {
                    return LawViolation(
                        expected: "two requests for two equal calls \(moment)",
                        came: "one request, whose response both calls got")
                }
                // The app's own key is the same in both calls.
                let given = sentKeys(of: exchange.headers)
                let keys = traces.map { Set($0.sends.flatMap { sentKeys(of: $0.http.headers) }).subtracting(given) }
                guard keys.count == 2, let key = keys[0].intersection(keys[1]).first else { continue }
                return LawViolation(
                    expected: "a new key for each of two equal calls \(moment)", came: "the key \(key) twice")
            }
        }
        return nil
    }

    private static func sentKeys(of headers: HTTPHeaders) -> [String] {
        headers.filter { $0.name.rawName.lowercased().contains("idempotency") }.map(\.value)
    }

    /// The law that a read that begins after a write doesn't get the version before the write.
    public static let coherence = FilterLaw(
        "coherence", "law: a read that begins after a write doesn't get an older response",
        advice: """
            A read that began before a write can end after it. Forget its response, too: count the writes to a URL, \
            and only store or share a response if the count is the same as when its request began.
            """,
        share: 40, needsTwo: true,
        exchanges: { random in
            let url = LawExchange.randomURL(&random)
            let fields: HTTPHeaders = random.pick([
                [:], [.cacheControl: "max-age=60"], [.entityTag: "\"1\""],
                [.entityTag: "\"1\"", .cacheControl: "max-age=60"],
            ])
            let read = LawExchange(.get, url, replies: [LawReply(headers: fields, body: .text("law-old"))])
            var write = LawExchange(random.pick([.post, .put, .patch, .delete]), url)
            if write.method != .delete { write.body = .text("law") }
            write.replies = [LawReply(random.pick([200, 201, 204]), body: .text("done"))]
            return [read, write]
        }
    ) { bench, exchanges in
        guard exchanges.count == 2, exchanges[0].url == exchanges[1].url, !exchanges[1].method.isSafe,
            exchanges[0].method == .get, exchanges[0].replies[0].body == .text("law-old")
        else { return nil }
        let (read, write) = (exchanges[0], exchanges[1])
        var later = read
        later.replies[0].body = .text("law-new")
        func isOld(_ trace: LawTrace) -> Bool {
            String(decoding: trace.outcome.response?.body ?? Data(), as: UTF8.self).contains("law-old")
        }
        let (plain, permissions) = try bench.subject()
        if !permissions.mayRespond { return nil }
        for _ in 0..<2 { _ = await plain.play(read) }
        _ = await plain.play(write)
        // Skip filters that intentionally keep responses for some time despite writes.
        if isOld(await plain.play(later)) { return nil }
        let (run, _) = try bench.subject()
        let gate = Gate()
        let slow = LawCall(read, isShared: true, heldBy: gate)
        let task = run.launch(slow)
        defer { task.cancel() }
        try await poll(200) { slow.trace.isReached }
        guard slow.trace.isReached, await run.begin(LawCall(write, isShared: true)).trace.outcome.response != nil else {
            return nil
        }
        // One read begins while the old read is in flight, the other after it has ended.
        let next = LawCall(later, isShared: true)
        let second = run.launch(next)
        defer { second.cancel() }
        try await poll(20) { next.isOver }
        gate.open()
        await run.finish([task, second])
        for (trace, moment) in [
            (next.trace, "while an older read is in flight"), (await run.play(later), "after an older read has ended"),
        ] where isOld(trace) {
            return LawViolation(
                expected: "a response newer than the \(write.method), for a read that begins \(moment)",
                came: "an older response")
        }
        return nil
    }
}

extension LawExchange {
    fileprivate var host: String { URL(string: url)?.host() ?? "" }
    fileprivate var origin: String {
        url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
    }
    fileprivate var users: [UserMark] {
        headers[.authorization].map { [UserMark($0, source: "account")] } ?? []
    }

    /// Whether one exchange must not affect the other, because their hosts or users differ.
    fileprivate func isStranger(to other: LawExchange) -> Bool {
        if host != other.host { return true }
        let isFailing = reply(to: 1).failure != nil || ![200, 404].contains(reply(to: 1).status)
        let users = (headers[.authorization], other.headers[.authorization])
        return origin == other.origin && users.0 != nil && users.1 != nil && users.0 != users.1 && !isFailing
    }

    fileprivate static func strangers(_ random: inout LawRandom) -> [LawExchange] {
        let hosts = [LawVocabulary.origin, "https://other.example", "https://third.example"].shuffled(using: &random)
        let path = random.pick(["a", "b/c", "a?b=1"])
        var second = LawExchange(random.pick([.get, .get, .get, .post, .put]), "\(hosts[0])/v1/\(path)")
        if second.method != .get { second.body = .text("law") }
        if random.isTrue(0.3) { second.headers = ["X-Law-A": "1"] }
        var first = second
        second.replies = [LawReply(headers: ["X-Law-B": "law-second"], body: .text("law-second"))]
        let isOtherUser = random.isTrue()
        if isOtherUser {
            let origin = random.isTrue(0.8) ? LawVocabulary.origin : hosts[0]
            (first.url, second.url) = ("\(origin)/v1/\(path)", "\(origin)/v1/\(path)")
            let users = ["one", "two", "three", "four", "five", "six", "seven", "eight"].shuffled(using: &random)
            first.headers.set(.authorization, "Bearer law-\(users[0])")
            second.headers.set(.authorization, "Bearer law-\(users[1])")
            first.replies = [LawReply(headers: ["X-Law-B": "law-first"], body: .text("law-first"))]
            if random.isTrue(0.4) { first.replies[0].status = 404 }
            return [first, second]
        }
        first.url = "\(hosts[1])/v1/\(path)"
        let text = LawBody.text("law-first")
        first.replies = [
            random.pick([
                LawReply(503, headers: [.retryAfter: "60"], body: text),
                LawReply(429, headers: [.retryAfter: "60"], body: text),
                LawReply(503, headers: [.retryAfter: "60"], body: text), LawReply(500, body: text),
                LawReply(401, headers: [.wwwAuthenticate: "Bearer"], body: text), LawReply(404, body: text),
                LawReply(failure: .cannotConnect), LawReply(failure: .timedOut), LawReply(failure: .connectionLost),
                LawReply(failure: .nameLookupFailed), LawReply(body: text),
            ])
        ]
        return [first, second]
    }

    /// Makes two exchanges differ in one part that can affect the response.
    mutating func differ(from other: inout LawExchange, _ random: inout LawRandom) {
        (method, body, headers) = (.get, .none, [:])
        (url, other.url) = ("\(LawVocabulary.origin)/v1/x", "\(LawVocabulary.origin)/v1/x")
        (other.method, other.body, other.headers) = (.get, .none, [:])
        let fields: [(HTTPHeaderName, String, String)] = [
            (.accept, "text/csv", "application/json"), (.acceptLanguage, "de", "fr"),
            (.range, "bytes=0-8", "bytes=9-17"), (.authorization, "Bearer law-1", "Bearer law-2"),
            (.cookie, "law=1", "law=2"), ("X-Law-A", "1", "2"), ("Prefer", "return=minimal", "return=representation"),
            ("X-API-Version", "1", "2"),
        ]
        if random.isTrue(0.6) {
            let (name, one, two) = random.pick(fields)
            headers.set(name, one)
            other.headers.set(name, two)
            if random.isTrue(0.2), name != .authorization { headers = [:] }
            let isPart = name == .range
            for (index, exchange) in [self, other].enumerated() {
                var reply = exchange.replies[0]
                // `Vary` names the field, because it determines the response.
                if !isPart, name != .authorization { reply.headers[.vary] = name.rawName }
                if isPart, let range = exchange.headers[.range] {
                    reply.status = 206
                    reply.headers[.contentRange] = "bytes \(range.dropFirst(6))/100"
                }
                if index == 0 { replies = [reply] } else { other.replies = [reply] }
            }
        } else if random.isTrue() {
            (url, other.url) = (url + "?a=1&b=2", url + "?b=2&a=1")
        } else {
            (method, other.method) = random.pick([
                (.get, .post), (.post, .put), (.put, .patch), (.get, "REPORT"), (.head, .get),
            ])
            if ![.get, .head].contains(method) { body = .text("law") }
            if other.method != .get { other.body = .text("law") }
        }
        replies[0].headers["X-Law-C"] = "law-first"
        other.replies[0].headers["X-Law-C"] = "law-second"
    }

    /// Whether the requests differ only in application-specific fields.
    func isUnknownVariant(of other: LawExchange) -> Bool {
        let names = Set(headers.map(\.name)).union(other.headers.map(\.name)).filter {
            headers.values(of: $0) != other.headers.values(of: $0)
        }
        let known: Set<HTTPHeaderName> = [.accept, .acceptLanguage, .range, .authorization, .cookie]
        return !names.isEmpty && names.isDisjoint(with: known)
    }

    /// The first attempt succeeds late, and other attempts fail immediately.
    static func slow(_ random: inout LawRandom) -> LawExchange {
        var exchange = LawExchange(random.pick([.get, .get, .head, .put, .delete, .post, .options]))
        if [.put, .post].contains(exchange.method) { exchange.body = .text("law") }
        let fault = random.pick([
            LawReply(failure: .cannotConnect), LawReply(failure: .connectionLost), LawReply(failure: .timedOut),
        ])
        let delay = random.pick([Duration.seconds(2), .seconds(30), .milliseconds(300)])
        exchange.replies = [LawReply(body: exchange.method == .head ? .none : .text("law"), delay: delay), fault]
        return exchange
    }
}
