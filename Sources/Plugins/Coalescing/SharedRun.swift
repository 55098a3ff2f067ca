import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

final class SharedRun: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct Call {
        let exchange: Exchange
        var continuation: CheckedContinuation<HTTPResponse, any Error>?
    }

    private struct State {
        /// The call that started the exchange. Most exchanges have no other call, so they don't allocate the
        /// dictionary.
        var first: Call?
        var others: [Int: Call] = [:]
        var joined: Set<ActivityID> = []
        var lastTicket = firstTicket
        var progress: TransferProgress?
        var task: Task<Void, Never>?
        var isAbandoned = false
        var isClosed = false
        var outcome: Outcome?

        var exchanges: [Exchange] {
            if others.isEmpty, let first { return [first.exchange] }
            return (first.map { [$0.exchange] } ?? []) + others.values.map(\.exchange)
        }

        subscript(ticket: Int) -> Call? {
            get { ticket == firstTicket ? first : others[ticket] }
            set { if ticket == firstTicket { first = newValue } else { others[ticket] = newValue } }
        }

        mutating func remove(_ ticket: Int) {
            if let call = others[ticket] { joined.remove(call.exchange.activity.id) }
            self[ticket] = nil
        }
    }

    /// The shared exchanges that a task belongs to, usually only one. They're stored as numbers, because a task may
    /// outlive its exchange and must not keep it alive.
    private struct Parts: Sendable {
        let inner: UInt64
        let outer: [UInt64]
    }

    @TaskLocal private static var current: Parts?
    private static let count = Atomic<UInt64>(0)

    private let number = count.add(1, ordering: .relaxed).newValue
    let exchange: Exchange
    let conditions: SharingConditions
    private let state: Mutex<State>
    static let firstTicket = 0

    init(_ exchange: Exchange, _ conditions: SharingConditions) {
        (self.exchange, self.conditions) = (exchange, conditions)
        state = Mutex(State(first: Call(exchange: exchange)))
    }

    var leader: ActivityID { exchange.activity.id }

    enum Joining {
        case joined(ticket: Int)
        /// The shared exchange's own task sends the request. If the request joined, the exchange would wait for itself.
        case within
        /// The exchange is closed, or the activity already waits for it, for example with another hedged request.
        case none
    }

    func join(_ exchange: Exchange) -> Joining {
        let activity = exchange.activity.id
        if let parts = Self.current, parts.inner == number || parts.outer.contains(number) { return .within }
        let leader = leader
        return state.withLock { state in
            if activity == leader || state.isAbandoned || state.isClosed { return .none }
            guard state.joined.insert(activity).inserted else { return .none }
            state.lastTicket += 1
            state.others[state.lastTicket] = Call(exchange: exchange)
            return .joined(ticket: state.lastTicket)
        }
    }

    /// Starts the task that sends the request, on the caller's thread if the system supports that. The task is
    /// cancelled only when its last call is cancelled.
    func send(_ next: Next, of runs: SharedRuns) {
        let parts = Parts(inner: number, outer: Self.current.map { [$0.inner] + $0.outer } ?? [])
        // The task inherits this value, by which `join` recognizes requests that the exchange itself sends.
        let task = Self.$current.withValue(parts) {
            guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
                return Task { @concurrent in await self.run(next, of: runs) }
            }
            return Task.immediate { @concurrent in await self.run(next, of: runs) }
        }
        let isAbandoned = state.withLock { state in
            if !state.isClosed { state.task = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    private func run(_ next: Next, of runs: SharedRuns) async {
        let shared = SharedExchange(for: self)
        let outcome: Outcome
        do { outcome = .success(try await shared.send(exchange, next: next)) } catch { outcome = .failure(error) }
        close(in: runs)
        await shared.distribute(to: state.withLock { $0.exchanges })
        end(outcome)
    }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    func response(for ticket: Int, of runs: SharedRuns) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            // Whoever resumes the continuation first removes it from the state.
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    guard state[ticket] != nil else { return .failure(CancellationError()) }
                    state[ticket]?.continuation = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            leave(ticket, of: runs)
        }
    }

    func reportProgress(to joined: Exchange) {
        guard joined.reportsProgress, let last = state.withLock({ $0.progress }), joined.activity.progress != last
        else { return }
        joined.report(.progress(last))
    }

    private func leave(_ ticket: Int, of runs: SharedRuns) {
        let (call, task, isLast) = state.withLock { state -> (Call?, Task<Void, Never>?, Bool) in
            guard state.outcome == nil, let call = state[ticket] else { return (nil, nil, false) }
            state.remove(ticket)
            guard state.first == nil, state.others.isEmpty else { return (call, nil, false) }
            state.isAbandoned = true
            return (call, state.task, true)
        }
        if isLast {
            runs.remove(self)
            task?.cancel()
        }
        call?.continuation?.resume(throwing: CancellationError())
        withExtendedLifetime(call) {}
    }

    // Kept out of line: inlining these functions would enlarge their callers' async frames.

    @inline(never) private func close(in runs: SharedRuns) {
        runs.remove(self)
        let task = state.withLock { state in
            defer { (state.isClosed, state.task) = (true, nil) }
            return state.task
        }
        withExtendedLifetime(task) {}
    }

    @inline(never) private func end(_ outcome: Outcome) {
        var first: Call?
        var others: [Int: Call] = [:]
        state.withLock { state in
            swap(&first, &state.first)
            if !state.others.isEmpty { swap(&others, &state.others) }
            state.outcome = outcome
        }
        first?.continuation?.resume(with: outcome)
        for call in others.values { call.continuation?.resume(with: outcome) }
    }
}

extension SharedRun: ExchangeSharing {
    var deadline: ContinuousClock.Instant? {
        let exchanges = state.withLock { $0.exchanges }
        let deadlines = exchanges.compactMap(\.deadline)
        return deadlines.count == exchanges.count ? deadlines.max() : nil
    }

    /// Reports progress to every call, and other events only to the call that started the exchange.
    func report(_ event: TransportEvent) {
        guard case .progress(let progress) = event else {
            return state.withLock({ $0.first?.exchange })?.report(event) ?? ()
        }
        let (first, others) = state.withLock { state in
            state.progress = progress
            return (state.first?.exchange, state.others.isEmpty ? [] : state.others.values.map(\.exchange))
        }
        if let first, first.reportsProgress { first.report(event) }
        for exchange in others where exchange.reportsProgress { exchange.report(event) }
    }
}

extension SharedRun: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(conditions.hash) }

    static func == (a: SharedRun, b: SharedRun) -> Bool { a === b || a.equals(b) }

    private func equals(_ other: SharedRun) -> Bool {
        guard conditions.hash == other.conditions.hash, conditions.common == other.conditions.common else {
            return false
        }
        let (one, two) = (exchange, other.exchange)
        let (mine, others) = (one.http, two.http)
        return mine.urlText.hasSameBytes(as: others.urlText) && mine.method == others.method
            && conditions.rule == other.conditions.rule
            && conditions.rule.haveSameFields(mine.headers, others.headers) && Self.areEqual(mine.body, others.body)
            && one.timeout == two.timeout && one.isTrusted == two.isTrusted
            && one.tags.haveSameEffect(as: two.tags) && one.userMarks == two.userMarks
            && (!conditions.common.hasFilters || Self.haveSameDemands(one.request, two.request))
            && (one.stage != .call || one.request.redirects == two.request.redirects)
    }

    private static func areEqual(_ one: RequestBody, _ two: RequestBody) -> Bool {
        one.isNone == two.isNone
            && (one.isNone || one.data == two.data && (one.contentType ?? "").hasSameBytes(as: two.contentType ?? ""))
    }

    /// Returns whether later filters, such as a retry, judge responses to the two requests in the same way.
    private static func haveSameDemands(_ one: any Request, _ two: any Request) -> Bool {
        type(of: one) == type(of: two) && one.acceptableStatuses == two.acceptableStatuses
            && one.acceptableContentTypes == two.acceptableContentTypes
            && one.checks.map(\.name) == two.checks.map(\.name)
            && one.outcomeCheck?.name == two.outcomeCheck?.name
    }
}
