import ErrandMessageSyntax

/// A byte range in a `Range` field (RFC 9110, section 14.1.2).
public enum ByteRange: Sendable, Hashable {
    /// A range from a first to a last byte, both included: `0-499`.
    case closed(Int64, Int64)
    /// A range from a byte to the end: `500-`.
    case from(Int64)
    /// The last bytes: `-500`.
    case suffix(Int64)

    /// Parses the ranges of a `Range: bytes=…` field, at most 64.
    ///
    /// Returns `nil` for another unit or an invalid field. Recipients ignore such a field (section 14.2).
    public static func parse(_ value: String) -> [ByteRange]? {
        guard let equals = value.utf8.firstIndex(of: UInt8(ascii: "=")),
            ASCII.equalsIgnoringCase(String(value[..<equals]), "bytes")
        else { return nil }
        let items = FieldList.items(String(value[value.utf8.index(after: equals)...]))
        if items.isEmpty || items.count > 64 { return nil }
        var ranges: [ByteRange] = []
        for item in items {
            guard let range = ByteRange(item) else { return nil }
            ranges.append(range)
        }
        return ranges
    }

    private init?(_ text: Substring) {
        guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let (first, last) = (ASCII.trimmed(text[..<dash]), ASCII.trimmed(text[text.utf8.index(after: dash)...]))
        if first.isEmpty {
            guard let count = ASCII.digits(last) else { return nil }
            self = .suffix(count)
        } else {
            guard let start = ASCII.digits(first) else { return nil }
            if last.isEmpty {
                self = .from(start)
            } else {
                guard let end = ASCII.digits(last), end >= start else { return nil }
                self = .closed(start, end)
            }
        }
    }

    /// Returns the selected bytes of a representation, or `nil` if the range doesn't select any (section 14.1.1).
    public func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .closed(let first, let last): first < length ? first..<(last < length ? last + 1 : length) : nil
        case .from(let first): first < length ? first..<length : nil
        case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }
}

extension ByteRange: CustomStringConvertible {
    /// The range as it appears after `bytes=`.
    public var description: String {
        switch self {
        case .closed(let first, let last): "\(first)-\(last)"
        case .from(let first): "\(first)-"
        case .suffix(let count): "-\(count)"
        }
    }
}

/// A `Content-Range` in bytes (RFC 9110, section 14.4).
public enum ContentRange: Sendable, Hashable {
    /// A part of a representation, from the first to the last byte, both included: `bytes 7-9/10`. The total is `nil`
    /// for `*`.
    case part(first: Int64, last: Int64, total: Int64?)
    /// The range doesn't exist: `bytes */10`, sent with status 416.
    case unsatisfied(total: Int64)

    /// Parses a field value. Returns `nil` for another unit or for contradictory numbers.
    public init?(parsing value: String) {
        let words = value.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, ASCII.equalsIgnoringCase(String(words[0]), "bytes") else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = ASCII.digits(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        // The end of a half-open range must not overflow.
        guard ends.count == 2, let first = ASCII.digits(ends[0]), let last = ASCII.digits(ends[1]), first <= last,
            last < .max, parts[1] == "*" || total.map({ last < $0 }) ?? false
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }
}

extension ContentRange: CustomStringConvertible {
    /// The text of the field.
    public var description: String {
        switch self {
        case .part(let first, let last, let total): "bytes \(first)-\(last)/\(total.map { "\($0)" } ?? "*")"
        case .unsatisfied(let total): "bytes */\(total)"
        }
    }
}
