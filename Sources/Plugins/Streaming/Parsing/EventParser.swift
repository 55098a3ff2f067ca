import ErrandEssentials

/// Parses an event stream by the HTML standard, sections 9.2.5 (parsing) and 9.2.6 (interpreting).
///
/// The names of the buffers are the standard's.
struct EventParser: ~Copyable {
    private var lines: LineScanner
    private let limit: Int
    private let onComment: (@Sendable (String) -> Void)?
    private var data = ""
    private var dataCount = 0
    private var hasData = false
    private var eventType = ""
    private var lastEventIDBuffer: String
    /// The id of the last event that was dispatched, empty ones included; the stream continues from it after a break.
    private(set) var lastEventID: String
    /// The last `retry` of the server; nil if there was none.
    private(set) var reconnectionTime: Duration?
    private(set) var eventCount = 0

    /// - Parameter lastEventID: the id from the connection before this one.
    init(limit: Int, lastEventID: String = "", onComment: (@Sendable (String) -> Void)? = nil) {
        lines = LineScanner(.any, limit: limit)
        self.limit = limit
        self.onComment = onComment
        (self.lastEventID, lastEventIDBuffer) = (lastEventID, lastEventID)
    }

    /// The number of bytes that were interpreted.
    var offset: Int64 { lines.offset }

    mutating func push(_ chunk: Data) { lines.push(chunk) }

    /// Discards a pending event: it has to end with a blank line.
    mutating func finish() {
        data = ""
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
        // A colon is near, if there is one.
        var near = 0
        while near < min(8, line.count), line[near] != 0x3A { near += 1 }
        let found = near < min(8, line.count) ? near : firstIndex(of: 0x3A, in: line, from: near)
        guard let colon = found else {
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
        case 2 where field.equals("id"):
            if firstIndex(of: 0, in: value, from: 0) == nil {
                lastEventIDBuffer = String(decoding: value, as: UTF8.self)
            }
        case 4 where field.equals("data"):
            try append(value)
        case 5 where field.equals("event"):
            eventType = String(decoding: value, as: UTF8.self)
        case 5 where field.equals("retry"):
            retry(value)
        default: break
        }
    }

    /// The standard appends an LF to each line of data and removes the last one; here it is put between them.
    private mutating func append(_ value: UnsafeRawBufferPointer) throws {
        if hasData, dataCount + value.count > limit {
            throw StreamingError(
                .elementTooLong, "an event is longer than the limit of \(limit) bytes", byte: lines.lineStart,
                element: eventCount + 1)
        }
        let text = String(decoding: value, as: UTF8.self)
        if hasData {
            data += "\n"
            data += text
        } else {
            (data, dataCount) = (text, 0)
        }
        hasData = true
        dataCount += value.count + 1
    }

    private mutating func retry(_ value: UnsafeRawBufferPointer) {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
        var milliseconds: Int64 = 0
        for digit in value where milliseconds < Self.longestRetry {
            milliseconds = milliseconds * 10 + Int64(digit - 0x30)
        }
        reconnectionTime = .milliseconds(min(milliseconds, Self.longestRetry))
    }

    /// A day, in milliseconds: no server makes its clients wait longer.
    private static let longestRetry: Int64 = 86_400_000

    private mutating func dispatch() -> ServerSentEvent? {
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
