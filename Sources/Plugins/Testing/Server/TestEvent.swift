import Errand
import ErrandEssentials

/// An event of a stream that a test's server or stub sends (HTML standard, section 9.2).
///
/// ```swift
/// server.on("/feed", .events("Hello", TestEvent("Ada", name: "joined", id: "7"), .comment("still here")))
/// ```
public struct TestEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text on the wire, with the blank line at its end.
    public var text: String
    /// The id, by which a stream is resumed; nil if the event has none.
    public var id: String?

    /// An event: a line of data for each line of a text, and the other fields where they are given.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        var lines: [String] = []
        if let name { lines.append("event: \(name)") }
        if let id { lines.append("id: \(id)") }
        if let retry { lines.append("retry: \(Int64(retry / .milliseconds(1)))") }
        lines += data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        self.init(text: lines.joined(separator: "\n") + "\n\n", id: id)
    }

    /// An event of data only.
    public init(stringLiteral data: String) { self.init(data) }

    private init(text: String, id: String? = nil) { (self.text, self.id) = (text, id) }

    /// A comment, such as a heartbeat.
    public static func comment(_ text: String = "") -> TestEvent { TestEvent(text: ":\(text)\n") }

    /// Any text, unchanged.
    public static func raw(_ text: String) -> TestEvent { TestEvent(text: text) }
}

extension TestResponse {
    /// An event stream, with a chunk for each event; it ends after the last one. With `slowly(bytesPerChunk:every:)`
    /// the events arrive one after the other, with `stalled(afterBodyBytes:)` or `waiting(for:afterBodyBytes:)` the
    /// stream stays open.
    public static func events(_ events: TestEvent...) -> TestResponse { self.events(events) }

    /// The same for any number of events.
    public static func events(_ events: [TestEvent]) -> TestResponse {
        let pieces = events.map { Data($0.text.utf8) }
        return TestResponse(
            status: 200, headers: [.contentType: "text/event-stream"], body: Data(pieces.joined())
        ).chunked(sizes: pieces.map(\.count))
    }

    /// An event stream that can be resumed: the events behind the one with the request's `Last-Event-ID`, all events
    /// without one, and 204 behind the last event.
    public static func resumableEvents(_ events: [TestEvent]) -> TestResponse {
        computed { request in
            guard let last = request.headers[.lastEventID] else { return .events(events) }
            guard let index = events.lastIndex(where: { $0.id == last }) else { return .events(events) }
            let rest = Array(events[(index + 1)...])
            return rest.isEmpty ? .status(204) : .events(rest)
        }
    }
}

extension StubResponse {
    /// An event stream, one event for each pull; it ends after the last one, or with an error.
    public static func events(
        _ events: [TestEvent], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        .chunks(events.map { Data($0.text.utf8) }, every: interval, failure: failure)
            .header(.contentType, "text/event-stream")
    }
}
