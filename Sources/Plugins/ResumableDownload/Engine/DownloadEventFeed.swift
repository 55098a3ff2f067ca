import Synchronization

/// The events that wait for the reader of a ``Download``: all notices, and of consecutive reports of progress the newest.
final class DownloadEventFeed: Sendable {
    private let events = Mutex<[DownloadEvent]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after events were posted; ends with the download.
    let signals: AsyncStream<Void>
    /// A reader that never comes costs no more events than this; the oldest go first.
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
