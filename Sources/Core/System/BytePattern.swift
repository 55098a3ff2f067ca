/// A byte string to search for in linear time (Knuth-Morris-Pratt).
package struct BytePattern: Sendable {
    package let bytes: [UInt8]
    /// The length of the longest proper prefix that is also a suffix, for each matched length.
    private let borders: [Int]

    package init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var (borders, border) = ([Int](repeating: 0, count: bytes.count), 0)
        for index in bytes.indices.dropFirst() {
            while border > 0, bytes[index] != bytes[border] { border = borders[border - 1] }
            if bytes[index] == bytes[border] { border += 1 }
            borders[index] = border
        }
        (self.bytes, self.borders) = (bytes, borders)
    }

    package func firstMatch(in text: ArraySlice<UInt8>) -> Range<Int>? {
        guard !bytes.isEmpty, text.count >= bytes.count else { return nil }
        var matched = 0
        for index in text.indices {
            while matched > 0, text[index] != bytes[matched] { matched = borders[matched - 1] }
            if text[index] == bytes[matched] { matched += 1 }
            if matched == bytes.count { return index + 1 - matched..<index + 1 }
        }
        return nil
    }

    /// Returns all occurrences in order. Overlapping occurrences are merged.
    package func matches(in text: [UInt8]) -> [Range<Int>] {
        guard !bytes.isEmpty, text.count >= bytes.count else { return [] }
        var (result, matched) = ([Range<Int>](), 0)
        for index in text.indices {
            while matched > 0, text[index] != bytes[matched] { matched = borders[matched - 1] }
            if text[index] == bytes[matched] { matched += 1 }
            guard matched == bytes.count else { continue }
            let start = index + 1 - matched
            if let last = result.last, start < last.upperBound {
                result[result.count - 1] = last.lowerBound..<index + 1
            } else {
                result.append(start..<index + 1)
            }
            matched = borders[matched - 1]
        }
        return result
    }
}
