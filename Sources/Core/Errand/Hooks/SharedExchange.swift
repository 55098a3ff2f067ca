public import ErrandHTTP
import Synchronization

/// One pass of the rest of the way that several calls share; for a filter that hands one response to several.
///
/// The filter sends it in a task of its own, with ``send(_:next:)``, and calls ``distribute(to:)`` before any of the
/// calls gets the response or the failure.
///
/// The exchange goes on after the activity that it was begun by is over; it ends with the task that sends it. What
/// filters further on add to the call, checks and staged work, belongs to all: the first call whose response is
/// accepted commits what was staged.
public final class SharedExchange: Sendable {
    private let calls: any ExchangeSharing
    /// Collects for all calls what filters further on add.
    let ledger = CallLedger()
    /// The number of calls that may still commit.
    private let undecided = Atomic(0)
    /// Whose requests were sent.
    private let users = Mutex(Users())

    private struct Users {
        var sent: Exchange.Ownership?
        var others: [Exchange.Ownership] = []
        var marks: Set<UserMark>?
    }

    /// Makes one for some calls.
    public init(for calls: some ExchangeSharing) { self.calls = calls }

    /// Sends the exchange on, and returns its response with the body in memory; of a status that the request does not
    /// accept as much as an error keeps. Throws what `next` throws, and ``ErrandError/Code/bodyTooLarge``.
    public func send(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(shared(exchange))
        if response.body.data != nil { return response }
        if !exchange.request.acceptableStatuses.contains(response.status) {
            return await response.bounded(
                by: BodyAllowance(
                    bytes: exchange.settings.maximumErrorBodyBytes, timeout: exchange.timeout, time: exchange.time))
        }
        response.body = HTTPBody(try await response.body.collect(upTo: exchange.settings.maximumBodyBytes))
        return response
    }

    @inline(never) private func shared(_ exchange: Exchange) -> Exchange {
        exchange.with { ($0.record, $0.shared) = (nil, self) }
    }

    /// Gives each call its part in what filters further on have added; once, when the response or the failure is there
    /// and before a call gets it. Where no call is left, staged work is discarded.
    public func distribute(to exchanges: @autoclosure () -> [Exchange]) async {
        if share(with: exchanges) { await take(isAccepted: false).discard() }
    }

    /// Whether no call is left for what is staged.
    @inline(never) private func share(with exchanges: () -> [Exchange]) -> Bool {
        let (checks, hasStagedWork, exchanges) = (ledger.checks, !ledger.sealIfNothingIsStaged(), exchanges())
        let (finalFailures, deliveries) = (ledger.finalFailures, ledger.possibleDeliveries)
        let users = exchanges.contains { $0.isRecordingUsers } ? marks : nil
        undecided.store(exchanges.count, ordering: .releasing)
        for exchange in exchanges {
            if let users { exchange.record?.add(users) }
            for check in checks { exchange.checks.add(check) }
            if finalFailures > 0 { exchange.declareFailureFinal() }
            if deliveries > 0 { exchange.addDeliveries(deliveries) }
            if !hasStagedWork { continue }
            exchange.whenAccepted {
                await self.take(isAccepted: true).commit()
            } otherwise: {
                await self.take(isAccepted: false).discard()
            }
        }
        return exchanges.isEmpty
    }

    /// All staged work: for the first call that accepts the response, or for the last one that does not.
    private func take(isAccepted: Bool) -> [StagedWork] {
        let isLast = !isAccepted && undecided.subtract(1, ordering: .acquiringAndReleasing).newValue <= 0
        return isAccepted || isLast ? ledger.sealStagedWork() : []
    }
}

extension SharedExchange: UserRecording {
    package func add(_ marks: Set<UserMark>) { users.withLock { $0.marks = $0.marks?.union(marks) ?? marks } }

    /// A request was sent.
    func add(_ ownership: Exchange.Ownership) {
        users.withLock { users in
            if users.sent == nil { users.sent = ownership } else { users.others.append(ownership) }
        }
    }

    /// The marks of all requests that were sent; nil if none was sent.
    private var marks: Set<UserMark>? {
        let users = users.withLock { $0 }
        guard let sent = users.sent else { return users.marks }
        return users.others.reduce(sent.marks.union(users.marks ?? [])) { $0.union($1.marks) }
    }
}

extension SharedExchange: TransportObserver {
    var isObserved: Bool { true }
    func report(_ event: TransportEvent, isMeasured: Bool) { calls.report(event) }
    var deadline: ContinuousClock.Instant? { calls.deadline }
}

/// The calls that share an exchange, for ``SharedExchange``.
public protocol ExchangeSharing: AnyObject, Sendable {
    /// When the last of them ends; nil where one has no deadline. Asked again and again.
    var deadline: ContinuousClock.Instant? { get }
    /// Receives what the transport reports; from any thread.
    func report(_ event: TransportEvent)
}
