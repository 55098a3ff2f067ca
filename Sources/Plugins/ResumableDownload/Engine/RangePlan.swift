/// Which bytes of a file are here and which are still to come: ranges side by side, from the first byte to the last.
struct RangePlan: Codable, Hashable, Sendable {
    struct Part: Codable, Hashable, Sendable {
        var start: Int64
        /// Behind the last byte; nil, in the last part only, while nobody knows.
        var end: Int64?
        /// Bytes that are here, from the start on.
        var done: Int64 = 0

        /// The first byte that is not here.
        var next: Int64 { start + done }
        var isDone: Bool { next == end }
        var left: Int64? { end.map { $0 - next } }
    }

    private(set) var parts: [Part]

    /// The whole as one part.
    init(total: Int64?) { parts = [Part(start: 0, end: total)] }

    /// Nil unless the parts lie side by side and hold no more than they can; for what was read from a disk.
    init?(checking parts: [Part], total: Int64?) {
        guard !parts.isEmpty, parts.count <= Self.limit else { return nil }
        var place: Int64 = 0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard part.start == place, part.done >= 0, part.done <= 1 << 60 else { return nil }
            if let end = part.end {
                guard end >= part.start, end <= 1 << 60, part.next <= end else { return nil }
                place = end
            } else if !isLast {
                return nil
            }
        }
        guard parts.last?.end == total else { return nil }
        self.parts = parts
    }

    /// More parts than this are never made.
    static let limit = 64

    var received: Int64 { parts.reduce(0) { $0 + $1.done } }
    /// Bytes that are here without a gap, from the first on.
    var frontier: Int64 { (parts.first { !$0.isDone } ?? parts[parts.count - 1]).next }
    /// Behind the last byte that is here.
    var extent: Int64 { parts.filter { $0.done > 0 }.map(\.next).max() ?? 0 }
    var isDone: Bool { parts.allSatisfy { $0.isDone } }
    var total: Int64? { parts[parts.count - 1].end }

    mutating func advance(_ index: Int, by count: Int64) { parts[index].done += count }

    /// Says where the last part ends.
    mutating func end(at total: Int64) { parts[parts.count - 1].end = total }

    /// Forgets what lies behind the first gap: one part, as a server that sends only the whole asks for.
    mutating func collapse() { parts = [Part(start: 0, end: total, done: frontier)] }

    /// Takes the last byte back from a plan that has all, so that the server can be asked whether it is still right.
    mutating func reopen() {
        guard isDone, let index = parts.lastIndex(where: { $0.done > 0 }) else { return }
        parts[index].done -= 1
    }

    /// The place of the part that begins at an offset; nil if there is none.
    func index(of start: Int64) -> Int? { parts.firstIndex { $0.start == start } }

    /// Ends a part at an offset within it; what lies behind becomes a part of its own, whose start is returned. Nil where
    /// the part would be empty, or where there are too many.
    mutating func divide(_ index: Int, at place: Int64) -> Int64? {
        if parts.count >= Self.limit { joinDone() }
        guard parts.count < Self.limit, parts.indices.contains(index), let end = parts[index].end,
            place > parts[index].start, place >= parts[index].next, place < end
        else { return nil }
        parts[index].end = place
        parts.insert(Part(start: place, end: end), at: index + 1)
        return place
    }

    /// Joins neighbours that are done.
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

    /// The same division with no more in it than an earlier plan had, however that one was divided.
    func limited(to earlier: RangePlan) -> RangePlan {
        var plan = self
        for (index, part) in plan.parts.enumerated() {
            var reach = part.start
            for other in earlier.parts where other.start <= reach && other.next > reach { reach = other.next }
            plan.parts[index].done = min(part.done, reach - part.start)
        }
        return plan
    }

    /// Joins what is done with its neighbours, then halves the longest rests until `count` parts are open, none shorter
    /// than `minimum`.
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
