import ErrandEssentials
import Synchronization

/// A body whose first bytes are read before it has a reader.
final class ReadAhead: HTTPBodySource, StoppableWork {
    private let body: HTTPBody
    private let beginning: Beginning
    /// Returns whether the body ended within the bytes read ahead.
    private let reading: Task<Bool, any Error>
    /// The response's head and first body bytes, for errors. Doesn't include the bytes read ahead.
    let evidence: BodyEvidence?

    init(_ body: HTTPBody, upTo limit: Int) {
        let beginning = Beginning(limit: limit)
        evidence = body.reader?.evidence
        (self.body, self.beginning) = (body, beginning)
        reading = Task { @concurrent in
            defer { beginning.stop() }
            while let chunk = try await body.nextChunk() {
                if !beginning.add(chunk) { return false }
            }
            beginning.end()
            return true
        }
    }

    /// Stops reading ahead. Keeps the chunk that is being read for the reader.
    func stop() { beginning.stop() }

    func stopped() async { await beginning.stopped() }

    var whole: Data? { beginning.whole }

    func nextChunk() async throws -> Data? {
        if let data = beginning.take() { return data }
        let isWhole = try await withTaskCancellationHandler {
            // Return received bytes before an error. The next call throws the error.
            do { return try await reading.value } catch {
                if !beginning.isEmpty { return false }
                throw error
            }
        } onCancel: {
            body.cancel()
        }
        if let data = beginning.take() { return data }
        return isWhole ? nil : try await body.nextChunk()
    }

    func cancel() { body.cancel() }
}

private final class Beginning: Sendable {
    private struct State {
        var data = Data()
        var isStopped = false
        var isWhole = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { state.withLock { $0.data.isEmpty } }

    var whole: Data? { state.withLock { $0.isWhole ? $0.data : nil } }

    func add(_ chunk: Data) -> Bool {
        state.withLock { state in
            state.data.append(chunk)
            return !state.isStopped && state.data.count <= limit
        }
    }

    func take() -> Data? {
        state.withLock { state in
            defer { state.data = Data() }
            return state.data.isEmpty ? nil : state.data
        }
    }

    func end() { state.withLock { $0.isWhole = !$0.isStopped } }

    func stop() {
        let waiter = state.withLock { state in
            state.isStopped = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func stopped() async {
        await withCheckedContinuation { continuation in
            let isStopped = state.withLock { state in
                if !state.isStopped { state.waiter = continuation }
                return state.isStopped
            }
            if isStopped { continuation.resume() }
        }
    }
}
