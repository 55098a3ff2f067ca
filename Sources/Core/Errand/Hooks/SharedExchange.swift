public import ErrandHTTP
import Synchronization

/// A request that is sent once and whose response several calls share.
///
/// A filter calls ``send(_:next:)`` in a separate task. Before it passes the response or the error to a call, it calls
/// ``distribute(to:)``. The exchange ends with the task, and can outlive the activity that began it.
///
/// Checks and work that later filters add belong to all calls. The first call that accepts the response commits the
/// work.
public final class SharedExchange: Sendable {
    private let calls: any ExchangeSharing
    let ledger = CallLedger()
    private let undecided = Atomic(0)
    private let users = Mutex(Users())

    private struct Users {
        var sent: Exchange.Ownership?
        var others: [Exchange.Ownership] = []
        var marks: Set<UserMark>?
    }

    /// Creates an exchange for a group of calls that share it.
    public init(for calls: some ExchangeSharing) { self.calls = calls }

    /// Sends the exchange and returns its response with the body in memory. If the request doesn't accept the status,
    /// keeps at most `maximumErrorBodyBytes`. Throws the errors of `next`, and ``ErrandError/Code/bodyTooLarge``.
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

    /// Adds the checks and staged work of later filters to each call. Call it once, before you pass the response or
    /// error to a call. If no calls are left, discards the staged work.
    public func distribute(to exchanges: @autoclosure () -> [Exchange]) async {
        if share(with: exchanges) { await take(isAccepted: false).discard() }
    }

    /// Adds the checks and the staged work to the calls. Returns whether no call is left.
    @inline(never) private func share(with exchanges: () -> [Exchange]) -> Bool {
        let (checks, hasStagedWork, exchanges) = (ledger.checks, !ledger.sealIfNothingIsStaged(), exchanges())
        let (finalFailureCount, deliveries) = (ledger.finalFailureCount, ledger.possiblyReceivedCount)
        let users = exchanges.contains { $0.isRecordingUsers } ? marks : nil
        undecided.store(exchanges.count, ordering: .releasing)
        for exchange in exchanges {
            if let users { exchange.record?.add(users) }
            for check in checks { exchange.checks.add(check) }
            if finalFailureCount > 0 { exchange.markFailureAsFinal() }
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

    /// Returns the staged work to the first call that accepts the response. If every call rejects the response, the
    /// last of them gets the staged work. All other calls get an empty array.
    private func take(isAccepted: Bool) -> [StagedWork] {
        let isLast = !isAccepted && undecided.subtract(1, ordering: .acquiringAndReleasing).newValue <= 0
        return isAccepted || isLast ? ledger.sealStagedWork() : []
    }
}

extension SharedExchange: UserRecording {
    package func add(_ marks: Set<UserMark>) { users.withLock { $0.marks = $0.marks?.union(marks) ?? marks } }

    func add(_ ownership: Exchange.Ownership) {
        users.withLock { users in
            if users.sent == nil { users.sent = ownership } else { users.others.append(ownership) }
        }
    }

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

/// The group of calls that share a ``SharedExchange``. Implemented by a filter, such as one that coalesces equal
/// requests.
public protocol ExchangeSharing: AnyObject, Sendable {
    /// The latest deadline of the calls, or nil if a call has no deadline. Read repeatedly, because calls can join.
    var deadline: ContinuousClock.Instant? { get }
    /// Receives the transport's events for all calls, on any thread.
    func report(_ event: TransportEvent)
}
