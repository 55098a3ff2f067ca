import ErrandEssentials
import ErrandSupport

/// Parses an event stream (HTML standard, sections 9.2.5 and 9.2.6).
struct EventParser: ~Copyable {
    private var lines: LineScanner
    private var fields: EventFields

    init(limit: Int, lastEventID: String = "", onComment: (@Sendable (String) -> Void)? = nil) {
        lines = LineScanner(.any, limit: limit)
        fields = EventFields(limit: limit, lastEventID: lastEventID, onComment: onComment)
    }

    /// The ID from which the next connection continues. Events without data can set it too.
    var lastEventID: String { fields.lastEventID }
    var reconnectionTime: Duration? { fields.reconnectionTime }
    var eventCount: Int { fields.eventCount }
    var offset: Int64 { lines.offset }

    mutating func push(_ chunk: Data) { lines.push(chunk) }

    /// Discards an event that a blank line hasn't completed.
    mutating func finish() { fields.discard() }

    mutating func next() throws -> ServerSentEvent? {
        while let line = try lines.next() {
            if line.isEmpty {
                if let event = fields.dispatch() { return event }
            } else {
                try Self.process(line, of: lines, into: &fields)
            }
        }
        return nil
    }

    /// This is a separate function, because the compiler would treat reading a property's span while changing another
    /// property as overlapping accesses to `self`.
    private static func process(
        _ line: Range<Int>, of lines: borrowing LineScanner, into fields: inout EventFields
    ) throws {
        try fields.process(lines.window.storage.span.extracting(line), at: lines.lineStart)
    }
}

/// The event that is being parsed. The buffers have the names that the HTML standard gives them.
private struct EventFields {
    private let limit: Int
    private let onComment: (@Sendable (String) -> Void)?
    private var data = ""
    private var dataCount = 0
    private var hasData = false
    private var eventType = ""
    private var lastEventIDBuffer: String
    private(set) var lastEventID: String
    private(set) var reconnectionTime: Duration?
    private(set) var eventCount = 0

    init(limit: Int, lastEventID: String, onComment: (@Sendable (String) -> Void)?) {
        self.limit = limit
        self.onComment = onComment
        (self.lastEventID, lastEventIDBuffer) = (lastEventID, lastEventID)
    }

    mutating func discard() {
        data = ""
        (hasData, eventType, lastEventIDBuffer) = (false, "", lastEventID)
    }

    mutating func process(_ line: Span<UInt8>, at position: Int64) throws {
        // Looks at the first eight bytes, because the colon is usually among them.
        var near = 0
        while near < min(8, line.count), line[near] != 0x3A { near += 1 }
        let found = near < min(8, line.count) ? near : line.firstIndex(of: 0x3A, from: near)
        guard let colon = found else { return try process(line, Span(), at: position) }
        if colon == 0 {
            onComment?(String(decoding: line.extracting(1...)))
            return
        }
        var start = colon + 1
        if start < line.count, line[start] == 0x20 { start += 1 }
        try process(line.extracting(..<colon), line.extracting(start...), at: position)
    }

    private static let (id, dataField, event, retry) = (
        Array("id".utf8), Array("data".utf8), Array("event".utf8), Array("retry".utf8)
    )

    private mutating func process(_ field: Span<UInt8>, _ value: Span<UInt8>, at position: Int64) throws {
        switch field.count {
        case 2 where field.contains(Self.id):
            if value.firstIndex(of: 0) == nil { lastEventIDBuffer = String(decoding: value) }
        case 4 where field.contains(Self.dataField):
            try append(value, at: position)
        case 5 where field.contains(Self.event):
            eventType = String(decoding: value)
        case 5 where field.contains(Self.retry):
            retry(value)
        default: break
        }
    }

    /// Appends a line of data. The standard appends LF to each line and removes the last LF. This function inserts LF
    /// between lines instead.
    private mutating func append(_ value: Span<UInt8>, at position: Int64) throws {
        if hasData, dataCount + value.count > limit {
            throw StreamingError(
                .elementTooLong, "an event is longer than the limit of \(limit) bytes", byte: position,
                element: eventCount + 1)
        }
        let text = String(decoding: value)
        if hasData {
            data += "\n"
            data += text
        } else {
            (data, dataCount) = (text, 0)
        }
        hasData = true
        dataCount += value.count + 1
    }

    private mutating func retry(_ value: Span<UInt8>) {
        if value.isEmpty { return }
        var milliseconds: Int64 = 0
        for index in value.indices {
            guard (0x30...0x39).contains(value[index]) else { return }
            milliseconds = min(milliseconds * 10 + Int64(value[index] - 0x30), Self.longestRetry)
        }
        reconnectionTime = .milliseconds(milliseconds)
    }

    /// One day, in milliseconds.
    private static let longestRetry: Int64 = 86_400_000

    mutating func dispatch() -> ServerSentEvent? {
        lastEventID = lastEventIDBuffer
        defer { (hasData, eventType) = (false, "") }
        guard hasData else { return nil }
        let event = ServerSentEvent(
            name: eventType.isEmpty ? "message" : eventType, data: data, id: lastEventID)
        data = ""
        eventCount += 1
        return event
    }
}
