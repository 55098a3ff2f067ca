import Synchronization

/// Lets one task at a time change what several entries share, such as the index of a URL.
final class SerialPlaces: Sendable {
    /// Who waits for a place that is taken.
    private let waiting = Mutex<[CacheWriter.Place: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs a body alone for a place, in the order of arrival.
    func run<Value: Sendable>(_ place: CacheWriter.Place, _ body: () async -> Value) async -> Value {
        await enter(place)
        defer { leave(place) }
        return await body()
    }

    private func enter(_ place: CacheWriter.Place) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[place] == nil {
                    waiting[place] = []
                    return true
                }
                waiting[place]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ place: CacheWriter.Place) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard let queue = waiting[place], !queue.isEmpty else {
                waiting[place] = nil
                return nil
            }
            return waiting[place]?.removeFirst()
        }
        next?.resume()
    }
}
