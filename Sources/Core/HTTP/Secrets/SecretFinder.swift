import ErrandSupport

/// Secrets, and the places where they occur in other bytes.
struct SecretFinder: Sendable {
    private var secrets: [BytePattern] = []

    /// The length of the shortest secret.
    static let minimumLength = 6

    var count: Int { secrets.count }

    /// Adds a secret of at least ``minimumLength`` bytes, once.
    mutating func insert(_ secret: [UInt8]) {
        guard secret.count >= Self.minimumLength, !secrets.contains(where: { $0.bytes == secret }) else { return }
        secrets.append(BytePattern(secret))
    }

    /// The bytes with the mask in place of each secret; nil where none occurs. Secrets that overlap get one mask.
    func masked(_ text: [UInt8], with mask: String) -> [UInt8]? {
        let ranges = occurrences(in: text)
        if ranges.isEmpty { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var end = 0
        for range in ranges {
            result += text[end..<range.lowerBound]
            result += mask.utf8
            end = range.upperBound
        }
        return result + text[end...]
    }

    /// Where secrets occur, in order; ranges that overlap are one.
    private func occurrences(in text: [UInt8]) -> [Range<Int>] {
        let ranges = secrets.flatMap { $0.matches(in: text) }.sorted { $0.lowerBound < $1.lowerBound }
        var merged: [Range<Int>] = []
        for range in ranges {
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}
