import ErrandEssentials

/// The lines of a text; the last one needs no end. Invalid UTF-8 becomes U+FFFD.
struct LineParser: ~Copyable {
    private var lines: LineScanner

    init(limit: Int) { lines = LineScanner(.any, limit: limit) }

    mutating func push(_ chunk: Data) { lines.push(chunk) }
    mutating func finish() { lines.finish() }

    mutating func next() throws -> String? {
        guard let line = try lines.next() ?? lines.rest() else { return nil }
        return String(decoding: line, as: UTF8.self)
    }
}
