public import Errand
import ErrandCollections
import ErrandSupport
import Synchronization

/// A sequence of the results of a batch, in the order in which parts finish. Each result comes with the part's index.
///
/// ```swift
/// for try await (index, result) in agent.results(of: Batch(photos, maximumConcurrent: 4, policy: .collectAll)) {
///     show(try? result.get().value, at: index)
/// }
/// ```
///
/// Each loop starts a new run of the batch. The batch doesn't start further parts while `maximumConcurrent` results
/// wait for the loop. Leaving the loop or cancelling its task cancels the batch.
///
/// With the policy `.failFast`, the loop throws the first failure as ``BatchError``. With `.firstSuccess`, the loop
/// ends after the first success.
public struct BatchResults<Part: Sendable>: AsyncSequence, Sendable {
    /// A part's index, from 0, and its result.
    public typealias Element = (index: Int, result: Result<Part, any Error>)

    let begin: @Sendable () -> (BatchChannel<Part>, RequestHandle<Void>)

    /// Starts a run and returns an iterator over its results. The accessories' will-start callbacks run before this
    /// method returns.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }

    /// Reads the results of one run. Use it in one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let sending: Sending

        init(_ begun: (BatchChannel<Part>, RequestHandle<Void>)) { sending = Sending(begun.0, begun.1) }

        /// The handle of the running batch, with its activity and progress.
        public var handle: RequestHandle<Void> { sending.handle }

        /// Returns the next result, or `nil` after the last one.
        public mutating func next() async throws -> Element? { try await sending.next() }

        /// Returns the next result on the caller's actor, or `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await sending.next()
        }
    }

    /// Cancels the batch when the last iterator is released.
    private final class Sending: Sendable {
        private let channel: BatchChannel<Part>
        let handle: RequestHandle<Void>

        init(_ channel: BatchChannel<Part>, _ handle: RequestHandle<Void>) {
            (self.channel, self.handle) = (channel, handle)
        }

        deinit { handle.cancel() }

        func next() async throws -> Element? {
            // If a result is available, returns it without suspending. While suspended, a cancellation would drop the
            // result.
            if !Task.isCancelled, let element = channel.poll() { return element }
            let element = await withTaskCancellationHandler {
                await channel.take()
            } onCancel: {
                handle.cancel()
            }
            if element == nil { try await handle.value }
            return element
        }
    }
}

extension Agent {
    /// Returns the results of a batch as its parts finish. See ``BatchResults``.
    public func results<Part, Success>(
        of batch: Batch<Part, Success>, options: CallOptions = CallOptions()
    ) -> BatchResults<Part> {
        BatchResults {
            let channel = BatchChannel<Part>(limit: batch.maximumConcurrent)
            let closing = Completion<Void> { _, _ in channel.close() }
            let handle = start(
                running: StreamedBatch(batch: batch, channel: channel), options: options, completion: closing)
            return (channel, handle)
        }
    }
}

private struct StreamedBatch<Part: Sendable, Success: Sendable>: Composite {
    let batch: Batch<Part, Success>
    let channel: BatchChannel<Part>

    var activityKind: ActivityKind { .batch }
    var activityLabel: String? { batch.label }

    func run(on agent: ScopedAgent) async throws {
        try await BatchRun(batch, on: agent, channel: channel).carryOut()
    }
}

/// A queue that passes results from the workers to one reader. Workers wait while it contains `limit` unread results.
final class BatchChannel<Part: Sendable>: Sendable {
    typealias Element = (index: Int, result: Result<Part, any Error>)

    private struct State {
        var unread = FIFOQueue<Element>()
        var isClosed = false
        var reader: CheckedContinuation<Element?, Never>?
        var writers = WaitingQueue<CheckedContinuation<Void, Never>>()

        mutating func next(_ limit: Int) -> (Element?, CheckedContinuation<Void, Never>?) {
            let element = unread.popFirst()
            return (element, unread.count < limit ? writers.popFirst() : nil)
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Adds a result, and waits until there is room for another result, so the worker doesn't start its next part too
    /// early. Returns early if the task is cancelled.
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

    /// Returns the next result, and waits for it if necessary. Only one reader at a time can wait.
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
