import Errand
import ErrandEssentials
import Synchronization

extension OutboxEngine {
    func deliver(_ entry: StoredEntry, _ delivery: DeliveryRecord) async {
        var call = options.call
        call.tags[OutboxEntry.self] = delivery.entry
        call.label = call.label ?? entry.name
        do {
            try await agent.run(.outbox, options: call) {
                try await self.carryOut(entry.id, delivery: delivery, activity: $0)
            }
        } catch {
            // The delivery failed without an outcome, for example because the log couldn't be read or the agent was
            // shut down.
            if !delivery.isSettled { delay(entry.id, after: error, delivery: delivery) }
        }
        if let change = delivery.takeUnwritten() {
            delivery.waitToWrite()
            await write(change, of: entry.id)
        }
        ended(entry.id)
    }

    /// Stores the outcome of a delivery. If the disk fails, ``deliver(_:_:)`` stores the outcome later, so the entry
    /// isn't sent again, and the handler isn't asked again. An edit that doesn't fit stops the lane instead.
    private func record(
        _ change: OutboxChange, of id: UInt64, delivery: DeliveryRecord, activity: Activity
    ) async throws {
        delivery.settle()
        do { try await commit(change) } catch {
            if error.isOfContent { stop(id, error) } else { delivery.keep(change) }
            let next = error.isOfContent ? "stops its lane" : "will be retried"
            activity.note(
                "outbox", "storing the outcome of entry \(id) failed and \(next): \(error.briefDescription)")
            throw error
        }
    }

    /// Repeats a failed write until it succeeds or the outbox closes. Until then, the other entries in the lane aren't
    /// sent. This runs outside the activity, because `cancelAll` must not end it.
    @concurrent private func write(_ change: OutboxChange, of id: UInt64) async {
        var failures = 0
        while true {
            do throws(OutboxError) {
                // Tries once even after the outbox was closed, because the change is lost otherwise.
                try await commit(change)
                return state.withLock { $0.queue.wasRecorded(id) }
            } catch {
                if error.isOfContent { return stop(id, error) }
                state.withLock { $0.queue.isUnrecorded(id, error: error.briefDescription) }
            }
            if Task.isCancelled { return }
            pump()
            failures += 1
            let wait = min(options.backoff.delay(afterFailures: failures), Self.longestRecordWait)
            // Closing the outbox or removing the entry cancels this wait. The loop then tries a last time.
            try? await time.sleep(until: time.instant(after: max(wait, .milliseconds(10))))
        }
    }

    private static let longestRecordWait = Duration.seconds(30)

    @concurrent private func carryOut(_ id: UInt64, delivery: DeliveryRecord, activity: Activity) async throws {
        // From here on, a newer entry can't replace this entry, because the value that is read next is sent to the
        // server.
        if state.withLock({ $0.queue.entries[id].map { $0.replacementKey != nil && !$0.isBegun } }) == true {
            try await commit(.mark(.begun, id))
            delivery.begin()
        }
        guard let (entry, value) = try value(of: id) else {
            return try await lose(id, delivery: delivery, activity: activity)
        }
        let refusal = Refusing(entry: entry, value: value, delivery: delivery, activity: activity)
        guard let type = types[entry.name] else { return try await refuse(.unknownType, refusal) }
        let request: any OutboxRequest
        do { request = try type.decode(value) } catch {
            return try await refuse(.decodingFailed, refusal, error: error)
        }
        if entry.isOrphaned { return try await refuse(.dependencyLost, refusal, request: request) }
        if let expiry = entry.expiry, expiry <= time.date {
            return try await refuse(.expired, refusal, request: request)
        }
        do {
            let filter = OutboxFilter(key: entry.key.uuidString.lowercased(), delivery: delivery)
            func send() async throws {
                let options = CallOptions(filters: [filter]).pinned(to: pin(for: entry))
                try await type.deliver(request, shown(entry), activity.agent(on: agent), options)
            }
            do { try await send() } catch
                where error.failureOfUser != nil && delivery.possiblyReceivedCount == 0 && forgetPin(of: entry)
            {
                // The user's session may have ended. The same user may have signed in again since, so the entry is sent
                // once more.
                try await send()
            }
        } catch {
            if error.isCancellation { throw error }
            if isPassing(error) {
                // If this write fails, the only effect is that newer entries don't replace this entry.
                if delivery.hasBegun, delivery.possiblyReceivedCount == 0 {
                    _ = try? await commit(.mark(.released, id))
                }
                delay(id, after: error, delivery: delivery)
                activity.note("outbox", "entry \(id) waits: \(error.briefDescription)")
            } else {
                try await refuse(
                    error.failureOfUser == .userChanged ? .userChanged : .failed, refusal, request: request,
                    error: error)
            }
            throw error
        }
        state.withLock { $0.queue.reachedServer() }
        try await record(.mark(.sent, id), of: id, delivery: delivery, activity: activity)
    }

    private func lose(_ id: UInt64, delivery: DeliveryRecord, activity: Activity) async throws {
        guard let length = state.withLock({ $0.queue.entries[id]?.extent.length }) else { return }
        let damage = OutboxDamage(entry: OutboxEntry.ID(rawValue: id), byteCount: length)
        state.withLock { $0.report(damage) }
        activity.note("outbox", "entry \(id) is damaged", details: damage)
        try await record(.remove(id), of: id, delivery: delivery, activity: activity)
    }

    private func isPassing(_ error: any Error) -> Bool {
        if (error as? any RequestFailure)?.isRetryable == true || options.repeatsError?(error) == true { return true }
        let codes: Set<ErrandError.Code> = [
            .deadlineExceeded, .insecureConnection, .transportFailed, .transportUnavailable, .activityEnded,
        ]
        return (error as? ErrandError).map { codes.contains($0.code) } ?? false
    }

    private func delay(
        _ id: UInt64, after error: (any Error)?, delivery: DeliveryRecord, atLeast floor: Duration = .zero
    ) {
        delivery.settle()
        // Closing the outbox cancels the delivery, but isn't a failure of the delivery.
        if error?.isCancellation == true, state.withLock({ $0.isClosed }) { return }
        let headers = (error as? any RequestFailure)?.response?.headers
        let asked = headers?.retryAfter(from: time.date, upTo: .seconds(3600))
        let least = max(floor.bounded, asked ?? .zero)
        let failures = state.withLock { $0.queue.failures(of: id) }
        let end = time.instant(after: options.backoff.delay(afterFailures: failures + 1, atLeast: least))
        state.withLock { state in
            state.queue.delay(
                id, until: end, error: error?.briefDescription,
                reachedNoServer: error?.reachedNoServer == true)
        }
    }

    private struct Refusing {
        let entry: StoredEntry
        let value: Data
        let delivery: DeliveryRecord
        let activity: Activity
    }

    private func refuse(
        _ reason: OutboxRefusal.Reason, _ refused: Refusing, request: (any OutboxRequest)? = nil,
        error: (any Error)? = nil
    ) async throws {
        let (id, entry) = (refused.entry.id, refused.entry)
        let refusal = OutboxRefusal(
            entry: shown(entry), reason: reason, request: request, value: refused.value, error: error)
        let decision = await decide(refusal)
        let text = error.map { ": \($0.briefDescription)" } ?? ""
        refused.activity.note("outbox", "entry \(id) was refused (\(reason)\(text)); the decision: \(decision.name)")
        if refusal.response != nil { state.withLock { $0.queue.reachedServer() } }
        switch decision {
        case .drop: try await record(.remove(id), of: id, delivery: refused.delivery, activity: refused.activity)
        case .edit(let request):
            let edited: NewEntry
            do { edited = try newEntry(request, []) } catch {
                stop(id, error)
                refused.delivery.settle()
                throw error
            }
            try await record(.edit(id, edited), of: id, delivery: refused.delivery, activity: refused.activity)
        case .retry(let wait): delay(id, after: error, delivery: refused.delivery, atLeast: wait)
        case .stop:
            stop(id, error)
            refused.delivery.settle()
            // The server refused the only attempt without processing it, so a newer entry may replace this entry.
            if refused.delivery.hasBegun, refused.delivery.possiblyReceivedCount <= 1,
                let status = refusal.response?.status, (400..<500).contains(status)
            {
                _ = try? await commit(.mark(.released, id))
            }
        }
        refused.delivery.settle()
    }

    private func stop(_ id: UInt64, _ error: (any Error)?) {
        state.withLock { $0.queue.stop(id, error: error?.briefDescription) }
    }
}

extension OutboxDecision {
    fileprivate var name: String {
        switch self {
        case .drop: "drop"
        case .edit: "edit"
        case .retry: "retry"
        case .stop: "stop"
        }
    }
}

final class DeliveryRecord: Sendable {
    let entry: OutboxEntry
    private let deliveries = Atomic(0)
    private let begun = Atomic(false)
    private let settled = Atomic(false)
    private let waitsToWrite = Atomic(false)
    private let unwritten = Mutex<OutboxChange?>(nil)

    init(_ entry: OutboxEntry) { self.entry = entry }

    var possiblyReceivedCount: Int { deliveries.load(ordering: .relaxed) }
    /// Whether this is the first delivery of a replaceable entry that may reach a server.
    var hasBegun: Bool { begun.load(ordering: .relaxed) }
    var isSettled: Bool { settled.load(ordering: .relaxed) }

    /// Whether the delivery ends soon. It's false while the delivery waits for the disk to store the outcome.
    var isEnding: Bool { isSettled && !waitsToWrite.load(ordering: .relaxed) }

    func begin() { begun.store(true, ordering: .relaxed) }
    func settle() { settled.store(true, ordering: .relaxed) }
    func waitToWrite() { waitsToWrite.store(true, ordering: .relaxed) }
    func keep(_ change: OutboxChange) { unwritten.withLock { $0 = change } }
    func takeUnwritten() -> OutboxChange? {
        unwritten.withLock { change in
            defer { change = nil }
            return change
        }
    }
    func count(_ possible: Int) { deliveries.store(possible, ordering: .relaxed) }
}

/// Sets the `Idempotency-Key` header to the entry's key, unless the request itself sets this header. Replaces a key
/// that another filter has set.
struct OutboxFilter: Filter {
    let key: String
    let delivery: DeliveryRecord

    var stages: FilterStages { .call }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !exchange.request.headers.contains(.idempotencyKey) {
            exchange.http.headers.set(.idempotencyKey, "\"\(key)\"")
        }
        defer { delivery.count(exchange.possiblyReceivedCount) }
        return try await next(exchange)
    }
}
