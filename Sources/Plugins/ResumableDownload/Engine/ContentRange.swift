import Errand

/// A `Content-Range` of bytes (RFC 9110, section 14.4).
enum ContentRange: Equatable {
    /// `bytes 7-9/10`; the total is nil for `*`.
    case part(first: Int64, last: Int64, total: Int64?)
    /// `bytes */10`
    case unsatisfied(total: Int64)

    /// Nil for none, several, another unit, and numbers that contradict one another.
    init?(_ headers: HTTPHeaders) {
        let fields = headers.values(of: "Content-Range")
        guard fields.count == 1 else { return nil }
        let words = fields[0].split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Self.number(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            parts[1] == "*" || total.map({ last < $0 }) ?? false
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    /// Digits only, and small enough that one may be added.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
            return nil
        }
        return Int64(text).flatMap { $0 <= 1 << 60 ? $0 : nil }
    }
}
