public import Errand
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import Synchronization

extension Agent {
    /// Starts a download that is watched as it comes.
    ///
    /// ```swift
    /// for try await event in agent.download(GetVideo(destination: folder)) {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fraction ?? 0, progress.timeLeft)
    ///     case .finished(let file): play(file)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the download; what came is kept, and the next start of the same
    /// request goes on from there.
    public func download<R: DownloadRequest>(_ request: R, options: CallOptions = CallOptions()) -> Download {
        let control = options.tags[DownloadCall.Key.self].control ?? DownloadControl()
        let (progress, feed) = AsyncStream<DownloadProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        var options = options
        options.addDownload(control) { feed.yield($0) }
        let handle = start(request, options: options, completion: Completion { _, _ in feed.finish() })
        return Download(handle: handle, control: control, progress: progress)
    }
}

/// What is told of a download.
public enum DownloadEvent: Sendable, Hashable {
    case progress(DownloadProgress)
    /// The file is in its place; nothing follows.
    case finished(URL)
}

/// A running download: its events, in order, progress that nobody fetched left out; for one reader.
public struct Download: AsyncSequence, Sendable {
    public typealias Element = DownloadEvent

    let handle: RequestHandle<Response<URL>>
    let control: DownloadControl
    let progress: AsyncStream<DownloadProgress>

    /// The activity behind it.
    public var activity: Activity { handle.activity }

    /// Lets the connection go and keeps what came.
    public func pause() { control.pause() }
    /// Goes on where it was.
    public func resume() { control.resume() }
    public var isPaused: Bool { control.isPaused }
    /// Gives up for now; the same request goes on from here another time.
    public func cancel() { handle.cancel() }

    /// The file, once it is in its place. Cancelling the task that waits here does not cancel the download.
    public var file: URL {
        get async throws { try await handle.value.value }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: Watch(handle), progress: progress.makeAsyncIterator())
    }

    /// Cancels the download when the loop over it is left.
    final class Watch: Sendable {
        let handle: RequestHandle<Response<URL>>
        init(_ handle: RequestHandle<Response<URL>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    public struct Iterator: AsyncIteratorProtocol {
        let watch: Watch
        var progress: AsyncStream<DownloadProgress>.Iterator
        var isOver = false

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> DownloadEvent? {
            if isOver { return nil }
            let handle = watch.handle
            // A cancelled task ends the stream of progress; the download itself has to hear of it.
            let news = await withTaskCancellationHandler {
                await progress.next(isolation: actor)
            } onCancel: {
                handle.cancel()
            }
            if let news { return .progress(news) }
            isOver = true
            return .finished(try await handle.value.value)
        }
    }
}
