import Synchronization

/// The events of a transfer that wait for its one reader. A report replaces one of its kind that nothing followed.
package final class EventFeed<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    private let isReport: @Sendable (Event) -> Bool
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after events are posted; ends with the transfer.
    package let signals: AsyncStream<Void>
    /// The number of events kept for a slow reader; the oldest are dropped first.
    private static var limit: Int { 256 }

    /// - Parameter isReport: whether an event is a report, of which the newest counts.
    package init(isReport: @escaping @Sendable (Event) -> Bool) {
        self.isReport = isReport
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func post(_ event: Event) {
        events.withLock { events in
            if isReport(event), let last = events.last, isReport(last) { events.removeLast() }
            events.append(event)
            if events.count > Self.limit { events.removeFirst() }
        }
        signal.yield()
    }

    package func take() -> Event? { events.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    package func finish() { signal.finish() }
}
