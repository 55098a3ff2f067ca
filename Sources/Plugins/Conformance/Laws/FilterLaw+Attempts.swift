import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about attempts: repetitions, the waits before them, and calls after a host failed.
extension FilterLaw {
    /// All attempts of a call must have the same idempotency key, because it identifies repetitions
    /// (draft-ietf-httpapi-idempotency-key).
    static func changedKey(_ pair: LawBench.Pair) -> LawViolation? {
        let first = pair.came.sends.first
        let repetitions = pair.came.sends.filter { send in
            send.http.method == first?.http.method && send.http.urlText == first?.http.urlText
        }
        let keys = Set(repetitions.map { $0.http.headers.values(of: .idempotencyKey) })
        // Without the filter, the attempts may already have different keys, because the app changes its own key.
        let isGiven = keys.isSubset(of: Set(pair.expected.sends.map { $0.http.headers.values(of: .idempotencyKey) }))
        if keys.count < 2 || isGiven { return nil }
        return LawViolation(
            expected: "one Idempotency-Key in all attempts of a call: keep it with `exchange.once`",
            came: "\(keys.count) keys in \(repetitions.count) attempts")
    }

    /// A request that isn't idempotent is only repeated if the server can't have processed it, or knows it by its key.
    static func repeatedAfterReceipt(_ pair: LawBench.Pair) -> LawViolation? {
        let (method, sends) = (pair.exchange.method, pair.came.sends)
        if pair.permissions.mayRepeatReceived(method) { return nil }
        // A copy for another server doesn't repeat the request, unless the first server failed.
        let repeated = sends.indices.first { index in
            let send = sends[index]
            return send.mayBeProcessed && !send.hasKey
                && sends[(index + 1)...].contains { $0.origin == send.origin || send.hasFailed }
        }
        guard let received = repeated.map({ sends[$0] }) else { return nil }
        return LawViolation(
            expected: "a \(method) that is only repeated if the server can't have processed it, or that has an "
                + "Idempotency-Key. A filter that repeats it anyway declares `.repeats(\(LawCode.method(method)), "
                + "evenIfReceived: true)`",
            came: "it was sent again after \(received.ending)")
    }

    /// A server that responded with a redirect has processed the request. If the next server fails, the request must
    /// not be sent to the first server again.
    static func repeatedBeforeRedirect(_ pair: LawBench.Pair) -> LawViolation? {
        guard pair.exchange.reply(to: 1).isRedirect, !pair.permissions.mayRepeatReceived(pair.exchange.method),
            let first = pair.came.sends.first, first.failure == nil
        else { return nil }
        let count = pair.came.sends.count { send in
            send.http.method == first.http.method && send.http.urlText == first.http.urlText
        }
        if count < 2 { return nil }
        return LawViolation(
            expected: "the \(pair.exchange.method) to be sent once to the server that redirects it",
            came: "it was sent \(count) times, after \(pair.came.sends.dropFirst().first?.failure ?? "a response")")
    }

    /// A wait between two attempts must use the agent's clock.
    ///
    /// A busy machine must not cause a failure. A wait counts only if several waits are all long, and waits without the
    /// filter are short.
    static func hiddenWait(_ bench: LawBench, _ exchange: LawExchange) async throws -> LawViolation? {
        let failing = exchange.reply(to: 1).status < 400 ? LawReply(503) : LawReply(exchange.reply(to: 1).status)
        let unsteady = LawExchange(exchange.method, replies: [failing, LawReply()])
        let plain = LawExchange(isRepeated: true, replies: [LawReply(503), LawReply()])
        var (wait, pause) = (Duration.seconds(1), Duration.seconds(1))
        for _ in 0..<6 {
            let (run, permissions) = try bench.subject()
            guard !permissions.mayWait, let own = unmeasuredWait(in: await run.play(unsteady)) else { return nil }
            wait = min(wait, own)
            if wait < .milliseconds(8) { return nil }
            if let other = unmeasuredWait(in: await bench.control().play(plain)) { pause = min(pause, other) }
        }
        if pause > .milliseconds(2) { return nil }
        return LawViolation(
            expected: "a wait that uses `exchange.time` before the next attempt",
            came: "\(wait) on another clock, for example with `Task.sleep`")
    }

    private static func unmeasuredWait(in trace: LawTrace) -> Duration? {
        guard trace.sends.count > 1, trace.sends[0].end.time == trace.sends[1].begin.time else { return nil }
        return trace.sends[0].end.real.duration(to: trace.sends[1].begin.real)
    }

    /// The filter must try a failed host again, regardless of how the first call after the failures ends. Calls that
    /// are cancelled while the clock doesn't move must have no effect on later calls.
    static func unrecovered(_ bench: LawBench, _ exchanges: [LawExchange]) async throws -> LawViolation? {
        let good = LawExchange(.get, "\(LawVocabulary.origin)/v1/good")
        let expected = await bench.control().play(good)
        let (run, _) = try bench.subject()
        // Three times, because many filters limit the number of waiting calls to 1,000 or 1,024.
        for _ in 0..<3 { try await cancelled(400, run) }
        run.clock.pass(.seconds(7_200))
        let came = try await end(of: good, run)
        if came.kind != expected.outcome.kind {
            return LawViolation(
                expected: "\(expected.outcome), after 1,200 calls that were cancelled while they waited",
                came: "\(came)")
        }
        // A filter that still counts cancelled calls refuses a call that must wait.
        let crowd = await ends(ofCrowdOn: try bench.subject().run)
        if crowd.allSatisfy({ $0 == expected.outcome.kind }),
            let end = await ends(ofCrowdOn: run).first(where: { $0 != expected.outcome.kind })
        {
            return LawViolation(
                expected: "\(expected.outcome) for 200 calls at the same time, after 1,200 calls that were cancelled "
                    + "while they waited",
                came: end)
        }
        for failure in [LawReply(failure: .cannotConnect), exchanges[0].reply(to: 1), LawReply(503)] {
            for probe in exchanges {
                let (run, _) = try bench.subject()
                for index in 0..<12 {
                    _ = await run.play(LawExchange(.get, "\(LawVocabulary.origin)/v1/\(index)", replies: [failure]))
                }
                run.clock.pass(.seconds(7_200))
                _ = await run.play(probe)
                run.clock.pass(.seconds(7_200))
                let came = await run.play(good)
                if came.outcome.kind == expected.outcome.kind { continue }
                return LawViolation(
                    expected:
                        "\(expected.outcome) for a call two hours after twelve calls failed with \(failure), followed by \(probe)",
                    came: "\(came.outcome)")
            }
        }
        return nil
    }

    /// A call whose task is cancelled just before it enters the filter must end, even while the filter holds back other
    /// calls.
    static func cancelledAtTheDoor(_ bench: LawBench) async throws -> LawViolation? {
        for stage in [FilterStages.call, .hop, .wire] {
            let (run, _) = try bench.subject(outside: [LawCanceller(stages: stage)])
            let gate = Gate()
            let held = (0..<400).map { index in
                LawCall(LawExchange(.get, "\(LawVocabulary.origin)/v1/held/\(index)"), heldBy: gate)
            }
            let tasks = held.map { run.launch($0) }
            defer {
                gate.open()
                for task in tasks { task.cancel() }
            }
            try await poll(2_000) { held.allSatisfy(\.trace.isBegun) }
            // Wait until the filter has sent the calls or holds them back.
            try await poll(20) { held.allSatisfy(\.trace.isReached) }
            let late = (0..<4).map { index in
                LawCall(
                    LawExchange(.get, "\(LawVocabulary.origin)/v1/late/\(index)"), heldBy: gate,
                    cancelledBefore: stage)
            }
            let last = late.map { run.launch($0) }
            defer { for task in last { task.cancel() } }
            // A call in an earlier stage isn't cancelled yet.
            func isStuck() -> Bool { late.contains { $0.isCancelled && !$0.isOver } }
            try await poll(20) { late.allSatisfy(\.isCancelled) }
            try await poll(for: bench.patience * 100) { !isStuck() }
            if isStuck() {
                return LawViolation(
                    expected: "the call to end, because its task was cancelled before it entered the filter",
                    came: "a call that still waits for its turn after 400 other calls")
            }
        }
        return nil
    }

    /// Allows at most forty minutes by the clock. Advances it by whole minutes, because a filter that holds the call
    /// back may check every millisecond.
    private static func end(of exchange: LawExchange, _ run: LawRun) async throws -> LawTrace.Outcome {
        let call = LawCall(exchange)
        let task = run.launch(call)
        defer { task.cancel() }
        for _ in 0..<40 {
            for _ in 0..<Int(run.patience / .milliseconds(1)) {
                if call.isOver { return call.trace.outcome }
                try await Task.sleep(for: .milliseconds(1))
            }
            run.clock.pass(.seconds(60))
        }
        return call.trace.outcome
    }

    private static func ends(ofCrowdOn run: LawRun) async -> [String] {
        let calls = (0..<200).map { index in
            let url = "\(LawVocabulary.origin)/v1/crowd/\(index)"
            return LawCall(LawExchange(.get, url, replies: [LawReply(delay: .seconds(1))]))
        }
        await run.finish(calls)
        return calls.map { $0.trace.outcome.kind }
    }

    private static func cancelled(_ count: Int, _ run: LawRun) async throws {
        let calls = (0..<count).map { index in
            let url = "\(LawVocabulary.origin)/v1/waiting/\(index)"
            return LawCall(LawExchange(.get, url, replies: [LawReply(delay: .seconds(3_600))]))
        }
        let tasks = calls.map { run.launch($0) }
        try await poll(2_000) { calls.allSatisfy(\.trace.isBegun) }
        // Wait until the filter has sent the calls or holds them back.
        try await poll(20) { calls.allSatisfy(\.trace.isReached) }
        for task in tasks { task.cancel() }
        try await poll(2_000) { calls.allSatisfy(\.isOver) }
    }
}

extension LawReply {
    var isRedirect: Bool { failure == nil && (300..<400).contains(status) && headers.contains(.location) }
}

extension LawExchange {
    /// Adds a failure before the response: a 503 after which an outer filter repeats the call, or a redirect to a host
    /// that can't be reached.
    mutating func interrupt(_ random: inout LawRandom) {
        (isRefused, isDropped, cancellation) = (false, false, nil)
        method = random.pick([.get, .post, .post, .put])
        if case .stream(_, false, _) = body { body = .text("law") }
        if random.isTrue() {
            isRepeated = true
            replies = [LawReply(503), LawReply()]
            return
        }
        redirect(&random)
        replies = [replies[0], LawReply(failure: random.pick([.cannotConnect, .nameLookupFailed])), LawReply()]
    }

    /// Returns a call, and then the same call with a condition of the caller, such as `If-None-Match`. The second call
    /// gets a 304.
    static func conditionalStory(_ random: inout LawRandom) -> [LawExchange] {
        let tag: HTTPHeaders = [.entityTag: "\"law\""]
        let first = LawExchange(.get, randomURL(&random), replies: [LawReply(headers: tag)])
        var second = first
        second.headers = random.pick([[.ifNoneMatch: "\"law\""], [.ifModifiedSince: "Mon, 01 Jan 2001 00:00:00 GMT"]])
        second.replies = [LawReply(304, headers: tag, body: .none)]
        return [first, second]
    }
}
