#if os(Linux) || os(Android)
import ErrandEssentials

/// The work that the holder of the driver lock defers until the lock is released.
///
/// Resuming a task runs the `enqueue` of its executor, cancelling one runs its handlers, and releasing the last
/// reference to a transfer ends objects of the user: all of that may take its time. A task that wakes after the lock is
/// released also finds the lock free.
struct Outbox: ~Copyable {
    enum Item {
        /// The head of the response was received.
        case head(Transfer.Waiter)
        /// A chunk of a body was received.
        case chunk(Transfer.Reader, Data)
        /// A source of a request's body may continue.
        case room(Resumption<Void, Never>)
        /// Bytes of a request's body that libcurl has copied.
        case spent(Data)
        case end(End)
        /// A connection without a request has bytes, or none ever.
        case bytes(Transfer.Reader, Result<Data?, any Error>)
        /// Such a connection stands, or has sent what was waited for, or will not.
        case progress(Transfer.Waiter, (any Error)?)
        /// The loop no longer needs it.
        case release(Transfer)
        case leave(CurlConnection)
    }

    /// The end of a transfer.
    struct End {
        let transfer: Transfer
        var waiter: Transfer.Waiter?
        var reader: Transfer.Reader?
        var chunk: Data?
        var failure: (any Error)?
        var watch: Task<Void, Never>?
    }

    private var items: [Item] = []

    mutating func add(_ item: Item) {
        if items.isEmpty { items.reserveCapacity(Self.usualItems) }
        items.append(item)
    }

    /// Both keep their memory, if there is anything to move: the other one is empty.
    mutating func move(to other: inout Outbox) {
        if !items.isEmpty { swap(&items, &other.items) }
    }

    /// Does the deferred work, without the driver lock.
    mutating func deliver() {
        if items.isEmpty { return }
        for item in items { Self.deliver(item) }
        items.removeAll(keepingCapacity: items.capacity <= Self.keptItems)
    }

    private static let usualItems = 16
    private static let keptItems = 1024

    static func deliver(_ item: Item) {
        switch item {
        case .head(let waiter): waiter.resume()
        case .chunk(let reader, let data): reader.resume(returning: data)
        case .room(let room): room.resume()
        case .end(let end): deliver(end)
        case .bytes(let reader, .success(let data)): reader.resume(returning: data)
        case .bytes(let reader, .failure(let error)): reader.resume(throwing: error)
        case .progress(let waiter, nil): waiter.resume()
        case .progress(let waiter, let error?): waiter.resume(throwing: error)
        case .spent, .release, .leave: break
        }
    }

    private static func deliver(_ end: End) {
        end.watch?.cancel()
        if let failure = end.failure {
            end.waiter?.resume(throwing: failure)
            if let chunk = end.chunk {
                end.reader?.resume(returning: chunk)
            } else {
                end.reader?.resume(throwing: failure)
            }
        } else {
            end.waiter?.resume()
            end.reader?.resume(returning: end.chunk)
        }
    }
}
#endif
