#if os(Linux) || os(Android)
import ErrandEssentials

/// Work that the holder of the driver lock defers until it releases the lock.
///
/// Resuming a task runs its executor's `enqueue`, cancelling a task runs its handlers, and releasing a transfer can
/// deallocate the caller's objects. Each of these can take a while. They are deferred, so a resumed task finds the lock
/// free.
struct DeferredWork: ~Copyable {
    enum Item {
        case head(Transfer.Waiter)
        case chunk(Transfer.Reader, Data)
        case room(Resumption<Void, Never>)
        case spent(Data)
        case end(End)
        case bytes(Transfer.Reader, Result<Data?, any Error>)
        /// A connection without a request is open, has sent the awaited bytes, or has failed.
        case progress(Transfer.Waiter, (any Error)?)
        case release(Transfer)
        case leave(CurlConnection)
    }

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

    /// Moves the work to another value. The lists are swapped, so both values keep their memory.
    mutating func move(to other: inout DeferredWork) {
        if !items.isEmpty { swap(&items, &other.items) }
    }

    /// Runs the deferred work. Call this without the driver lock.
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
