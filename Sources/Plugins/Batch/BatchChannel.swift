import ErrandSupport
import Synchronization

/// Passes results from the workers to one reader. A worker waits while `limit` results are unread.
final class BatchChannel<Part: Sendable>: Sendable {
    typealias Element = (index: Int, result: Result<Part, any Error>)

    private struct State {
        var unread = FIFOQueue<Element>()
        var isClosed = false
        var reader: CheckedContinuation<Element?, Never>?
        var writers = WaitingQueue<CheckedContinuation<Void, Never>>()

        /// The next result, if any, and the worker that can continue.
        mutating func next(_ limit: Int) -> (Element?, CheckedContinuation<Void, Never>?) {
            let element = unread.popFirst()
            return (element, unread.count < limit ? writers.popFirst() : nil)
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Adds a result and waits for room, so the worker doesn't start another part too early. Returns early if the task
    /// is cancelled.
    func put(_ element: Element) async {
        let (reader, id) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, UInt64?) in
            if state.isClosed { return (nil, nil) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, nil)
            }
            state.unread.append(element)
            return (nil, state.unread.count < limit ? nil : state.writers.nextNumber())
        }
        reader?.resume(returning: element)
        guard let id else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    if Task.isCancelled || state.isClosed || state.unread.count < limit { return false }
                    state.writers.append(continuation, id)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.writers.remove(id) }?.resume()
        }
    }

    func poll() -> Element? {
        let (element, writer) = state.withLock { $0.next(limit) }
        writer?.resume()
        return element
    }

    /// `nil` once the channel is closed and all results are read. Supports one reader at a time.
    func take() async -> Element? {
        await withCheckedContinuation { continuation in
            let (element, isWaiting, writer) = state.withLock {
                state -> (Element?, Bool, CheckedContinuation<Void, Never>?) in
                if state.unread.isEmpty, !state.isClosed, state.reader == nil {
                    state.reader = continuation
                    return (nil, true, nil)
                }
                let (element, writer) = state.next(limit)
                return (element, false, writer)
            }
            writer?.resume()
            if !isWaiting { continuation.resume(returning: element) }
        }
    }

    /// Rejects further results. Unread results stay available.
    func close() {
        let (reader, writers) = state.withLock { state in
            state.isClosed = true
            defer { state.reader = nil }
            return (state.reader, state.writers.removeAll())
        }
        reader?.resume(returning: nil)
        for writer in writers { writer.resume() }
    }
}
