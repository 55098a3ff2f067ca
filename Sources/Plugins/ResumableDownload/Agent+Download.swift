public import Errand
public import ErrandEssentials

extension Agent {
    /// Starts a download and delivers its events.
    ///
    /// ```swift
    /// for try await event in agent.download(GetVideo(destination: folder)) {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fraction ?? 0, progress.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let file): play(file)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the download; the received bytes are kept, and the next start of
    /// the same request continues from there.
    public func download<R: DownloadRequest>(_ request: R, options: CallOptions = CallOptions()) -> Download {
        let control = options.tags[DownloadCall.Key.self].control ?? DownloadControl()
        let feed = DownloadEventFeed()
        var options = options
        options.addDownload(control) { feed.post($0) }
        let handle = start(request, options: options, completion: Completion { _, _ in feed.finish() })
        return Download(handle: handle, control: control, feed: feed)
    }
}

/// What happens in a download, in this order of time. Cases may be added: write a `default`.
public enum DownloadEvent: Sendable, Hashable {
    /// How far it is and what it does. The last one before the end holds everything that arrived.
    case progress(DownloadProgress)
    /// A wait, a retry or a restart.
    case notice(DownloadNotice)
    /// The file is in its place; no event follows.
    case finished(URL)
}

/// A running download: its events, in order, for one reader. Progress that the reader has not fetched is replaced by newer
/// progress.
public struct Download: AsyncSequence, Sendable {
    public typealias Element = DownloadEvent

    let handle: RequestHandle<Response<URL>>
    let control: DownloadControl
    let feed: DownloadEventFeed

    /// The activity behind it.
    public var activity: Activity { handle.activity }

    /// Closes the connection and keeps the received bytes.
    public func pause() { control.pause() }
    /// Continues where it was.
    public func resume() { control.resume() }
    public var isPaused: Bool { control.isPaused }
    /// Cancels it; the same request continues from here another time.
    public func cancel() { handle.cancel() }

    /// The file, once it is in its place. Cancelling the task that waits here does not cancel the download.
    public var file: URL {
        get async throws { try await handle.value.value }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: Watch(handle), feed: feed, signals: feed.signals.makeAsyncIterator())
    }

    /// Cancels the download when the loop over it is left.
    final class Watch: Sendable {
        let handle: RequestHandle<Response<URL>>
        init(_ handle: RequestHandle<Response<URL>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    public struct Iterator: AsyncIteratorProtocol {
        let watch: Watch
        let feed: DownloadEventFeed
        var signals: AsyncStream<Void>.Iterator
        var isOver = false

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> DownloadEvent? {
            if isOver { return nil }
            let handle = watch.handle
            while true {
                if let event = feed.take() { return event }
                // A cancelled task ends the stream of signals; the download itself has to be cancelled too.
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
