import ErrandSupport

/// Secrets, and the places where they occur in other bytes.
struct SecretFinder: Sendable {
    private struct Secret {
        /// Its first bytes.
        let beginning: UInt64
        /// Where it stands among the bytes of all secrets.
        let range: Range<Int>
    }

    private var secrets: [Secret] = []
    /// The bytes of all secrets, one after the other.
    private var bytes: [UInt8] = []
    /// A bit for the hash of each beginning: most bytes begin no secret.
    private var filter: [UInt64] = []

    /// The length of the shortest secret.
    static let minimumLength = 6
    private static let windowMask: UInt64 = 1 << (8 * 6) - 1

    var count: Int { secrets.count }

    /// Adds a secret of at least ``minimumLength`` bytes, once.
    mutating func insert(_ secret: UnsafeBufferPointer<UInt8>) {
        guard secret.count >= Self.minimumLength else { return }
        var beginning: UInt64 = 0
        for index in 0..<Self.minimumLength { beginning = beginning << 8 | UInt64(secret[index]) }
        let isKnown = secrets.contains { $0.beginning == beginning && bytes[$0.range].elementsEqual(secret) }
        if isKnown { return }
        if secrets.isEmpty {
            filter = Array(repeating: 0, count: 16)
            // A credential is four secrets: with and without its scheme, as it is and as it stands in a URL.
            secrets.reserveCapacity(4)
            bytes.reserveCapacity(4 * secret.count)
        }
        secrets.append(Secret(beginning: beginning, range: bytes.count..<bytes.count + secret.count))
        bytes.append(contentsOf: secret)
        let bit = Self.bit(of: beginning)
        filter[bit >> 6] |= 1 << UInt64(bit & 63)
    }

    /// The bytes with the mask in place of each secret; nil where none occurs. Secrets that overlap get one mask.
    func masked(_ text: UnsafeBufferPointer<UInt8>, with mask: String) -> [UInt8]? {
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
    private func occurrences(in text: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for number in candidates(in: text) { ranges += BytePattern(bytes[secrets[number].range]).matches(in: text) }
        if ranges.isEmpty { return [] }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var merged = [ranges[0]]
        for range in ranges.dropFirst() {
            let last = merged[merged.count - 1]
            if range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// The secrets whose beginning occurs.
    private func candidates(in text: UnsafeBufferPointer<UInt8>) -> [Int] {
        if secrets.isEmpty || text.count < Self.minimumLength { return [] }
        var found: [Int] = []
        var window: UInt64 = 0
        for index in text.indices {
            window = (window << 8 | UInt64(text[index])) & Self.windowMask
            guard index >= Self.minimumLength - 1, mayBegin(window) else { continue }
            for number in secrets.indices where secrets[number].beginning == window && !found.contains(number) {
                found.append(number)
            }
            if found.count == secrets.count { break }
        }
        return found
    }

    private func mayBegin(_ window: UInt64) -> Bool {
        let bit = Self.bit(of: window)
        return filter[bit >> 6] & 1 << UInt64(bit & 63) != 0
    }

    /// The position of a beginning in the filter's 1024 bits.
    private static func bit(of beginning: UInt64) -> Int {
        Int(truncatingIfNeeded: (beginning &* 0x9E37_79B9_7F4A_7C15) >> 54)
    }
}
