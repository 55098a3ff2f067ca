public import ErrandHTTP
import Synchronization

/// One pass of the rest of the way that several calls share; for a filter that hands one response to several.
///
/// The filter sends it in a task of its own, with ``send(_:next:)``, and calls ``hand(to:)`` before any of the calls gets
/// the response or the failure.
///
/// The exchange goes on after the activity that it was begun by is over; it ends with the task that sends it. What filters
/// further on add to the call, checks and staged work, belongs to all: the first call whose response is accepted commits
/// what was staged.
public final class SharedExchange: Sendable {
    private struct State {
        var checks: [ResponseCheck] = []
        var staged: [StagedWork] = []
        /// The calls that may still commit.
        var open = 0
        var finalFailures = 0
        var deliveries = 0
    }

    private let calls: any ExchangeSharing
    private let state = Mutex(State())
    private let users = UserRecord()

    /// Makes one for some calls.
    public init(for calls: some ExchangeSharing) { self.calls = calls }

    /// Sends the exchange on, and returns its response with the body in memory. Throws what `next` throws, and
    /// ``ErrandError/Code/bodyTooLarge``.
    public func send(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange.with { ($0.shared, $0.record) = (self, users) })
        if response.body.data == nil {
            response.body = HTTPBody(
                try await response.body.collect(upTo: exchange.settings.configuration.maximumBodyBytes))
        }
        return response
    }

    /// Gives each call its part in what filters further on have added; once, when the response or the failure is there and
    /// before a call gets it. Where there is no call left, what was staged is discarded.
    public func hand(to exchanges: @autoclosure () -> [Exchange]) async {
        let state = state.withLock { $0 }
        let users = users.marks ?? []
        if users.isEmpty, state.checks.isEmpty, state.staged.isEmpty, state.finalFailures == 0, state.deliveries == 0 {
            return
        }
        let exchanges = exchanges()
        self.state.withLock { $0.open = exchanges.count }
        for exchange in exchanges {
            exchange.record?.add(users)
            for check in state.checks { exchange.checks.add(check) }
            if state.finalFailures > 0 { exchange.declareFailureFinal() }
            if state.deliveries > 0 { exchange.addDeliveries(state.deliveries) }
            if state.staged.isEmpty { continue }
            exchange.whenAccepted {
                for work in self.take(isAccepted: true) { await work.commit() }
            } otherwise: {
                for work in self.take(isAccepted: false) { await work.discard() }
            }
        }
        if exchanges.isEmpty {
            for work in take(isAccepted: false) { await work.discard() }
        }
    }

    /// All that is staged: for the first that accepts, or for the last that does not.
    private func take(isAccepted: Bool) -> [StagedWork] {
        state.withLock { state in
            if !isAccepted { state.open -= 1 }
            guard isAccepted || state.open <= 0 else { return [] }
            defer { state.staged = [] }
            return state.staged
        }
    }
}

extension SharedExchange: TransportObserver {
    var isObserved: Bool { true }
    func report(_ event: TransportEvent, isMeasured: Bool) { calls.report(event) }
    var deadline: ContinuousClock.Instant? { calls.deadline }

    var checks: [ResponseCheck] { state.withLock { $0.checks } }
    func add(_ check: ResponseCheck) {
        let old = state.withLock { state in
            let old = state.checks
            state.checks = old.filter { $0.name != check.name } + [check]
            return old
        }
        withExtendedLifetime(old) {}
    }
    func stage(_ work: StagedWork) { state.withLock { $0.staged.append(work) } }

    var finalFailures: Int { state.withLock { $0.finalFailures } }
    func declareFailureFinal() { state.withLock { $0.finalFailures += 1 } }

    var possibleDeliveries: Int { state.withLock { $0.deliveries } }
    func addDeliveries(_ count: Int) { state.withLock { $0.deliveries += count } }
}

/// The calls that share an exchange, for ``SharedExchange``.
public protocol ExchangeSharing: AnyObject, Sendable {
    /// When the last of them ends; nil where one has no deadline. Asked again and again.
    var deadline: ContinuousClock.Instant? { get }
    /// Receives what the transport reports; from any thread.
    func report(_ event: TransportEvent)
}
