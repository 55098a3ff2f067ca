import Errand
import ErrandSupport
import Synchronization

/// One exchange, and the calls that wait for it.
final class SharedRun: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct Call {
        let exchange: Exchange
        var continuation: CheckedContinuation<HTTPResponse, any Error>?
    }

    private struct State {
        /// The call that began the exchange; a dictionary costs an allocation, which most exchanges do without.
        var first: Call?
        var others: [Int: Call] = [:]
        /// The activities that have joined, each of which waits once.
        var joined: Set<ActivityID> = []
        var lastTicket = firstTicket
        var progress: TransferProgress?
        var task: Task<Void, Never>?
        /// The last call has gone.
        var isAbandoned = false
        /// The exchange is over.
        var isClosed = false
        var outcome: Outcome?

        var exchanges: [Exchange] {
            // Mostly it is alone.
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

    /// The numbers of the exchanges that a task is a part of, mostly one. A task may live longer, and numbers keep no
    /// object alive.
    private struct Parts: Sendable {
        let inner: UInt64
        let outer: [UInt64]
    }

    @TaskLocal private static var current: Parts?
    private static let count = Atomic<UInt64>(0)

    private let number = count.add(1, ordering: .relaxed).newValue
    /// That of the call that begins it.
    let exchange: Exchange
    let way: SharedWay
    private let state: Mutex<State>
    /// The ticket of the call that begins it.
    static let firstTicket = 0

    init(_ exchange: Exchange, _ way: SharedWay) {
        (self.exchange, self.way) = (exchange, way)
        state = Mutex(State(first: Call(exchange: exchange)))
    }

    /// The activity that began the exchange.
    var leader: ActivityID { exchange.activity.id }

    enum Joining {
        case joined(ticket: Int)
        /// The request is a part of the exchange.
        case within
        /// The request is too late, or is a second one of an activity that waits for the exchange, such as that of a
        /// hedge.
        case none
    }

    /// Adds one more call.
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

    /// Sends the exchange in a task that only its last call cancels. It begins on the thread of its caller where the system
    /// allows that.
    func send(_ next: Next, of runs: SharedRuns) {
        let parts = Parts(inner: number, outer: Self.current.map { [$0.inner] + $0.outer } ?? [])
        // A task begins with the values of its caller.
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

    /// The result of the exchange; nil until it is over.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Waits for the result of the exchange for one call; throws `CancellationError` as soon as the call is cancelled.
    func response(for ticket: Int, of runs: SharedRuns) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            // What resumes it takes it out of the state first.
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

    /// Reports the last progress to a call that joined after it was reported.
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

    // What follows does not wait, and is kept out of the frames of functions that do.

    /// No further request joins.
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
    /// The latest deadline of the calls; nil where one has none.
    var deadline: ContinuousClock.Instant? {
        let exchanges = state.withLock { $0.exchanges }
        let deadlines = exchanges.compactMap(\.deadline)
        return deadlines.count == exchanges.count ? deadlines.max() : nil
    }

    /// Progress is reported to every call; other events belong to the call that began the exchange.
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

/// What makes a request equal to others, beside itself.
struct SharedWay: Sendable {
    let common: CommonWay
    let rule: CoalescingRule
    /// Computed once: each exchange is looked up, added and removed. Covers little of a request, so that one with nothing
    /// to join costs little.
    let hash: Int

    /// Nil where the request is not shared.
    init?(_ exchange: Exchange, _ request: HTTPRequest, _ next: Next, _ filterRule: CoalescingRule) {
        let tags = exchange.tags
        rule = tags[CoalescingRule.self] ?? filterRule
        guard rule.shares, exchange.delivery == .data, request.body.data != nil, let common = next.commonWay,
            !tags[LiveStream.self],
            // Where a tag's values cannot be compared, the request equals none, itself included.
            tags.haveSameEffect(as: tags)
        else { return nil }
        self.common = common
        var hasher = Hasher()
        hasher.combine(request.urlText)
        // Many users may request one URL at once.
        if let credentials = request.headers[.authorization] { hasher.combine(credentials) }
        hash = hasher.finalize()
    }
}

/// Two are equal if what they send is.
extension SharedRun: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(way.hash) }

    static func == (a: SharedRun, b: SharedRun) -> Bool { a === b || a.equals(b) }

    private func equals(_ other: SharedRun) -> Bool {
        guard way.hash == other.way.hash, way.common == other.way.common else { return false }
        let (one, two) = (exchange, other.exchange)
        let (mine, others) = (one.http, two.http)
        return mine.urlText.hasSameBytes(as: others.urlText) && mine.method == others.method
            && way.rule == other.way.rule
            && way.rule.haveSameFields(mine.headers, others.headers) && Self.areEqual(mine.body, others.body)
            && one.timeout == two.timeout && one.isTrusted == two.isTrusted
            && one.tags.haveSameEffect(as: two.tags) && one.userMarks == two.userMarks
            && (!way.common.hasFilters || Self.haveSameDemands(one.request, two.request))
            && (one.stage != .call || one.request.redirects == two.request.redirects)
    }

    private static func areEqual(_ one: RequestBody, _ two: RequestBody) -> Bool {
        one.isNone == two.isNone
            && (one.isNone || one.data == two.data && (one.contentType ?? "").hasSameBytes(as: two.contentType ?? ""))
    }

    /// Whether filters that follow judge responses alike for both, such as a retry.
    private static func haveSameDemands(_ one: any Request, _ two: any Request) -> Bool {
        type(of: one) == type(of: two) && one.acceptableStatuses == two.acceptableStatuses
            && one.acceptableContentTypes == two.acceptableContentTypes
            && one.checks.map(\.name) == two.checks.map(\.name)
            && one.outcomeCheck?.name == two.outcomeCheck?.name
    }
}
