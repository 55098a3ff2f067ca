public import Errand
import Synchronization

/// A running transfer, which is also the sequence of its events, for one reader. A new status replaces a status that
/// the reader hasn't read yet.
///
/// Leaving the loop over the events, or cancelling the loop's task, cancels the transfer.
public struct TransferHandle<Output: Sendable>: AsyncSequence, Sendable {
    /// An event of the transfer.
    public typealias Element = TransferEvent<Output>

    private let handle: RequestHandle<Response<Output>>
    private let control: TransferControl
    private let feed: TransferFeed

    /// Starts a transfer's request. The transfer's filter finds the control and the receiver of reports in the
    /// request's ``TransferCall`` tag.
    public init<R: Request>(
        _ request: R, on agent: some Agent, control: TransferControl, options: CallOptions
    ) where R.Output == Output {
        let feed = TransferFeed()
        var options = options
        options.tags[TransferCall.self] = TransferCall(control: control) { feed.post($0) }
        handle = agent.start(request, options: options, completion: Completion { _, _ in feed.finish() })
        (self.control, self.feed) = (control, feed)
    }

    /// The transfer's activity, which accessories observe.
    public var activity: Activity { handle.activity }

    /// Pauses all transfers that share the ``TransferControl``.
    public func pause() { control.pause() }
    /// Resumes all transfers that share the ``TransferControl``.
    public func resume() { control.resume() }
    /// Whether the transfers that share the ``TransferControl`` are paused.
    public var isPaused: Bool { control.isPaused }
    /// Cancels the transfer. ``response`` then throws `cancelled`. Keeps the transferred bytes, so the same request can
    /// continue later if the server supports it.
    public func cancel() { handle.cancel() }

    /// The response of the complete transfer. If you cancel a task that awaits the response, the transfer continues.
    /// Throws ``TransferError`` and `ErrandError`.
    public var response: Response<Output> {
        get async throws { try await handle.value }
    }

    /// Creates an iterator over the events. Call it only once.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observer: LoopObserver(handle), feed: feed, signals: feed.signals.makeAsyncIterator())
    }

    final class LoopObserver: Sendable {
        let handle: RequestHandle<Response<Output>>
        init(_ handle: RequestHandle<Response<Output>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    /// Reads the events on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        let observer: LoopObserver
        let feed: TransferFeed
        var signals: AsyncStream<Void>.Iterator
        var isOver = false

        /// Returns the next event. The last one is ``TransferEvent/finished(_:)``. Throws the transfer's error.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> TransferEvent<Output>? {
            if isOver { return nil }
            let handle = observer.handle
            while true {
                if let report = feed.take() { return TransferEvent(report) }
                // Cancelling the task ends only the stream of signals, so cancel the transfer too.
                let signal: Void? = await withTaskCancellationHandler {
                    await signals.next(isolation: actor)
                } onCancel: {
                    handle.cancel()
                }
                if signal == nil { break }
            }
            if let report = feed.take() { return TransferEvent(report) }
            isOver = true
            return .finished(try await handle.value)
        }
    }
}

/// An event of a transfer. Write a `default` when you `switch` over it, because cases may be added.
public enum TransferEvent<Output: Sendable>: Sendable {
    /// The byte counts or the state changed. The last status of the transfer counts all bytes.
    case progress(TransferStatus)
    /// The transfer waits, retries, or restarts.
    case notice(TransferNotice)
    /// The transfer is complete. This is the last event.
    case finished(Response<Output>)

    init(_ report: TransferReport) {
        self =
            switch report {
            case .progress(let status): .progress(status)
            case .notice(let notice): .notice(notice)
            }
    }
}

/// A report from a transfer's filter. Unlike ``TransferEvent``, its type doesn't depend on the transfer's output.
public enum TransferReport: Sendable, Hashable {
    /// The byte counts or the state changed.
    case progress(TransferStatus)
    /// The transfer waits, retries, or restarts.
    case notice(TransferNotice)
}

/// A tag that gives a transfer's filter its control and the receiver of its reports:
/// `exchange.tags[TransferCall.self]`.
public struct TransferCall: TagKey, Sendable {
    /// The value for calls without this tag, which can't be paused and don't report.
    public static var defaultValue: TransferCall { TransferCall() }

    /// Pauses and resumes the transfer.
    public let control: TransferControl
    /// Receives all reports, one at a time, on any thread.
    public let report: @Sendable (TransferReport) -> Void

    /// Creates a tag. By default, reports are dropped.
    public init(
        control: TransferControl = TransferControl(), report: @escaping @Sendable (TransferReport) -> Void = { _ in }
    ) {
        (self.control, self.report) = (control, report)
    }
}

/// Buffers reports for the transfer's reader. A status replaces a preceding unread status.
final class TransferFeed: Sendable {
    private let reports = Mutex<[TransferReport]>([])
    private let signal: AsyncStream<Void>.Continuation
    let signals: AsyncStream<Void>
    /// The oldest report is dropped first.
    private static var limit: Int { 256 }

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func post(_ report: TransferReport) {
        reports.withLock { reports in
            if case .progress = report, case .progress? = reports.last { reports.removeLast() }
            reports.append(report)
            if reports.count > Self.limit { reports.removeFirst() }
        }
        signal.yield()
    }

    func take() -> TransferReport? { reports.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    func finish() { signal.finish() }
}
