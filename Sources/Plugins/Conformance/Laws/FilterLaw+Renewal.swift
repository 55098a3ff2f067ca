import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// The law about the extra work of a filter for calls that a server refuses, such as a request for a new token.
extension FilterLaw {
    /// The law that calls that are refused at the same time lead to one renewal.
    public static let renewal = FilterLaw(
        "renewal", "law: calls that a server refuses at the same time lead to one renewal",
        advice: """
            Keep the running renewal, such as its task, under a lock, and let the other calls wait for it. A call that \
            was sent before a renewal and is refused after it is only sent again, with the new value. Many servers end \
            a session if a refresh token is used twice.
            """,
        share: 5,
        exchanges: { random in
            let method = random.pick([HTTPMethod.get, .get, .put])
            let refused = LawReply(random.pick([401, 401, 403, 407, 419]), headers: [.wwwAuthenticate: "Bearer"])
            return [LawExchange(method, LawExchange.randomURL(&random), replies: [refused, LawReply()])]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            let renewal = Renewal(exchange: exchange, patience: bench.patience) {
                let run = try bench.subject().run
                return Renewal.Subject(run: run, work: { run.ownRequests }, hold: { run.holdOwnRequests(by: $0) })
            }
            if let violation = try await renewal.violation() { return violation }
        }
        return nil
    }
}

/// Counts the extra work that a filter does for refused calls: calls of a closure, or requests that aren't the call's.
struct Renewal {
    /// A new filter in a run.
    struct Subject {
        let run: LawRun
        /// How often the filter has done its extra work.
        let work: @Sendable () -> Int
        /// Holds the extra work back until the gate opens. `nil` lets it pass.
        let hold: @Sendable (Gate?) -> Void
    }

    /// The number of concurrent calls.
    static let crowd = 5

    let exchange: LawExchange
    let patience: Duration
    let subject: () throws -> Subject

    init(exchange: LawExchange, patience: Duration, subject: @escaping () throws -> Subject) {
        (self.exchange, self.patience, self.subject) = (exchange, patience, subject)
    }

    func violation() async throws -> LawViolation? {
        let first = try await first(1)
        // A filter whose calls all need the extra work doesn't renew anything.
        if first.later > 0 { return nil }
        if first.work > 0, try await excess(over: first.work, { try await self.first(Self.crowd).work }) {
            return violation("begin", first.work, "five calls that begin at the same time")
        }
        for status in statuses {
            let one = try await refused(with: status, 1)
            if one.work == 0 { continue }
            // A filter may do something for each failure, for example report it.
            if try await refused(with: 503, 1).work > 0 { continue }
            if try await excess(over: one.work, { try await refused(with: status, Self.crowd).work }) {
                return violation("are refused", one.work, "five calls that get a \(status) at the same time")
            }
            // Without a new value, the filter can't know that another call has renewed it.
            guard one.isRenewed else { continue }
            let late = try await refused(with: status, Self.crowd, isOneByOne: true)
            if late.isRenewed, late.work > one.work {
                return LawViolation(
                    expected: "\(one.work) renewals for five calls that are sent with the same value, and get a "
                        + "\(status) one after the other",
                    came: "\(late.work)")
            }
        }
        return nil
    }

    private func violation(_ verb: String, _ expected: Int, _ calls: String) -> LawViolation {
        LawViolation(
            expected: "\(expected) renewals, such as calls of a closure or requests for a token, for \(calls)",
            came: "more, in each of three rounds")
    }

    private var statuses: [Int] {
        let own = exchange.reply(to: 1)
        let isRefusal = own.failure == nil && own.status >= 400 && own.status != 503
        return isRefusal && own.status != 401 ? [own.status, 401] : [401]
    }

    /// Whether there is too much work in each of three rounds. On a busy machine, a call can come too late for a
    /// renewal.
    private func excess(over most: Int, _ work: () async throws -> Int) async throws -> Bool {
        for _ in 0..<3 where try await work() <= most { return false }
        return true
    }

    private func call(_ path: String, _ replies: [LawReply], heldBy gate: Gate? = nil) -> LawCall {
        var each = LawExchange(
            exchange.method, exchange.url, headers: exchange.headers, tags: exchange.tags, replies: replies)
        if case .stream = exchange.body {} else { each.body = exchange.body }
        let parts = LawTarget.parts(each.url)
        each.url = "\(parts.path)/\(path)\(parts.query)"
        return LawCall(each, heldBy: gate)
    }

    /// Counts the work for the first calls of a filter, and for a later one.
    private func first(_ count: Int) async throws -> (work: Int, later: Int) {
        let (subject, gate) = (try subject(), Gate())
        subject.hold(gate)
        let calls = (0..<count).map { call("first/\($0)", [LawReply()]) }
        let tasks = calls.map { subject.run.launch($0) }
        try await poll(200) { calls.allSatisfy(\.trace.isBegun) }
        try await pause()
        subject.hold(nil)
        gate.open()
        await subject.run.finish(tasks)
        let work = subject.work()
        await subject.run.finish([call("later", [LawReply()])])
        return (work, subject.work() - work)
    }

    /// Counts the work for calls that get a status, and then a 200.
    private func refused(
        with status: Int, _ count: Int, isOneByOne: Bool = false
    ) async throws -> (work: Int, isRenewed: Bool) {
        let subject = try subject()
        // The filter has its first value before the calls begin.
        await subject.run.finish([call("good", [LawReply()])])
        let before = subject.work()
        let refusal = LawReply(status, headers: exchange.reply(to: 1).headers)
        let gates = (0..<count).map { _ in Gate() }
        let calls = (0..<count).map { call("\($0)", [refusal, LawReply()], heldBy: gates[$0]) }
        let tasks = calls.map { subject.run.launch($0) }
        try await poll(200) { calls.allSatisfy(\.trace.isReached) }
        if isOneByOne {
            for (gate, task) in zip(gates, tasks) {
                gate.open()
                await subject.run.finish([task])
            }
        } else {
            let gate = Gate()
            subject.hold(gate)
            for gate in gates { gate.open() }
            try await poll(200) { calls.allSatisfy { $0.trace.sends.first?.status != nil } }
            try await pause()
            subject.hold(nil)
            gate.open()
            await subject.run.finish(tasks)
        }
        let isRenewed = calls.allSatisfy { call in
            let sends = call.trace.sends.filter { $0.http.url.path == call.trace.sends[0].http.url.path }
            return call.trace.outcome.isSuccess && sends.count > 1 && sends[0].image != sends[1].image
        }
        return (subject.work() - before, isRenewed)
    }

    /// Waits until calls that can go on have done so.
    private func pause() async throws {
        for _ in 0..<Int(patience * 2 / .milliseconds(1)) { try await Task.sleep(for: .milliseconds(1)) }
    }
}
