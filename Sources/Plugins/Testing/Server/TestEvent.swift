import Errand
import ErrandEssentials

/// An event in an event stream (HTML standard, section 9.2), for a test server or a stub to send.
///
/// ```swift
/// server.on("/feed", .events("Hello", TestEvent("Ada", name: "joined", id: "7"), .comment("still here")))
/// ```
public struct TestEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text on the wire, including the blank line at its end.
    public var text: String
    /// The event's id, if it has one. Clients resume a stream from it.
    public var id: String?

    /// Creates an event with a data line for each line of `data`, and with the other fields you pass.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        var lines: [String] = []
        if let name { lines.append("event: \(name)") }
        if let id { lines.append("id: \(id)") }
        if let retry { lines.append("retry: \(Int64(retry / .milliseconds(1)))") }
        lines += data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        self.init(text: lines.joined(separator: "\n") + "\n\n", id: id)
    }

    /// Creates an event that only has data.
    public init(stringLiteral data: String) { self.init(data) }

    private init(text: String, id: String? = nil) { (self.text, self.id) = (text, id) }

    /// Returns a comment, such as a heartbeat.
    public static func comment(_ text: String = "") -> TestEvent { TestEvent(text: ":\(text)\n") }

    /// Returns an event with exactly this text.
    public static func raw(_ text: String) -> TestEvent { TestEvent(text: text) }
}

extension TestResponse {
    /// Sends an event stream, one chunk for each event, that ends after the last event. Add
    /// `slowly(bytesPerChunk:every:)` to spread the events over time, or `stalled(afterBodyBytes:)` or
    /// `waiting(for:afterBodyBytes:)` to keep the stream open.
    public static func events(_ events: TestEvent...) -> TestResponse { self.events(events) }

    /// Sends an event stream, like the method that takes separate arguments.
    public static func events(_ events: [TestEvent]) -> TestResponse {
        let pieces = events.map { Data($0.text.utf8) }
        return TestResponse(
            status: 200, headers: [.contentType: "text/event-stream"], body: Data(pieces.joined())
        ).chunked(sizes: pieces.map(\.count))
    }

    /// Sends an event stream that clients can resume. It contains the events after the request's `Last-Event-ID`, or
    /// all events if the request doesn't name a known event. After the last event, it responds with 204.
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
    /// Streams events, one for each pull, and ends after the last one, with an error if you pass `failure`.
    public static func events(
        _ events: [TestEvent], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        .chunks(events.map { Data($0.text.utf8) }, every: interval, failure: failure)
            .header(.contentType, "text/event-stream")
    }
}
