public import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// Fails, waits or returns, as a case demands. A closure of the filter under test calls it. See
/// ``FilterConformance/closureCases(for:samples:knownLimitations:within:gracePeriod:)``.
public final class ConformanceClosure: Sendable {
    enum Behavior: Sendable { case succeeds, fails, cancels, waits(Gate) }

    private struct State: Sendable {
        var calls = 0
        var running = 0
        var behavior = Behavior.succeeds
    }

    private let state = Watched(State())
    /// The error that the closure throws.
    let error = BenchFault()

    init() {}

    var calls: Int { state.read { $0.calls } }
    var running: Int { state.read { $0.running } }
    func become(_ behavior: Behavior) { state.update { $0.behavior = behavior } }

    /// Call this first in a closure that can wait, such as one that refreshes a token. Returns the number of the call.
    /// If the closure renews a value, put the number into the value, so each call returns another value:
    ///
    /// ```swift
    /// let token: (ConformanceClosure) async throws -> String = { "token-\(try await $0())" }
    /// ```
    @discardableResult
    public func callAsFunction() async throws -> Int {
        let (behavior, number) = try begin()
        if case .waits(let gate) = behavior {
            state.update { $0.running += 1 }
            defer { state.update { $0.running -= 1 } }
            try await gate.wait(within: .seconds(3_600))
        }
        return number
    }

    /// Call this first in a closure that can't wait, such as one that transforms a request. It only fails.
    public func throwIfFailing() throws { _ = try begin() }

    private func begin() throws -> (Behavior, number: Int) {
        let (behavior, number) = state.update { state in
            state.calls += 1
            return (state.behavior, state.calls)
        }
        switch behavior {
        case .fails: throw error
        case .cancels: throw CancellationError()
        case .succeeds, .waits: return (behavior, number)
        }
    }
}

extension FilterConformance {
    /// Returns the cases for a filter that calls a closure of the app, for example for a token, a key or a changed
    /// request. In these cases, the closure fails, is cancelled, or doesn't end.
    ///
    /// ```swift
    /// FilterConformance.closureCases(for: { closure in
    ///     .closure { exchange, next in
    ///         try await closure()
    ///         return try await next(exchange)
    ///     }
    /// })
    /// ```
    ///
    /// The filter may send a request despite the failure. Otherwise, the caller must receive the closure's error, or an
    /// error that contains the closure's error.
    ///
    /// - Parameters:
    ///   - make: Creates a filter whose closure first calls the ``ConformanceClosure``.
    ///   - samples: Exchanges in which the filter calls the closure. By default, the cases try a GET, a POST, a 401 and
    ///     a 503.
    ///   - limitations: Cases that don't apply. See ``KnownLimitation/named(_:because:)``.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    ///   - gracePeriod: How long a call may continue after its cancellation. Defaults to 30 seconds.
    public static func closureCases(
        for make: @escaping @Sendable (ConformanceClosure) throws -> any Filter, samples: [LawExchange] = [],
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        ClosureDraft.all.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) {
                try await draft.body(ClosureBench(make: make, samples: samples, gracePeriod: gracePeriod))
            }
        }.excusing(limitations, within: limit)
    }
}

private struct ClosureBench: Sendable {
    let make: @Sendable (ConformanceClosure) throws -> any Filter
    let samples: [LawExchange]
    let gracePeriod: Duration

    private var exchanges: [LawExchange] {
        let all = [
            LawExchange(), LawExchange(.post, body: .text("law")), LawExchange(replies: [LawReply(401), LawReply()]),
            LawExchange(replies: [LawReply(503), LawReply()]),
        ]
        return samples.isEmpty ? all : samples
    }

    /// A filter with its closure, and an exchange in which it calls the closure.
    struct Subject: Sendable {
        let run: LawRun
        let closure: ConformanceClosure
        let exchange: LawExchange

        func call(_ path: String = "") -> LawCall {
            var each = exchange
            each.url += path
            return LawCall(each)
        }
    }

    /// The exchange for which a new filter calls its closure.
    func exchange() async throws -> LawExchange {
        for exchange in exchanges {
            let subject = try subject(exchange)
            _ = await subject.run.play(exchange)
            if subject.closure.calls > 0 { return exchange }
        }
        throw ConformanceFailure(
            expected: "a filter that calls its closure for one of \(exchanges.count) exchanges",
            came: "no call of the closure: pass an exchange in `samples:`")
    }

    func subject(_ exchange: LawExchange) throws -> Subject {
        let closure = ConformanceClosure()
        let filters = FilterBench(make: { [make] in try make(closure) }, secrets: [], gracePeriod: gracePeriod)
        let run = LawRun(try filters.make(), patience: .milliseconds(5), bench: filters)
        return Subject(run: run, closure: closure, exchange: exchange)
    }

    /// Returns whether a condition becomes true within the grace period.
    func becomes(_ isSo: () -> Bool) async throws -> Bool { try await poll(for: gracePeriod, until: isSo) }

    /// A later call must succeed, and so must a crowd.
    func expectGood(_ subject: Subject, after past: String) async throws {
        subject.closure.become(.succeeds)
        // A filter may spare a closure that failed for some time.
        subject.run.clock.pass(.seconds(7_200))
        let calls = (0..<24).map { subject.call("/good/\($0)") }
        let first = subject.call("/good")
        await subject.run.finish([first])
        await subject.run.finish(calls)
        for call in [first] + calls where !call.trace.outcome.isSuccess {
            throw ConformanceFailure(
                expected: "a response to a later call, after \(past)", came: "\(call.trace.outcome)")
        }
    }

    func expectCause(_ outcome: LawTrace.Outcome, _ closure: ConformanceClosure) throws {
        guard let error = outcome.error else { return }
        if contains(error, closure.error) { return }
        if (error as? ErrandError)?.response != nil { return }
        throw ConformanceFailure(
            expected: "the closure's error, or an error that contains it, such as in `underlying`",
            came: "\(type(of: error)): \(error)")
    }

    /// Whether a value is or contains the error, such as an error of the filter in one of its properties.
    private func contains(_ value: Any, _ error: BenchFault, depth: Int = 0) -> Bool {
        if value as? BenchFault === error { return true }
        if let known = value as? ErrandError, let cause = known.underlying { return contains(cause, error) }
        return depth < 5 && Mirror(reflecting: value).children.contains { contains($0.value, error, depth: depth + 1) }
    }
}

private struct ClosureDraft: Sendable {
    let name: String
    let body: @Sendable (ClosureBench) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (ClosureBench) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }

    static let all: [ClosureDraft] = [
        ClosureDraft("the error of a closure reaches the caller, and the next call works") { bench in
            let subject = try bench.subject(try await bench.exchange())
            for isFirst in [true, false] {
                subject.closure.become(.fails)
                let call = subject.call(isFirst ? "/first" : "/second")
                await subject.run.finish([call])
                try expectEnd(of: call, "a call whose closure fails")
                try bench.expectCause(call.trace.outcome, subject.closure)
                try await bench.expectGood(subject, after: "the closure failed")
            }
        },
        ClosureDraft("a call works after a closure has failed in hundreds of calls") { bench in
            let subject = try bench.subject(try await bench.exchange())
            subject.closure.become(.fails)
            for round in 0..<3 {
                let calls = (0..<80).map { subject.call("/\(round)/\($0)") }
                await subject.run.finish(calls)
                for call in calls { try expectEnd(of: call, "one of 80 calls whose closure fails") }
            }
            try await bench.expectGood(subject, after: "the closure failed in 240 calls")
        },
        ClosureDraft("a closure that throws a cancellation by itself ends the call, and the next call works") { bench in
            let subject = try bench.subject(try await bench.exchange())
            for index in 0..<12 {
                subject.closure.become(.cancels)
                let call = subject.call("/\(index)")
                await subject.run.finish([call])
                try expectEnd(of: call, "a call whose closure throws CancellationError")
            }
            try await bench.expectGood(subject, after: "the closure threw CancellationError")
        },
        ClosureDraft("a cancelled call ends while its closure waits, and doesn't end other calls") { bench in
            let exchange = try await bench.exchange()
            for cancelled in [0, 3] {
                let subject = try bench.subject(exchange)
                let gate = Gate()
                subject.closure.become(.waits(gate))
                let (calls, tasks) = try await waiting(bench, subject)
                defer { for task in tasks { task.cancel() } }
                // A closure that can't wait has already returned.
                if calls.allSatisfy(\.isOver) { return }
                tasks[cancelled].cancel()
                let hasEnded = try await bench.becomes { calls[cancelled].isOver }
                if !hasEnded {
                    gate.open()
                    throw ConformanceFailure(
                        expected: "the end of call \(cancelled + 1), which was cancelled while its closure waits",
                        came: "a call that still waits: use `withTaskCancellationHandler`")
                }
                subject.closure.become(.succeeds)
                gate.open()
                await subject.run.finish(tasks)
                for (index, call) in calls.enumerated() where index != cancelled {
                    if call.trace.outcome.isSuccess { continue }
                    throw ConformanceFailure(
                        expected: "a response to call \(index + 1), after call \(cancelled + 1) was cancelled",
                        came: "\(call.trace.outcome)")
                }
                try await bench.expectGood(subject, after: "a call was cancelled while its closure waited")
            }
        },
        ClosureDraft("if a closure fails for several calls that wait for it, all of them end") { bench in
            let subject = try bench.subject(try await bench.exchange())
            let gate = Gate()
            subject.closure.become(.waits(gate))
            let (calls, tasks) = try await waiting(bench, subject)
            defer { for task in tasks { task.cancel() } }
            subject.closure.become(.fails)
            gate.open()
            await subject.run.finish(tasks)
            for call in calls { try expectEnd(of: call, "one of several calls that wait for a closure") }
            try await bench.expectGood(subject, after: "the closure failed for several calls")
        },
        ClosureDraft("calls that need a new value at the same time call the closure once for all of them") { bench in
            let renewal = Renewal(exchange: try await bench.exchange(), patience: .milliseconds(10)) {
                let subject = try bench.subject(LawExchange())
                let closure = subject.closure
                return Renewal.Subject(run: subject.run, work: { closure.calls }) { gate in
                    closure.become(gate.map { .waits($0) } ?? .succeeds)
                }
            }
            guard let violation = try await renewal.violation() else { return }
            throw ConformanceFailure(
                expected: violation.expected, came: violation.came, details: "\(FilterLaw.renewal.advice)\n")
        },
        ClosureDraft("a deadline ends a call whose closure doesn't end, and the call's tasks end") { bench in
            let exchange = try await bench.exchange()
            let subject = try bench.subject(exchange)
            let gate = Gate()
            subject.closure.become(.waits(gate))
            var late = exchange
            late.deadline = .seconds(5)
            let call = LawCall(late)
            let trail = try await FilterDraft.followed {
                let task = subject.run.launch(call)
                defer { task.cancel() }
                _ = try await bench.becomes { call.isOver || subject.closure.running > 0 }
                for _ in 0..<10 where !call.isOver {
                    try await Task.sleep(for: .milliseconds(2))
                    subject.run.clock.pass(.seconds(1))
                }
                _ = try await bench.becomes { call.isOver }
            }
            let isEnded = call.isOver
            subject.closure.become(.succeeds)
            gate.open()
            if !isEnded {
                throw ConformanceFailure(
                    expected: "the end of a call after its deadline", came: "a call that still waits")
            }
            let isGone = try await bench.becomes { trail.mark == nil }
            if !isGone {
                throw ConformanceFailure(expected: "no task of the call after its closure has ended", came: "a task")
            }
            try await bench.expectGood(subject, after: "a deadline ended a call whose closure waited")
        },
    ]

    private static func expectEnd(of call: LawCall, _ what: String) throws {
        if call.isOver, !call.trace.isEndless { return }
        throw ConformanceFailure(expected: "the end of \(what)", came: "a call that doesn't end")
    }

    /// Starts six calls that wait for the closure, or for each other.
    private static func waiting(
        _ bench: ClosureBench, _ subject: ClosureBench.Subject
    ) async throws -> ([LawCall], [Task<Void, Never>]) {
        var (calls, tasks): ([LawCall], [Task<Void, Never>]) = ([], [])
        for index in 0..<6 {
            let call = subject.call("/waiting/\(index)")
            calls.append(call)
            tasks.append(subject.run.launch(call))
            // The first call calls the closure, so the others find it waiting.
            if index == 0 { _ = try await bench.becomes { call.isOver || subject.closure.running > 0 } }
        }
        try await poll(200) { calls.allSatisfy(\.trace.isBegun) }
        for _ in 0..<10 { try await Task.sleep(for: .milliseconds(1)) }
        return (calls, tasks)
    }
}
