public import Errand

/// The results of a batch as they finish, each with its index in the batch.
///
/// ```swift
/// for try await (index, result) in agent.results(of: Batch(photos, maximumConcurrent: 4, policy: .collectAll)) {
///     show(try? result.get().value, at: index)
/// }
/// ```
///
/// Each iteration is a run of its own. It starts no part while `maximumConcurrent` results are unread. Leaving the loop, and
/// cancelling the task that iterates, cancels the batch. With `.failFast` the first failure is thrown, as
/// ``BatchError``, and with `.firstSuccess` the loop ends after the first success.
public struct BatchResults<Part: Sendable>: AsyncSequence, Sendable {
    /// The index of a part, from 0, and its result.
    public typealias Element = (index: Int, result: Result<Part, any Error>)

    let begin: @Sendable () -> (BatchChannel<Part>, RequestHandle<Void>)

    /// Starts the batch; accessories have received will-start when it returns.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }

    /// Reads the results of one run; for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let sending: Sending

        init(_ begun: (BatchChannel<Part>, RequestHandle<Void>)) { sending = Sending(begun.0, begun.1) }

        /// The handle of the running batch: its activity, its progress, its end.
        public var handle: RequestHandle<Void> { sending.handle }

        /// The next result; nil after the last.
        public mutating func next() async throws -> Element? { try await sending.next() }

        /// The next result; nil after the last.
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
            // A result that is ready is read without a wait that could be cancelled.
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
