public import Errand
public import ErrandEssentials
import ErrandTransfers

/// A running download: its events, in order, for one reader. Newer progress replaces progress that the reader has not
/// received yet.
public struct Download: AsyncSequence, Sendable {
    /// The type of an event.
    public typealias Element = DownloadEvent

    let handle: RequestHandle<Response<URL>>
    let control: DownloadControl
    let feed: EventFeed<DownloadEvent>

    /// The activity of the download.
    public var activity: Activity { handle.activity }

    /// Closes the connections and keeps the received bytes.
    public func pause() { control.pause() }
    /// Resumes the download where it was paused.
    public func resume() { control.resume() }
    /// Whether the download is paused.
    public var isPaused: Bool { control.isPaused }
    /// Cancels the download; the next start of the same request resumes from the received bytes.
    public func cancel() { handle.cancel() }

    /// The file, once it is complete. Cancelling the task that awaits this does not cancel the download. Throws
    /// ``DownloadError`` and `ErrandError`.
    public var file: URL {
        get async throws { try await handle.value.value }
    }

    /// An iterator over the events; make only one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observer: LoopObserver(handle), feed: feed, signals: feed.signals.makeAsyncIterator())
    }

    /// Cancels the download when the loop over it is left.
    final class LoopObserver: Sendable {
        let handle: RequestHandle<Response<URL>>
        init(_ handle: RequestHandle<Response<URL>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    /// The iterator of the events.
    public struct Iterator: AsyncIteratorProtocol {
        let observer: LoopObserver
        let feed: EventFeed<DownloadEvent>
        var signals: AsyncStream<Void>.Iterator
        var isOver = false

        /// The next event, ``DownloadEvent/finished(_:)`` as the last, then nil. Throws the error of the download.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> DownloadEvent? {
            if isOver { return nil }
            let handle = observer.handle
            while true {
                if let event = feed.take() { return event }
                // Cancellation of the task ends the signals only; the download has to be cancelled too.
                let signal: Void? = await withTaskCancellationHandler {
                    await signals.next(isolation: actor)
                } onCancel: {
                    handle.cancel()
                }
                if signal == nil { break }
            }
            if let event = feed.take() { return event }
            isOver = true
            return .finished(try await handle.value.value)
        }
    }
}
