public import Errand
import ErrandEssentials
import ErrandTransfers

/// A running upload: its events, in order, for one reader. Newer progress replaces progress that the reader has not received
/// yet.
public struct Upload<Output: Sendable>: AsyncSequence, Sendable {
    /// The type of an event.
    public typealias Element = UploadEvent<Output>

    let handle: RequestHandle<Response<Output>>
    let control: UploadControl
    let feed: EventFeed<UploadReport>

    /// The activity of the upload.
    public var activity: Activity { handle.activity }

    /// Closes the connection; the server keeps what it has.
    public func pause() { control.pause() }
    /// Resumes the upload where it was paused.
    public func resume() { control.resume() }
    /// Whether the upload is paused.
    public var isPaused: Bool { control.isPaused }
    /// Cancels the upload.
    public func cancel() { handle.cancel() }

    /// The response, once the upload is complete. Cancelling the task that awaits this does not cancel the upload. Throws
    /// ``UploadError`` and `ErrandError`.
    public var response: Response<Output> {
        get async throws { try await handle.value }
    }

    /// An iterator over the events; make only one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observer: LoopObserver(handle), feed: feed, signals: feed.signals.makeAsyncIterator())
    }

    /// Cancels the upload when the loop over it is left.
    final class LoopObserver: Sendable {
        let handle: RequestHandle<Response<Output>>
        init(_ handle: RequestHandle<Response<Output>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    /// The iterator of the events.
    public struct Iterator: AsyncIteratorProtocol {
        let observer: LoopObserver
        let feed: EventFeed<UploadReport>
        var signals: AsyncStream<Void>.Iterator
        var isOver = false

        /// The next event, ``UploadEvent/finished(_:)`` as the last, then nil. Throws the error of the upload.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> UploadEvent<Output>? {
            if isOver { return nil }
            let handle = observer.handle
            while true {
                if let event = taken() { return event }
                // Cancellation of the task ends the signals only; the upload has to be cancelled too.
                let signal: Void? = await withTaskCancellationHandler {
                    await signals.next(isolation: actor)
                } onCancel: {
                    handle.cancel()
                }
                if signal == nil { break }
            }
            if let event = taken() { return event }
            isOver = true
            return .finished(try await handle.value)
        }

        private func taken() -> UploadEvent<Output>? {
            switch feed.take() {
            case .progress(let progress)?: .progress(progress)
            case .notice(let notice)?: .notice(notice)
            case nil: nil
            }
        }
    }
}
