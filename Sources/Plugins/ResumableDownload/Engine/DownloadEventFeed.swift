import Synchronization

/// The events that wait for the reader of a ``Download``: every notice, and the newest of consecutive progress reports.
final class DownloadEventFeed: Sendable {
    private let events = Mutex<[DownloadEvent]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after events are posted; ends with the download.
    let signals: AsyncStream<Void>
    /// The number of events kept for a slow reader; the oldest are dropped first.
    private static let limit = 256

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func post(_ event: DownloadEvent) {
        events.withLock { events in
            if case .progress = event, case .progress = events.last { events.removeLast() }
            events.append(event)
            if events.count > Self.limit { events.removeFirst() }
        }
        signal.yield()
    }

    func take() -> DownloadEvent? { events.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    func finish() { signal.finish() }
}
