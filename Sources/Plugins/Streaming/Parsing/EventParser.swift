import ErrandEssentials

/// Reads an event stream as the HTML standard has it, sections 9.2.5 (parsing) and 9.2.6 (interpreting).
///
/// The names of the buffers are the standard's.
struct EventParser: StreamParser {
    private var lines: LineScanner
    private let limit: Int
    private let onComment: (@Sendable (String) -> Void)?
    private var data: [UInt8] = []
    private var hasData = false
    private var eventType = ""
    private var lastEventIDBuffer: String
    /// The id of the last event that was dispatched, empty ones included: where the stream goes on after a break.
    private(set) var lastEventID: String
    /// What the server said last in `retry`; nil if it said nothing.
    private(set) var reconnectionTime: Duration?
    private(set) var eventCount = 0

    /// - Parameter lastEventID: of the connection before this one.
    init(limit: Int, lastEventID: String = "", onComment: (@Sendable (String) -> Void)? = nil) {
        lines = LineScanner(.any, limit: limit)
        self.limit = limit
        self.onComment = onComment
        (self.lastEventID, lastEventIDBuffer) = (lastEventID, lastEventID)
    }

    /// How many bytes have been interpreted.
    var offset: Int64 { lines.offset }

    mutating func push(_ chunk: Data) { lines.push(chunk) }

    /// What is pending is discarded: an event ends with a blank line.
    mutating func finish() {
        data = []
        (hasData, eventType, lastEventIDBuffer) = (false, "", lastEventID)
    }

    mutating func next() throws -> ServerSentEvent? {
        while let line = try lines.next() {
            if line.isEmpty {
                if let event = dispatch() { return event }
            } else {
                try process(line)
            }
        }
        return nil
    }

    private mutating func process(_ line: UnsafeRawBufferPointer) throws {
        guard let colon = firstIndex(of: 0x3A, in: line, from: 0) else {
            return try process(line, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        if colon == 0 {
            onComment?(String(decoding: line.dropFirst(), as: UTF8.self))
            return
        }
        var start = colon + 1
        if start < line.count, line[start] == 0x20 { start += 1 }
        try process(
            UnsafeRawBufferPointer(rebasing: line[..<colon]), UnsafeRawBufferPointer(rebasing: line[start...]))
    }

    private mutating func process(_ field: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        switch field.count {
        case 2 where field.elementsEqual("id".utf8):
            if !value.contains(0) { lastEventIDBuffer = String(decoding: value, as: UTF8.self) }
        case 4 where field.elementsEqual("data".utf8):
            try append(value)
        case 5 where field.elementsEqual("event".utf8):
            eventType = String(decoding: value, as: UTF8.self)
        case 5 where field.elementsEqual("retry".utf8):
            retry(value)
        default: break
        }
    }

    /// The standard appends an LF to each line of data and removes the last one; here it stands between them.
    private mutating func append(_ value: UnsafeRawBufferPointer) throws {
        if data.count + value.count >= limit {
            throw StreamingError(
                .elementTooLong, "an event is longer than the limit of \(limit) bytes", byte: lines.lineStart,
                element: eventCount + 1)
        }
        if hasData { data.append(0x0A) }
        hasData = true
        data.append(contentsOf: value)
    }

    private mutating func retry(_ value: UnsafeRawBufferPointer) {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
        var milliseconds: Int64 = 0
        for digit in value where milliseconds < Self.longestRetry {
            milliseconds = milliseconds * 10 + Int64(digit - 0x30)
        }
        reconnectionTime = .milliseconds(min(milliseconds, Self.longestRetry))
    }

    /// A day, in milliseconds: no server makes its clients wait for longer.
    private static let longestRetry: Int64 = 86_400_000

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = lastEventIDBuffer
        defer { (hasData, eventType) = (false, "") }
        guard hasData else { return nil }
        let event = ServerSentEvent(
            name: eventType.isEmpty ? "message" : eventType, data: String(decoding: data, as: UTF8.self),
            id: lastEventID)
        if data.capacity > 1 << 20 { data = [] } else { data.removeAll(keepingCapacity: true) }
        eventCount += 1
        return event
    }
}
