import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about calls that a filter holds back: after another call failed, and because too many calls run.
extension FilterLaw {
    /// The law that a cancelled call doesn't keep its place in a queue.
    public static let waiting = FilterLaw(
        "waiting", "law: a call that waits because an earlier call failed ends when it's cancelled, and harms no other",
        advice: """
            A wait with `exchange.time.sleep` throws if its task is cancelled: rethrow it, and return in a `defer` \
            whatever the call took. Remove a cancelled call from the queue, and don't hand it a place.
            """,
        share: 2,
        exchanges: { random in
            let method = random.pick([HTTPMethod.get, .get, .post])
            return [
                LawExchange(method, replies: [LawReply(429, headers: [.retryAfter: "30"])]),
                LawExchange(method, replies: [LawReply(503, headers: [.retryAfter: random.pick(["30", "7"])])]),
                LawExchange(method, replies: [random.pick([LawReply(503), LawReply(failure: .connectionLost)])]),
            ]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            for failures in [1, 6] {
                guard let plain = try await Queue(bench, after: exchange, times: failures).course(cancelling: 0) else {
                    continue
                }
                for isFirst in [true, false] {
                    let queue = try await Queue(bench, after: exchange, times: failures)
                    guard let came = try await queue.course(cancelling: 60, isFirst: isFirst) else { continue }
                    let past = "after \(failures) calls with \(exchange.reply(to: 1)), and 60 cancelled calls"
                    if let violation = came.difference(from: plain, past) { return violation }
                }
            }
        }
        return nil
    }

    /// Calls to a host that has failed.
    private struct Queue {
        struct Course {
            /// The number of cancelled calls that don't end.
            var stuck = 0
            /// The number of cancelled calls that are sent nevertheless.
            var late = 0
            var ends: [String: Int] = [:]
            var elapsed = Duration.zero

            func difference(from plain: Course, _ past: String) -> LawViolation? {
                if stuck > 0 {
                    return LawViolation(
                        expected: "the end of a call that is cancelled while it waits, \(past)",
                        came: "\(stuck) calls that still wait")
                }
                if late > 0 {
                    return LawViolation(
                        expected: "no request of a call that is cancelled while it waits, \(past)",
                        came: "\(late) requests")
                }
                if ends != plain.ends {
                    return LawViolation(expected: "\(plain.ends) for eight calls that wait, \(past)", came: "\(ends)")
                }
                if elapsed <= plain.elapsed * 2 + .seconds(5) { return nil }
                return LawViolation(
                    expected: "eight calls that wait to end in \(plain.elapsed), \(past)",
                    came: "they ended after \(elapsed)")
            }
        }

        let run: LawRun
        let method: HTTPMethod

        init(_ bench: LawBench, after exchange: LawExchange, times: Int) async throws {
            run = try bench.subject().run
            method = exchange.method
            for _ in 0..<times { _ = await run.play(exchange) }
        }

        private func calls(_ count: Int, _ name: String) -> [LawCall] {
            (0..<count).map { LawCall(LawExchange(method, "\(LawVocabulary.origin)/v1/\(name)/\($0)")) }
        }

        /// Returns the ends of four calls before and four after others that are cancelled. Returns `nil` if the filter
        /// doesn't hold calls back.
        ///
        /// - Parameter isFirst: Whether the cancelled calls begin before all others.
        func course(cancelling count: Int, isFirst: Bool = false) async throws -> Course? {
            let (early, cancelled) = (calls(4, "early"), calls(count, "cancelled"))
            var others = isFirst ? cancelled.map { run.launch($0) } : []
            if isFirst { try await Task.sleep(for: .milliseconds(2)) }
            let first = early.map { run.launch($0) }
            defer { for task in first + others { task.cancel() } }
            try await poll(20) { early.allSatisfy(\.isSettled) }
            if early.allSatisfy(\.isSettled) { return nil }
            var course = Course()
            let start = run.clock.now
            if !isFirst { others = cancelled.map { run.launch($0) } }
            try await poll(200) { cancelled.allSatisfy(\.trace.isBegun) }
            try await Task.sleep(for: .milliseconds(5))
            let held = cancelled.filter { !$0.isSettled }
            for task in others { task.cancel() }
            try await poll(for: run.patience * 100) { held.allSatisfy(\.isOver) }
            course.stuck = held.count { !$0.isOver }
            if course.stuck > 0 {
                // Ends the waits.
                run.clock.pass(.seconds(86_400))
                return course
            }
            let late = calls(4, "late")
            await run.finish(first + late.map { run.launch($0) }, wakes: 100)
            course.elapsed = start.duration(to: run.clock.now)
            course.late = held.count { $0.trace.isReached }
            for call in early + late { course.ends["\(call.trace.outcome)", default: 0] += 1 }
            return course
        }
    }

    /// The law that a declared limit is kept and reached.
    public static let limits = FilterLaw(
        "limits",
        "law: as many requests run at the same time as the filter's limit allows, and every call has its turn",
        advice: """
            Count up and check the limit under one lock. Return the place in a `defer`, also if `next` throws or the \
            call is cancelled, and hand it to the call that has waited longest.
            """,
        share: 1,
        exchanges: { random in
            let method = random.pick([HTTPMethod.get, .get, .put])
            return [
                LawExchange(method, replies: [LawReply(failure: .connectionLost)]),
                LawExchange(method, replies: [LawReply(failure: .timedOut)]),
                LawExchange(method, isStrict: true, replies: [LawReply(404)]),
                LawExchange(method, isRefused: true),
                LawExchange(method, cancellation: .onTheWire),
                LawExchange(.get, isStreamed: true, isDropped: true, replies: [LawReply(body: .stream(["a", "b"]))]),
                LawExchange(
                    .get,
                    replies: [LawReply(302, headers: [.location: "\(LawVocabulary.origin)/v1/there"]), LawReply()]),
            ]
        }
    ) { bench, exchanges in
        guard let most = try bench.subject().permissions.limit, most > 0 else { return nil }
        if let violation = try await starved(bench, most) { return violation }
        for exchange in exchanges {
            let (run, _) = try bench.subject()
            if let violation = try await unfilled(run, most, "at first") { return violation }
            for index in 0...most {
                var each = exchange
                each.url += "/\(index)"
                _ = await run.play(each)
            }
            // A circuit breaker has closed by then.
            run.clock.pass(.seconds(7_200))
            if let violation = try await unfilled(run, most, "after \(most + 1) calls like \(exchange)") {
                return violation
            }
        }
        let (run, _) = try bench.subject()
        try await cancelWaiting(run, most)
        return try await unfilled(run, most, "after calls that were cancelled while they waited")
    }

    private static func held(_ count: Int, _ name: String, _ gate: Gate) -> [LawCall] {
        (0..<count).map { LawCall(LawExchange(.get, "\(LawVocabulary.origin)/v1/\(name)/\($0)"), heldBy: gate) }
    }

    /// Waits until this many calls have reached the server. The clock may advance by a few seconds.
    private static func reached(_ count: Int, of calls: [LawCall], _ run: LawRun) async throws -> Int {
        func reached() -> Int { calls.count { $0.trace.isReached } }
        for _ in 0..<(200 + 40 * Int(run.patience / .milliseconds(1))) where reached() < count {
            try await Task.sleep(for: .milliseconds(1))
            run.clock.pass(.milliseconds(1))
        }
        // More calls can follow.
        for _ in 0..<10 { try await Task.sleep(for: .milliseconds(1)) }
        return reached()
    }

    private static func unfilled(_ run: LawRun, _ most: Int, _ moment: String) async throws -> LawViolation? {
        let gate = Gate()
        let calls = held(2 * most + 3, "held", gate)
        let tasks = calls.map { run.launch($0) }
        defer {
            gate.open()
            for task in tasks { task.cancel() }
        }
        let count = try await reached(most, of: calls, run)
        if count != most {
            return LawViolation(
                expected: "\(most) of \(calls.count) requests at the same time, \(moment)", came: "\(count)")
        }
        gate.open()
        await run.finish(tasks)
        if run.peak > most {
            return LawViolation(expected: "at most \(most) requests at the same time, \(moment)", came: "\(run.peak)")
        }
        guard let call = calls.first(where: { $0.trace.outcome.kind != "status 200" }) else { return nil }
        return LawViolation(
            expected: "a response to each of \(calls.count) calls, \(moment)", came: "\(call.trace.outcome)")
    }

    /// Cancels calls that wait while as many calls run as the limit allows.
    private static func cancelWaiting(_ run: LawRun, _ most: Int) async throws {
        let gate = Gate()
        let first = held(most, "first", gate)
        let tasks = first.map { run.launch($0) }
        _ = try await reached(most, of: first, run)
        let waiting = held(20, "waiting", gate)
        let others = waiting.map { run.launch($0) }
        try await poll(200) { waiting.allSatisfy(\.trace.isBegun) }
        // Some calls are cancelled just when a place becomes free.
        for task in others.prefix(10) { task.cancel() }
        gate.open()
        for task in others { task.cancel() }
        await run.finish(tasks + others)
    }

    /// A call that waits must have its turn, even if other calls always arrive.
    private static func starved(_ bench: LawBench, _ most: Int) async throws -> LawViolation? {
        let (run, _) = try bench.subject()
        var running: [(LawCall, Gate)] = []
        var tasks: [Task<Void, Never>] = []
        defer {
            for (_, gate) in running { gate.open() }
            for task in tasks { task.cancel() }
        }
        func start(_ name: String) -> LawCall {
            let gate = Gate()
            let call = held(1, name, gate)[0]
            running.append((call, gate))
            tasks.append(run.launch(call))
            return call
        }
        for index in 0..<most { _ = start("first/\(index)") }
        _ = try await reached(most, of: running.map(\.0), run)
        let patient = start("patient")
        try await poll(200) { patient.trace.isBegun }
        try await Task.sleep(for: .milliseconds(10))
        // Several calls wait, so a busy machine doesn't leave only the first one.
        let crowd = (0..<8).map { start("crowd/\($0)") }
        try await poll(200) { crowd.allSatisfy(\.trace.isBegun) }
        try await Task.sleep(for: .milliseconds(10))
        let count = 24
        for index in 0..<count {
            let later = start("later/\(index)")
            try await poll(200) { later.trace.isBegun }
            try await Task.sleep(for: .milliseconds(1))
            guard let next = running.firstIndex(where: { $0.0.trace.isReached }) else { break }
            running.remove(at: next).1.open()
            try await poll(200) { running.count(where: { $0.0.trace.isReached }) >= most }
            if patient.trace.isReached { return nil }
        }
        return LawViolation(
            expected: "a call that waits for its turn to be sent before \(count) calls that began later",
            came: "a call that still waits")
    }
}

extension LawCall {
    /// Whether the filter has sent the call, or the call has ended.
    fileprivate var isSettled: Bool { trace.isReached || isOver }
}
