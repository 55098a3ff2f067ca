public import Errand

/// The results of a batch as they finish, each with its index in the batch.
///
/// ```swift
/// for try await (index, result) in agent.results(of: Batch(photos, maximumConcurrent: 4, policy: .collectAll)) {
///     show(try? result.get().value, at: index)
/// }
/// ```
///
/// Each loop starts a new run and doesn't start another part while `maximumConcurrent` results are unread. Leaving
/// the loop, or cancelling its task, cancels the batch. With `.failFast` the loop throws the first failure as
/// ``BatchError``; with `.firstSuccess` it ends after the first success.
public struct BatchResults<Part: Sendable>: AsyncSequence, Sendable {
    /// The index of a part, from 0, and its result.
    public typealias Element = (index: Int, result: Result<Part, any Error>)

    let begin: @Sendable () -> (BatchChannel<Part>, RequestHandle<Void>)

    /// Starts the batch. When this returns, accessories have received `willStart`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }

    /// Reads the results of one run. Use it in one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let sending: Sending

        init(_ begun: (BatchChannel<Part>, RequestHandle<Void>)) { sending = Sending(begun.0, begun.1) }

        /// The handle of the running batch, with its activity and progress.
        public var handle: RequestHandle<Void> { sending.handle }

        /// Returns the next result, or `nil` after the last one.
        public mutating func next() async throws -> Element? { try await sending.next() }

        /// Returns the next result, or `nil` after the last one.
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
            // Read an available result directly, without a suspension that could be cancelled.
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
