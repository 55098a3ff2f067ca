import Errand
import ErrandEssentials

/// An event of an event stream (HTML standard, section 9.2).
///
/// ```swift
/// server.on("/feed", .events("Hello", TestEvent("Ada", name: "joined", id: "7"), .comment("still here")))
/// ```
public struct TestEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text on the wire, including the final blank line.
    public var text: String
    /// The event's ID, from which clients resume a stream. Nil if the event has none.
    public var id: String?

    /// Creates an event with a data line for each line of `data`.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        var lines: [String] = []
        if let name { lines.append("event: \(name)") }
        if let id { lines.append("id: \(id)") }
        if let retry { lines.append("retry: \(Int64(retry / .milliseconds(1)))") }
        lines += data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        self.init(text: lines.joined(separator: "\n") + "\n\n", id: id)
    }

    /// Creates an event that has only data, from a string literal.
    public init(stringLiteral data: String) { self.init(data) }

    private init(text: String, id: String? = nil) { (self.text, self.id) = (text, id) }

    /// Returns a comment, such as a heartbeat.
    public static func comment(_ text: String = "") -> TestEvent { TestEvent(text: ":\(text)\n") }

    /// Returns an event that is sent as exactly this text, which may be malformed.
    public static func raw(_ text: String) -> TestEvent { TestEvent(text: text) }
}

extension TestResponse {
    /// Sends an event stream with a chunk for each event, then ends it. Add `slowly(bytesPerChunk:every:)` to spread
    /// the events, or `stalled(afterBodyBytes:)` or `waiting(for:afterBodyBytes:)` to keep the stream open.
    public static func events(_ events: TestEvent...) -> TestResponse { self.events(events) }

    /// Returns a response that sends an event stream with a chunk for each event, and then ends it.
    public static func events(_ events: [TestEvent]) -> TestResponse {
        let pieces = events.map { Data($0.text.utf8) }
        return TestResponse(
            status: 200, headers: [.contentType: "text/event-stream"], body: Data(pieces.joined())
        ).chunked(sizes: pieces.map(\.count))
    }

    /// Sends an event stream that clients can resume: the events after the request's `Last-Event-ID`, or all events if
    /// that is missing or unknown. Responds with 204 after the last event.
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
    /// Returns a response that streams one event for each pull, and then ends, with `failure` if you pass it.
    public static func events(
        _ events: [TestEvent], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        .chunks(events.map { Data($0.text.utf8) }, every: interval, failure: failure)
            .header(.contentType, "text/event-stream")
    }
}
