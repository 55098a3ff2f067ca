import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about a call's remains after its end, and about its effects on other calls.
extension FilterLaw {
    /// The law that concurrent calls don't affect each other.
    public static let concurrency = FilterLaw(
        "concurrency", "law: concurrent calls have the same results as each call alone",
        advice: """
            Keep what belongs to a call in local variables, not in properties of the filter. If a \
            cancelled task waits for its turn, end the wait, with `withTaskCancellationHandler`. If calls share a request, cancel it only when the last of them is cancelled; see `SharedExchange`.
            """,
        share: 15,
        exchanges: { random in
            var exchanges = (0..<5).map { _ in
                var exchange = LawExchange.random(&random)
                exchange.deadline = nil
                return exchange
            }
            var equal = LawExchange(.get, LawExchange.randomURL(&random))
            equal.headers = exchanges[0].headers
            var cancelled = equal
            cancelled.cancellation = .onTheWire
            exchanges += [cancelled, equal, equal]
            return exchanges
        }
    ) { bench, exchanges in
        if let violation = try await endlessWait(bench) { return violation }
        let (run, permissions) = try bench.subject()
        let traces = await withTaskGroup { group in
            for (index, exchange) in exchanges.enumerated() {
                let isShared = exchanges.count > 1
                group.addTask { (index, await run.begin(LawCall(exchange, isShared: isShared)).trace) }
            }
            return await group.reduce(into: [Int: LawTrace]()) { $0[$1.0] = $1.1 }
        }
        for (index, exchange) in exchanges.enumerated() {
            guard let came = traces[index] else { continue }
            let expected = await bench.control().begin(LawCall(exchange, isShared: true)).trace
            let comparison = Comparison(permissions, exchange)
            // Skip a call that received its response before it was cancelled.
            if exchange.cancellation != nil, came.outcome.response != nil { continue }
            let violation = await comparison.difference(of: came, from: expected) { last in
                await bench.control().begin(LawCall(last, isShared: true)).trace
            }
            if let violation { return violation }
            guard came.sends.count == 1, let send = came.sends.first, let plain = expected.sends.first else { continue }
            if let violation = comparison.difference(of: send, from: plain) { return violation }
        }
        return nil
    }

    /// A call that the filter holds back must end when it's cancelled, even while other calls run.
    private static func endlessWait(_ bench: LawBench) async throws -> LawViolation? {
        let (run, _) = try bench.subject()
        let slow = (0..<12).map { index in
            LawCall(
                LawExchange(.get, "\(LawVocabulary.origin)/v1/\(index)", replies: [LawReply(delay: .seconds(3_600))]))
        }
        let tasks = slow.map { run.launch($0) }
        defer { for task in tasks { task.cancel() } }
        // Wait until the filter has sent the calls or holds them back.
        try await poll(20) { slow.allSatisfy(\.trace.isReached) }
        let last = LawCall(
            LawExchange(.get, "\(LawVocabulary.origin)/v1/z", replies: [LawReply(delay: .seconds(3_600))]))
        let task = run.launch(last)
        try await poll(5) { last.trace.isReached }
        task.cancel()
        if try await poll(for: bench.patience * 40, until: { last.isOver }) { return nil }
        return LawViolation(
            expected: "a call that is cancelled while twelve others run to end",
            came: "a call that still waits")
    }

    /// The law that a filter doesn't keep a call's objects or tasks after the call ends.
    public static let release = FilterLaw(
        "release", "law: a call's requests, bodies, tasks and transfers don't outlive it",
        advice: """
            Call `next` in the filter's own task or in a task group, so a cancellation reaches it. Cancel a response \
            that you don't return, with `exchange.discard(response)`. Keep values of the call only in the call.
            """,
        share: 50,
        exchanges: { random in
            var exchange = LawExchange.random(&random)
            exchange.isTagged = true
            if random.isTrue(0.6) {
                exchange.cancellation = random.isTrue() ? .onTheWire : .whileReading
                if exchange.cancellation == .whileReading {
                    exchange.method = .get
                    exchange.body = .none
                    (exchange.isStreamed, exchange.isDropped) = (true, false)
                    exchange.replies = [LawReply(body: .stream(["a", "b"]))]
                }
            }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            let (run, permissions) = try bench.subject()
            let (expected, came) = (await bench.control().play(exchange), LawCall(exchange))
            let trail = try await FilterDraft.followed { _ = await run.begin(came) }
            if let violation = cancellationViolation(of: exchange, expected, came.trace, permissions) {
                return violation
            }
            came.clearTrace()
            // A filter may keep a response's body for other calls, and the tags with which it was requested, but not
            // the call.
            let mayStore = permissions.mayRespond
            let isGone: @Sendable () -> Bool = {
                came.remains.allSatisfy { mayStore && ["a body", "the tags"].contains($0) } && run.running == 0
                    && trail.mark == nil
            }
            // Wait longer in the last confirmation, because the machine may be busy.
            let isLast = bench.patience >= .milliseconds(100)
            var looks = isLast ? max(1_000, Int(bench.filters.gracePeriod / .milliseconds(2))) : 50
            while !isGone(), looks > 0 {
                looks -= 1
                try await Task.sleep(for: .milliseconds(2))
            }
            if isGone() { continue }
            let remains = came.remains + (run.running > 0 ? ["a transfer"] : []) + (trail.mark == nil ? [] : ["a task"])
            return LawViolation(
                expected: "the release of all objects of the \(exchange.cancellation == nil ? "" : "cancelled ")call",
                came: remains.joined(separator: ", "))
        }
        return nil
    }

    /// Not inlined, so this frame doesn't keep the traces while the call's remaining objects are counted.
    @inline(never) private static func cancellationViolation(
        of exchange: LawExchange, _ expected: LawTrace, _ came: LawTrace, _ permissions: Permissions
    ) -> LawViolation? {
        guard let cancellation = exchange.cancellation else { return nil }
        // A filter that changes responses may discard a body, and then the caller doesn't read it.
        let isReplaced =
            permissions.kinds.contains(.response) && cancellation == .whileReading && came.outcome.response != nil
        let isExcused = permissions.mayRespond || permissions.kinds.contains(.error) || isReplaced
        let isReached = came.isReached && expected.isReached
        if isReached, !isExcused, came.outcome.kind != expected.outcome.kind {
            return LawViolation(
                expected: "\(expected.outcome), after a cancellation \(cancellation.rawValue)", came: "\(came.outcome)")
        }
        // Until the caller reads the body, a filter may have waited and repeated the request.
        if let moment = came.cancelled, came.elapsed > max(expected.elapsed, moment) + .seconds(1) {
            return LawViolation(
                expected: "the call to end when the caller cancels it", came: "it ended after \(came.elapsed)")
        }
        return nil
    }

    /// The law that one user's or host's calls don't affect calls of another.
    public static let separation = FilterLaw(
        "separation", "law: the data and failures of one user or host don't reach another",
        advice: """
            Store what you remember separately for each origin and each user, from `exchange.userMarks`, and limit it. \
            Add secrets only if `exchange.isTrusted`, in each hop.
            """,
        share: 60, needsTwo: true,
        exchanges: { random in
            let own = "\(LawVocabulary.origin)/v1/\(random.pick(["a", "b/c", "a?b=1"]))"
            let others = LawVocabulary.foreignOrigins.map { "\($0)/v1/law-canary-path?law=law-canary-query" }
            var first = LawExchange(random.pick([.get, .get, .get, .post, .put]), own)
            first.headers = ["X-Law-A": "law-canary-field"]
            first.isStreamed = random.isTrue(0.2)
            if first.method != .get { first.body = .text("law-canary-body") }
            first.replies = [LawReply(headers: remembered, body: .text(members))]
            var second = LawExchange(
                random.pick([.get, .get, .get, .post, .put]), random.isTrue() ? own : random.pick(others))
            if random.isTrue(0.3) { first.url = random.pick(others) }
            if origin(of: first) == origin(of: second) {
                first.headers.set(.authorization, "Bearer law-canary-user")
                second.headers.set(.authorization, "Bearer another")
            }
            if second.method != .get { second.body = .text("law") }
            second.url = second.url.replacing("law-canary-", with: "law-")
            if random.isTrue(0.4) {
                first.replies = [random.pick([LawReply(failure: .connectionLost), LawReply(503), LawReply(401)])]
                first.method = .get
                first.body = .none
            } else if random.isTrue(0.3) {
                second.replies = [random.pick([LawReply(failure: .connectionLost), LawReply(503)])]
            } else if random.isTrue(0.3), second.url.hasPrefix(LawVocabulary.origin + "/") {
                second.replies = [
                    LawReply(307, headers: [.location: "\(LawVocabulary.foreignOrigins[0])/v1/x"]), LawReply(),
                ]
            }
            // After a refused first attempt, a filter may send a secret that it didn't send at first.
            if second.replies[0].status == 307 || !second.url.hasPrefix(LawVocabulary.origin + "/"), random.isTrue() {
                let refusal = LawReply(random.pick([401, 401, 401, 403, 503]), headers: [.wwwAuthenticate: "Bearer"])
                second.replies.insert(refusal, at: second.replies.count - 1)
            }
            var branch = random.branch
            if branch.isTrue(0.4) {
                // An origin whose text contains the agent's host isn't the agent's origin.
                let similar = branch.pick(LawVocabulary.similarOrigins)
                for index in second.replies.indices {
                    if let location = second.replies[index].headers[.location] {
                        second.replies[index].headers[.location] = location.replacing(
                            LawVocabulary.foreignOrigins[0], with: similar)
                    }
                }
                let other = origin(of: second)
                if other != LawVocabulary.origin { second.url = second.url.replacing(other, with: similar) }
            }
            return [first, second]
        }
    ) { bench, exchanges in
        guard exchanges.count == 2 else { return nil }
        let (first, second) = (exchanges[0], exchanges[1])
        if let violation = try await knownHosts(bench) { return violation }
        if let violation = try await leakedSecret(bench, exchanges) { return violation }
        if let violation = try await confusedUsers(bench, first) { return violation }
        if origin(of: first) == origin(of: second), first.headers[.authorization] == second.headers[.authorization] {
            return nil
        }
        let (run, permissions) = try bench.subject()
        let isFailing = first.reply(to: 1).failure != nil || first.reply(to: 1).status >= 400
        let isOtherHost = origin(of: first) != origin(of: second)
        // A circuit breaker needs several failures.
        for index in 0..<(isFailing ? 40 : 2) {
            var each = first
            if isFailing { each.url += (each.url.contains("?") ? "&" : "?") + "n=\(index)" }
            _ = await run.play(each)
        }
        let came = await run.play(second)
        let (fresh, _) = try bench.subject()
        let expected = await fresh.play(second)
        let names = [first, second].map { URL(string: $0.url)?.host() ?? "" }
        // A cookie jar keeps cookies for a host, regardless of ports and users (RFC 6265).
        let isJar = names[0] == names[1] && permissions.traits.contains(.addsCookies)
        for send in came.sends {
            let fields = send.http.headers.filter { !(isJar && $0.name == .cookie) }
            for field in fields where field.value.contains("law-canary-") {
                return leak("the field \(field.name)", field.value, isOtherHost)
            }
            if send.http.urlText.contains("law-canary-") { return leak("the URL", send.http.urlText, isOtherHost) }
            let body = String(decoding: send.body ?? Data(), as: UTF8.self)
            if body.contains("law-canary-") { return leak("the body", body, isOtherHost) }
        }
        if let response = came.outcome.response {
            let text = String(decoding: response.body ?? Data(), as: UTF8.self)
            let texts = response.headers.map(\.value) + [text, response.url]
            if let found = texts.first(where: { $0.contains("law-canary-") }) {
                return leak("the response", found, isOtherHost)
            }
        }
        if names[0] != names[1], came.outcome.kind != expected.outcome.kind {
            let past = isFailing ? "40 failures" : "calls"
            return LawViolation(
                expected: "\(expected.outcome), the same as without \(past) of another host", came: "\(came.outcome)")
        }
        return nil
    }

    private static func leak(_ place: String, _ text: String, _ isOtherHost: Bool) -> LawViolation {
        let other = isOtherHost ? "host" : "user"
        return LawViolation(
            expected: "no data of another \(other) in \(place)", came: String(text.prefix(200)))
    }

    private static func leakedSecret(_ bench: LawBench, _ exchanges: [LawExchange]) async throws -> LawViolation? {
        guard let exchange = exchanges.last, exchange.replies.count > 1 || origin(of: exchange) != LawVocabulary.origin
        else { return nil }
        let (run, _) = try bench.subject()
        var home = exchange
        home.url = "\(LawVocabulary.origin)/v1/a"
        home.replies = [LawReply()]
        let plain = await bench.control().play(home)
        guard let original = plain.sends.first else { return nil }
        let redaction = Redaction()
        var secrets: [HTTPHeaders.Field] = []
        // After a refusal, the filter may add another secret.
        let refusals = [401, 403, 503].map { [LawReply($0, headers: [.wwwAuthenticate: "Bearer"]), LawReply()] }
        for replies in [[LawReply()]] + refusals {
            home.replies = replies
            for send in await run.play(home).sends {
                secrets += send.http.headers.filter { field in
                    (field.isSensitive || redaction.isSecret(field.name.rawName)) && !field.value.isEmpty
                        && !original.http.headers.contains { $0.name == field.name }
                }
            }
        }
        for away in await run.play(exchange).sends where away.origin != LawVocabulary.origin {
            for secret in secrets
            where away.http.headers.contains(where: { $0.name == secret.name && $0.value == secret.value }) {
                return LawViolation(
                    expected: "no secret of the agent's origin in a request to \(away.origin)",
                    came: "the field \(secret.name), which the filter adds")
            }
        }
        return nil
    }

    /// A secret that the filter adds for a sample's host must not reach a host whose text contains the sample's host.
    private static func knownHosts(_ bench: LawBench) async throws -> LawViolation? {
        for sample in bench.samples where origin(of: sample) != LawVocabulary.origin {
            guard let host = URL(string: sample.url)?.host(), origin(of: sample).hasSuffix(host) else { continue }
            let isShort = host.split(separator: ".").count < 3
            for other in ["\(host).law.example"] + (isShort ? ["law-\(host)"] : []) {
                var home = LawExchange(sample.method, sample.url, headers: sample.headers, body: sample.body)
                let (run, _) = try bench.subject()
                let plain = await bench.control().play(home).sends.first?.http.headers ?? [:]
                let sent = await run.play(home).sends.first?.http.headers ?? [:]
                home.url = home.url.replacing(host, with: other, maxReplacements: 1)
                let away = await run.play(home).sends.first?.http.headers ?? [:]
                let redaction = Redaction()
                for secret in sent
                where (secret.isSensitive || redaction.isSecret(secret.name.rawName)) && !secret.value.isEmpty
                    && !plain.contains(secret.name) && away.values(of: secret.name).contains(secret.value)
                {
                    return LawViolation(
                        expected: "no secret of \(host) in a request to \(other)",
                        came: "the field \(secret.name), which the filter adds")
                }
            }
        }
        return nil
    }

    /// A response for one user must not reach another user, even if both have the same identity from different sources.
    private static func confusedUsers(_ bench: LawBench, _ exchange: LawExchange) async throws -> LawViolation? {
        func mark(_ identity: String, _ source: String = "account") -> UserMark {
            UserMark(identity, source: source)
        }
        let users: [([UserMark], [UserMark])] = [
            ([mark("7")], [mark("8")]), ([mark("7")], [mark("7", "device")]), ([mark("u")], [mark("U")]),
            ([mark("7"), mark("9", "device")], [mark("9"), mark("7", "device")]),
            ([mark("7"), mark("8", "device")], [mark("7"), mark("9", "device")]), ([mark("7")], []), ([], [mark("7")]),
            ([mark("b", "a:")], [mark(":b", "a")]), ([mark("7")], [mark("7"), mark("8", "device")]),
        ]
        var (first, second) = (LawExchange(.get, exchange.url), LawExchange(.get, exchange.url))
        first.replies = [LawReply(headers: [.cacheControl: "private, max-age=60"], body: .text("law-canary-user"))]
        second.replies = [LawReply(headers: [.cacheControl: "private, max-age=60"])]
        for (one, another) in users {
            let (run, permissions) = try bench.subject()
            if !permissions.mayRespond { return nil }
            for _ in 0..<2 { _ = await run.begin(LawCall(first, users: one)) }
            let came = await run.begin(LawCall(second, users: another)).trace
            let body = String(decoding: came.outcome.response?.body ?? Data(), as: UTF8.self)
            if body.contains("law-canary-") {
                return leak("the response, if the users are \(text(one)) and \(text(another))", body, false)
            }
        }
        return nil
    }

    private static func text(_ users: [UserMark]) -> String {
        "\(users.map { "\($0.source) \($0.identity)" })"
    }

    private static func origin(of exchange: LawExchange) -> String {
        exchange.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }

    private static let remembered = HTTPHeaders(
        LawVocabulary.remembered.enumerated().map { index, name in
            HTTPHeaders.Field(name, name == .setCookie ? "law=law-canary-\(index); Path=/" : "law-canary-\(index)")
        })
    private static let members: String = {
        let members = LawVocabulary.rememberedMembers.enumerated().map {
            "\"\($0.element)\":\"law-canary-m\($0.offset)\""
        }
        return "{\(members.joined(separator: ","))}"
    }()

    /// The law that a call works after many other calls, regardless of how they ended.
    public static let recovery = FilterLaw(
        "recovery",
        "law: a call still works after hundreds of failed, rejected and cancelled calls",
        advice: """
            Release what a call takes, such as a permit or a place in a table, in a `defer`, so it's also released when \
            `next` throws. Don't keep a failed result, such as a failed task, for later calls.
            """,
        share: 2,
        exchanges: { random in
            let method = random.pick([HTTPMethod.get, .post])
            return [
                LawExchange(
                    method, replies: [LawReply(failure: random.pick([.connectionLost, .timedOut, .invalidResponse]))]),
                LawExchange(method, replies: [LawReply(random.pick([401, 403, 404, 409, 500, 503]))]),
                LawExchange(method, isRefused: true),
                LawExchange(method, replies: [LawReply(failure: .cancelled)]),
                LawExchange(method, isStreamed: true, isDropped: true, replies: [LawReply(body: .stream(["a", "b"]))]),
                LawExchange(method, cancellation: .onTheWire),
            ]
        }
    ) { bench, exchanges in
        if let violation = try await cancelledAtTheDoor(bench) { return violation }
        if let violation = try await unrecovered(bench, exchanges) { return violation }
        let (run, permissions) = try bench.subject()
        let good = LawExchange(.get, "\(LawVocabulary.origin)/v1/good")
        let unsteady = LawExchange(.get, "\(LawVocabulary.origin)/v1/unsteady", replies: [LawReply(503), LawReply()])
        let repeated = await run.play(unsteady)
        let expected = await run.play(good)
        await withTaskGroup { group in
            for lane in 0..<8 {
                group.addTask {
                    for index in 0..<150 {
                        var each = exchanges[index % exchanges.count]
                        each.url += "/\(lane)/\(index)"
                        _ = await run.play(each)
                    }
                }
            }
        }
        // Two hours later, a circuit breaker has closed, and limits per minute have room again.
        run.clock.pass(.seconds(7_200))
        let came = await run.play(good)
        if came.outcome.kind != expected.outcome.kind {
            return LawViolation(
                expected: "\(expected.outcome), the same as before 1,200 other calls", came: "\(came.outcome)")
        }
        if came.sends.count != expected.sends.count, !permissions.mayRespond {
            return LawViolation(
                expected: "\(expected.sends.count) requests, the same as before 1,200 other calls",
                came: "\(came.sends.count)")
        }
        let last = await run.play(unsteady)
        if last.sends.count < repeated.sends.count, !permissions.mayRespond {
            return LawViolation(
                expected: "\(repeated.sends.count) attempts after a 503, the same as before 1,200 other calls",
                came: "\(last.sends.count)")
        }
        return nil
    }
}
