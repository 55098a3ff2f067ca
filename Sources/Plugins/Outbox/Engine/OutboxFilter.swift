import Errand
import Synchronization

/// The outcome of one delivery.
final class DeliveryRecord: Sendable {
    let entry: OutboxEntry
    private let deliveries = Atomic(0)
    private let begun = Atomic(false)
    private let settled = Atomic(false)
    /// The decided change that the disk hasn't taken yet.
    private let unwritten = Mutex<OutboxChange?>(nil)

    init(_ entry: OutboxEntry) { self.entry = entry }

    /// How many times a server may have received the request.
    var possibleDeliveries: Int { deliveries.load(ordering: .relaxed) }
    /// Whether no delivery before this one may have reached a server; of replaceable entries only.
    var hasBegun: Bool { begun.load(ordering: .relaxed) }
    /// Whether it is decided what happens to the entry next.
    var isSettled: Bool { settled.load(ordering: .relaxed) }

    func begin() { begun.store(true, ordering: .relaxed) }
    func settle() { settled.store(true, ordering: .relaxed) }
    func keep(_ change: OutboxChange) { unwritten.withLock { $0 = change } }
    /// The change that is still to be written; the next call returns nil.
    func takeUnwritten() -> OutboxChange? {
        unwritten.withLock { change in
            defer { change = nil }
            return change
        }
    }
    func count(_ possible: Int) { deliveries.store(possible, ordering: .relaxed) }
}

/// Sets the key of an entry, instead of one that another filter has made, and counts what may have reached a server. A
/// key of the request's own stays.
struct OutboxFilter: Filter {
    let key: String
    let delivery: DeliveryRecord

    var stages: FilterStages { .call }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !exchange.request.headers.contains(.idempotencyKey) {
            exchange.http.headers.set(.idempotencyKey, "\"\(key)\"")
        }
        defer { delivery.count(exchange.possibleDeliveries) }
        return try await next(exchange)
    }
}
