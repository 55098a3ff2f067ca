/// Replaces the values of chosen fields in a JSON text; every other byte stays as it is. Accepts a text that is cut off.
package struct JSONMasker {
    private let bytes: [UInt8]
    private let isSecret: (String) -> Bool
    private var position = 0
    private var secretRanges: [Range<Int>] = []
    private var secrets: [String] = []
    /// `}` or `]` for each container that is open.
    private var closers: [UInt8] = []

    /// The text with the mask as a string in the place of each secret value, and the secret strings and words that it
    /// replaces. A field whose name has an escape sequence counts as secret. Nil for what is not JSON as far as it goes.
    ///
    /// - Parameter isSecret: whether the field of that name holds a secret.
    package static func masked(
        _ bytes: [UInt8], with mask: String, where isSecret: (String) -> Bool
    ) -> (bytes: [UInt8], secrets: [String])? {
        withoutActuallyEscaping(isSecret) { isSecret in
            var masker = JSONMasker(bytes: bytes, isSecret: isSecret)
            guard masker.scan() else { return nil }
            return (masker.replaced(with: Array("\"\(mask)\"".utf8)), masker.secrets)
        }
    }

    private init(bytes: [UInt8], isSecret: @escaping (String) -> Bool) {
        self.bytes = bytes
        self.isSecret = isSecret
    }

    private func replaced(with mask: [UInt8]) -> [UInt8] {
        if secretRanges.isEmpty { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var end = 0
        for range in secretRanges {
            result += bytes[end..<range.lowerBound]
            result += mask
            end = range.upperBound
        }
        return result + bytes[end...]
    }

    private mutating func scan() -> Bool {
        var mayBeName = false
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                position += 1
                // The closing bracket follows the opening one at a distance of two in ASCII.
                closers.append(byte + 2)
                guard closers.count <= 256 else { return false }
                mayBeName = byte == UInt8(ascii: "{")
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard closers.popLast() == byte else { return false }
                position += 1
                mayBeName = false
            case UInt8(ascii: ","):
                position += 1
                mayBeName = closers.last == UInt8(ascii: "}")
            case UInt8(ascii: "\""):
                let text = string()
                guard mayBeName else { continue }
                mayBeName = false
                guard next() == UInt8(ascii: ":") else { return next() == nil }
                position += 1
                if text.contains("\\") || isSecret(text) { maskValue() }
            default:
                guard !word().isEmpty else { return false }
            }
        }
        return true
    }

    /// Passes over the value of a secret field and remembers where it stands and what it holds.
    private mutating func maskValue() {
        _ = next()
        let start = position
        skipValue()
        if position > start { secretRanges.append(start..<position) }
    }

    private mutating func skipValue() {
        var depth = 0
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                position += 1
            case UInt8(ascii: "\""):
                let text = string()
                // Names within a secret value are no secrets.
                if depth == 0 || next() != UInt8(ascii: ":") { secrets.append(text) }
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                if depth == 0 { return }
                position += 1
            default:
                let text = word()
                if text.isEmpty { position += 1 } else { secrets.append(text) }
            }
            if depth == 0 { return }
        }
    }

    /// The next byte that is not white space; the position stays on it.
    private mutating func next() -> UInt8? {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        return position < bytes.count ? bytes[position] : nil
    }

    /// Passes over a string, or the beginning of one that is cut off; returns what stands between its quotes.
    private mutating func string() -> String {
        let start = position + 1
        position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(position, bytes.count)
        position = min(position + 1, bytes.count)
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private mutating func word() -> String {
        let start = position
        while position < bytes.count, bytes[position] > 0x20, !"{}[],:\"".utf8.contains(bytes[position]) {
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}
