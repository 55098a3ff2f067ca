public import Errand
import Synchronization

/// A running transfer: its events, in order, for one reader. A newer status replaces one that the reader has not received yet.
///
/// Leaving the loop over it, or cancelling the task of the loop, cancels the transfer.
public struct TransferHandle<Output: Sendable>: AsyncSequence, Sendable {
    /// The type of an event.
    public typealias Element = TransferEvent<Output>

    private let handle: RequestHandle<Response<Output>>
    private let control: TransferControl
    private let feed: TransferFeed

    /// Starts a request whose filter pauses and reports as its ``TransferCall`` says.
    public init<R: Request>(
        _ request: R, on agent: some Agent, control: TransferControl, options: CallOptions
    ) where R.Output == Output {
        let feed = TransferFeed()
        var options = options
        options.tags[TransferCall.self] = TransferCall(control: control) { feed.post($0) }
        handle = agent.start(request, options: options, completion: Completion { _, _ in feed.finish() })
        (self.control, self.feed) = (control, feed)
    }

    /// The activity of the transfer.
    public var activity: Activity { handle.activity }

    /// Pauses the transfer, and whatever else its ``TransferControl`` was passed to.
    public func pause() { control.pause() }
    /// Resumes the transfer where it was paused.
    public func resume() { control.resume() }
    /// Whether the transfer is paused.
    public var isPaused: Bool { control.isPaused }
    /// Cancels the transfer.
    public func cancel() { handle.cancel() }

    /// The response, once the transfer is complete. Cancelling the task that awaits this does not cancel the transfer. Throws
    /// ``TransferError`` and `ErrandError`.
    public var response: Response<Output> {
        get async throws { try await handle.value }
    }

    /// An iterator over the events; make only one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observer: LoopObserver(handle), feed: feed, signals: feed.signals.makeAsyncIterator())
    }

    /// Cancels the transfer when the loop over it is left.
    final class LoopObserver: Sendable {
        let handle: RequestHandle<Response<Output>>
        init(_ handle: RequestHandle<Response<Output>>) { self.handle = handle }
        deinit { handle.cancel() }
    }

    /// The iterator of the events.
    public struct Iterator: AsyncIteratorProtocol {
        let observer: LoopObserver
        let feed: TransferFeed
        var signals: AsyncStream<Void>.Iterator
        var isOver = false

        /// The next event, ``TransferEvent/finished(_:)`` as the last, then nil. Throws the error of the transfer.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> TransferEvent<Output>? {
            if isOver { return nil }
            let handle = observer.handle
            while true {
                if let report = feed.take() { return TransferEvent(report) }
                // Cancellation of the task ends the signals only; the transfer has to be cancelled too.
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

/// An event of a transfer, in order of time. Cases may be added: write a `default`.
public enum TransferEvent<Output: Sendable>: Sendable {
    /// The bytes moved and the state. The last one before the end counts all bytes.
    case progress(TransferStatus)
    /// A wait, a retry or a restart.
    case notice(TransferNotice)
    /// The response that ended the transfer; no event follows.
    case finished(Response<Output>)

    init(_ report: TransferReport) {
        self =
            switch report {
            case .progress(let status): .progress(status)
            case .notice(let notice): .notice(notice)
            }
    }
}

/// What a filter reports of a transfer while it runs, whatever its output is.
public enum TransferReport: Sendable, Hashable {
    /// The bytes moved and the state.
    case progress(TransferStatus)
    /// A wait, a retry or a restart.
    case notice(TransferNotice)
}

/// What a call hands to the filter that transfers for it, as a tag: `exchange.tags[TransferCall.self]`.
public struct TransferCall: TagKey, Sendable {
    /// A call that nobody pauses or watches.
    public static var defaultValue: TransferCall { TransferCall() }

    /// Pauses and resumes the transfer.
    public let control: TransferControl
    /// Receives every report, on any thread, one at a time.
    public let report: @Sendable (TransferReport) -> Void

    /// Creates the value of a tag.
    public init(
        control: TransferControl = TransferControl(), report: @escaping @Sendable (TransferReport) -> Void = { _ in }
    ) {
        (self.control, self.report) = (control, report)
    }
}

/// The reports of a transfer that wait for its one reader. A status replaces one that nothing followed.
final class TransferFeed: Sendable {
    private let reports = Mutex<[TransferReport]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after reports are posted; ends with the transfer.
    let signals: AsyncStream<Void>
    /// The number of reports kept for a slow reader; the oldest are dropped first.
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
