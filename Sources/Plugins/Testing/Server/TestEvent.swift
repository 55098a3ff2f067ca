import Errand
import ErrandEssentials

/// An event of an event stream (HTML standard, section 9.2).
///
/// ```swift
/// server.on("/feed", .events("Hello", TestEvent("Ada", name: "joined", id: "7"), .comment("still here")))
/// ```
public struct TestEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text to send, including the final blank line.
    public var text: String
    /// The event's ID. A client can resume a stream after an event with an ID. It's `nil` if the event doesn't have an
    /// ID.
    public var id: String?

    /// Creates an event. The event has a data line for each line of `data`.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        var lines: [String] = []
        if let name { lines.append("event: \(name)") }
        if let id { lines.append("id: \(id)") }
        if let retry { lines.append("retry: \(Int64(retry / .milliseconds(1)))") }
        // CR LF is a single character in Swift, and a line can't contain CR.
        lines += data.split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n"].contains($0) }
            .map { "data: \($0)" }
        self.init(text: lines.joined(separator: "\n") + "\n\n", id: id)
    }

    /// Creates an event that contains only data.
    public init(stringLiteral data: String) { self.init(data) }

    private init(text: String, id: String? = nil) { (self.text, self.id) = (text, id) }

    /// Returns a comment, which servers send, for example, as a heartbeat.
    public static func comment(_ text: String = "") -> TestEvent { TestEvent(text: ":\(text)\n") }

    /// Returns an event that consists of exactly this text. The text may be malformed.
    public static func raw(_ text: String) -> TestEvent { TestEvent(text: text) }
}

extension TestResponse {
    /// Returns a response that sends an event stream. It sends a chunk for each event, and then ends the stream.
    ///
    /// To wait between events, add `slowly(bytesPerChunk:every:)`. To keep the stream open, add
    /// `stalled(afterBodyBytes:)` or `waiting(for:afterBodyBytes:)`.
    public static func events(_ events: TestEvent...) -> TestResponse { self.events(events) }

    /// Returns a response that sends an event stream. It sends a chunk for each event, and then ends the stream.
    public static func events(_ events: [TestEvent]) -> TestResponse {
        let pieces = events.map { Data($0.text.utf8) }
        return TestResponse(
            status: 200, headers: [.contentType: "text/event-stream"], body: Data(pieces.joined())
        ).chunked(sizes: pieces.map(\.count))
    }

    /// Returns a response that sends an event stream which clients can resume. It sends the events after the request's
    /// `Last-Event-ID`. If this ID is missing or unknown, it sends all events. If the ID belongs to the last event, it
    /// responds with 204.
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
    /// Returns a response that streams an event each time the reader asks for bytes. At the end, it throws `failure` if
    /// you pass an error.
    public static func events(
        _ events: [TestEvent], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        .chunks(events.map { Data($0.text.utf8) }, every: interval, failure: failure)
            .header(.contentType, "text/event-stream")
    }
}
