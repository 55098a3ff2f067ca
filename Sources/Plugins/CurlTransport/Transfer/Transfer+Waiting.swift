#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import Synchronization

// The functions of a transfer that run outside the loop.
extension Transfer {
    func wait(_ waiter: Waiter) {
        let isCancelled = shared.withLock { shared in
            if !shared.isCancelled { shared.waiter = waiter }
            return shared.isCancelled
        }
        if isCancelled { return waiter.resume(throwing: Self.cancelled) }
        loop.start(self)
    }

    var isCancelled: Bool { shared.withLock { $0.isCancelled } }

    /// Cancels the transfer. A waiting task resumes before the loop stops the transfer. Call this from any thread.
    func cancel() { end(with: Self.cancelled) }

    private func end(with error: ErrandError) {
        let (waiter, reader, wasOver) = shared.withLock { shared in
            defer { (shared.waiter, shared.reader, shared.isCancelled) = (nil, nil, true) }
            if shared.failure == nil { shared.failure = error }
            return (shared.waiter, shared.reader, shared.isCancelled || shared.isOver)
        }
        waiter?.resume(throwing: error)
        reader?.resume(throwing: error)
        upload.stop()
        if !wasOver { loop.submit(.stop(self)) }
    }

    enum Found {
        case chunk(Data)
        case end
        case nothing
    }

    func take() throws -> Found {
        let instant = usesLoopClock ? nil : options.time.now
        let (found, isToResume) = try shared.withLock { shared throws(ErrandError) -> (Found, Bool) in
            if shared.isCancelled { throw shared.failure ?? Self.cancelled }
            if shared.buffer.count > 0 {
                let chunk = shared.buffer.take()
                let isToResume = shared.isPaused && shared.buffer.count <= Self.lowWater
                if isToResume { shared.isPaused = false }
                if shared.buffer.count == 0 {
                    shared.emptied = Nanoseconds.now
                    if let instant { shared.lastActivity = instant }
                }
                return (.chunk(chunk), isToResume)
            }
            if let failure = shared.failure { throw failure }
            return (shared.isOver ? .end : .nothing, false)
        }
        if isToResume { loop.submit(.resume(self)) }
        return found
    }

    func read(_ reader: Reader) {
        do {
            let found: Found? = shared.withLock { shared in
                let isQuiet = shared.buffer.count == 0 && shared.failure == nil
                guard isQuiet && !shared.isOver && !shared.isCancelled else { return nil }
                shared.reader = reader
                return .nothing
            }
            if found != nil { return }
            switch try take() {
            case .chunk(let data): reader.resume(returning: data)
            case .end, .nothing: reader.resume(returning: nil)
            }
        } catch {
            reader.resume(throwing: error)
        }
    }
}
#endif
