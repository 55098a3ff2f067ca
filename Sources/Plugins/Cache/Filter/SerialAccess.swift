import ErrandSupport
import Synchronization

/// Serializes changes of data that several entries share, such as the index of a URL.
final class SerialAccess: Sendable {
    /// The tasks that wait for a key in use.
    private let waiting = Mutex<[CacheWriter.Location: FIFOQueue<CheckedContinuation<Void, Never>>]>([:])

    /// Runs one body at a time for each key, in the order of the calls.
    func run<Value: Sendable>(_ location: CacheWriter.Location, _ body: () async -> Value) async -> Value {
        await enter(location)
        defer { leave(location) }
        return await body()
    }

    private func enter(_ location: CacheWriter.Location) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[location] == nil {
                    waiting[location] = FIFOQueue()
                    return true
                }
                waiting[location]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ location: CacheWriter.Location) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            if let next = waiting[location]?.popFirst() { return next }
            waiting[location] = nil
            return nil
        }
        next?.resume()
    }
}
