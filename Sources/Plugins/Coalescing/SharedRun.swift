import Errand
import Synchronization

/// One exchange, and the calls that wait for it.
final class SharedRun: Sendable {
    typealias Outcome = Result<HTTPResponse, any Error>

    private struct Call {
        let exchange: Exchange
        var continuation: CheckedContinuation<HTTPResponse, any Error>?
    }

    private struct State {
        /// The call that began the exchange has ticket 0; a dictionary costs an allocation, which most exchanges do
        /// without.
        var first: Call?
        var others: [Int: Call] = [:]
        /// The activities that have joined, each of which waits once.
        var joined: Set<ActivityID> = []
        var lastTicket = 0
        var progress: TransferProgress?
        var task: Task<Void, Never>?
        /// The last call has gone.
        var isAbandoned = false
        /// The exchange is over.
        var isClosed = false
        var outcome: Outcome?

        var exchanges: [Exchange] {
            // Mostly it is alone.
            guard others.isEmpty else { return (first.map { [$0.exchange] } ?? []) + others.values.map(\.exchange) }
            return first.map { [$0.exchange] } ?? []
        }

        subscript(ticket: Int) -> Call? {
            get { ticket == 0 ? first : others[ticket] }
            set { if ticket == 0 { first = newValue } else { others[ticket] = newValue } }
        }

        mutating func remove(_ ticket: Int) {
            if ticket > 0, let call = others[ticket] { joined.remove(call.exchange.activity.id) }
            self[ticket] = nil
        }
    }

    /// The numbers of the exchanges that the current task is a part of. A task may live longer, and numbers keep no
    /// object alive.
    @TaskLocal private static var current: [UInt64] = []
    private static let count = Atomic<UInt64>(0)

    private let number = count.add(1, ordering: .relaxed).newValue
    let key: SharedKey
    /// The activity that began the exchange.
    let leader: ActivityID
    private let state: Mutex<State>

    private init(_ key: SharedKey, _ exchange: Exchange) {
        (self.key, leader) = (key, exchange.activity.id)
        state = Mutex(State(first: Call(exchange: exchange)))
    }

    /// Makes a new one, with the ticket of the call that begins it.
    static func begin(_ key: SharedKey, _ exchange: Exchange) -> (SharedRun, ticket: Int) {
        (SharedRun(key, exchange), 0)
    }

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
        if Self.current.contains(number) { return .within }
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
    func send(_ exchange: Exchange, _ next: Next, of runs: SharedRuns) {
        let outer = Self.current
        // A task begins with the values of its caller.
        let task = Self.$current.withValue(outer.isEmpty ? [number] : outer + [number]) {
            guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
                return Task { @concurrent in await self.run(exchange, next, of: runs) }
            }
            return Task.immediate { @concurrent in await self.run(exchange, next, of: runs) }
        }
        let isAbandoned = state.withLock { state in
            if !state.isClosed { state.task = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    private func run(_ exchange: Exchange, _ next: Next, of runs: SharedRuns) async {
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
        let exchange = state.withLock { $0[ticket]?.exchange }
        let response = try await withTaskCancellationHandler {
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
        // The call joined after the last progress was reported.
        if let exchange, ticket > 0, exchange.reportsProgress, let last = state.withLock({ $0.progress }),
            exchange.activity.progress != last
        {
            exchange.report(.progress(last))
        }
        return response
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
        let exchanges = state.withLock { state in
            state.progress = progress
            return state.exchanges
        }
        for exchange in exchanges where exchange.reportsProgress { exchange.report(event) }
    }
}
