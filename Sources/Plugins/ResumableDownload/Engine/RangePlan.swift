/// The parts of a download. They are adjacent ranges that cover the whole file. Each part counts its received bytes.
struct RangePlan: Codable, Hashable, Sendable {
    struct Part: Codable, Hashable, Sendable {
        var start: Int64
        /// The offset after the part's last byte. It's nil in the last part while the file's length is unknown.
        var end: Int64?
        /// The number of received bytes.
        var done: Int64 = 0

        var next: Int64 { start + done }
        var isDone: Bool { next == end }
        var left: Int64? { end.map { $0 - next } }
    }

    private(set) var parts: [Part]

    init(total: Int64?) { parts = [Part(start: 0, end: total)] }

    /// Creates a plan from stored parts. Returns nil unless the parts are adjacent and each part has received at most
    /// as many bytes as its length.
    init?(checking parts: [Part], total: Int64?) {
        guard !parts.isEmpty, parts.count <= Self.limit else { return nil }
        var expected: Int64 = 0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard part.start == expected, part.done >= 0, part.done <= 1 << 60 else { return nil }
            if let end = part.end {
                guard end >= part.start, end <= 1 << 60, part.next <= end else { return nil }
                expected = end
            } else if !isLast {
                return nil
            }
        }
        guard parts.last?.end == total else { return nil }
        self.parts = parts
    }

    static let limit = 64

    var received: Int64 { parts.reduce(0) { $0 + $1.done } }
    /// The number of bytes before the first missing byte.
    var frontier: Int64 { (parts.first { !$0.isDone } ?? parts[parts.count - 1]).next }
    var extent: Int64 { parts.filter { $0.done > 0 }.map(\.next).max() ?? 0 }
    var isDone: Bool { parts.allSatisfy { $0.isDone } }
    var total: Int64? { parts[parts.count - 1].end }

    mutating func advance(_ index: Int, by count: Int64) { parts[index].done += count }

    mutating func end(at total: Int64) { parts[parts.count - 1].end = total }

    /// Joins all parts, and keeps only the bytes before the first missing byte. This is for servers that always send
    /// the whole file.
    mutating func collapse() { parts = [Part(start: 0, end: total, done: frontier)] }

    /// Marks the last received byte as missing, so it's requested again. The response shows whether the file has
    /// changed, and how long it is.
    mutating func reopen() {
        guard isDone || total == nil, let index = parts.lastIndex(where: { $0.done > 0 }) else { return }
        parts[index].done -= 1
    }

    func index(of start: Int64) -> Int? { parts.firstIndex { $0.start == start } }

    /// Divides a part at an offset. Returns the start of the second part. Returns nil if the second part would be
    /// empty, or if there are too many parts.
    mutating func divide(_ index: Int, at offset: Int64) -> Int64? {
        if parts.count >= Self.limit { joinDone() }
        guard parts.count < Self.limit, parts.indices.contains(index), let end = parts[index].end,
            offset > parts[index].start, offset >= parts[index].next, offset < end
        else { return nil }
        parts[index].end = offset
        parts.insert(Part(start: offset, end: end), at: index + 1)
        return offset
    }

    private mutating func joinDone() {
        var joined: [Part] = []
        for part in parts {
            if part.isDone, let last = joined.last, last.isDone, last.end == part.start {
                joined[joined.count - 1] = Part(start: last.start, end: part.end, done: last.done + part.done)
            } else {
                joined.append(part)
            }
        }
        parts = joined
    }

    func limited(to earlier: RangePlan) -> RangePlan {
        var plan = self
        for (index, part) in plan.parts.enumerated() {
            var reach = part.start
            for other in earlier.parts where other.start <= reach && other.next > reach { reach = other.next }
            plan.parts[index].done = min(part.done, reach - part.start)
        }
        return plan
    }

    /// Divides the missing bytes for `count` segments. First joins each complete part with the part after it. Then
    /// halves the longest missing ranges until `count` parts are incomplete.
    mutating func split(into count: Int, minimum: Int64) {
        var joined: [Part] = []
        for part in parts {
            if let last = joined.last, last.isDone, let end = last.end {
                joined[joined.count - 1] = Part(start: last.start, end: part.end, done: end - last.start + part.done)
            } else {
                joined.append(part)
            }
        }
        parts = joined
        while parts.filter({ !$0.isDone }).count < count, parts.count < Self.limit {
            guard let longest = parts.indices.max(by: { parts[$0].left ?? -1 < parts[$1].left ?? -1 }),
                let left = parts[longest].left, let end = parts[longest].end, left / 2 >= minimum
            else { return }
            let middle = parts[longest].next + left / 2
            parts[longest].end = middle
            parts.insert(Part(start: middle, end: end), at: longest + 1)
        }
    }
}
