/// Finds the end of one JSON value, at any split of its bytes. It counts brackets and reads strings; whether the value is
/// correct within is the decoder's business.
struct JSONValueScanner {
    private enum Mode { case start, container, string, scalar }

    private var mode = Mode.start
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Up to where the bytes have been scanned.
    private var position = 0

    /// Whether the value ends only where something follows it: a number or a literal.
    var isScalar: Bool { mode == .scalar }

    /// The index behind the value that begins at the first byte; nil if more bytes are needed.
    ///
    /// - Parameter bytes: those of the calls before, and more.
    mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard position < bytes.count else { return nil }
        if mode == .start { begin(bytes[0]) }
        switch mode {
        case .start: return nil
        case .scalar: return scalarEnd(in: bytes)
        case .string: return skipString(in: bytes) ? position : nil
        case .container: return containerEnd(in: bytes)
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): mode = .container
        case UInt8(ascii: "\""): (mode, position) = (.string, 1)
        default: mode = .scalar
        }
    }

    private mutating func scalarEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        while position < bytes.count {
            let byte = bytes[position]
            if byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                // A byte that cannot begin a value is one, for the decoder to refuse.
                return max(position, 1)
            }
            position += 1
        }
        return nil
    }

    private mutating func containerEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        if isInString {
            guard skipString(in: bytes) else { return nil }
            isInString = false
        }
        // In registers while it lasts.
        var (index, level) = (position, depth)
        let count = bytes.count
        while index < count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                position = index
                guard skipString(in: bytes) else {
                    (isInString, depth) = (true, level)
                    return nil
                }
                index = position
            } else if byte | 0x20 == UInt8(ascii: "{") {
                // Brackets differ in the bit 0x20 only: [ and {, ] and }.
                level += 1
            } else if byte | 0x20 == UInt8(ascii: "}") {
                level -= 1
                if level == 0 {
                    position = index
                    return index
                }
            }
        }
        (position, depth) = (index, level)
        return nil
    }

    /// Moves behind the closing quotation mark; false if it has not come yet.
    @inline(__always)
    private mutating func skipString(in bytes: UnsafeRawBufferPointer) -> Bool {
        var index = position
        let count = bytes.count
        if isEscaped, index < count {
            isEscaped = false
            index += 1
        }
        while index < count {
            // Eight bytes at once where none of them is a quotation mark or a backslash.
            while index + 8 <= count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let special = Self.places(of: UInt8(ascii: "\""), word) | Self.places(of: UInt8(ascii: "\\"), word)
                if special != 0 {
                    index += special.trailingZeroBitCount >> 3
                    break
                }
                index += 8
            }
            guard index < count else { break }
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                position = index
                return true
            }
            if byte == UInt8(ascii: "\\") {
                if index == count { isEscaped = true }
                index += 1
            }
        }
        position = min(index, count)
        return false
    }

    /// The high bit of each of the eight bytes that is a given one, and perhaps of one behind it: the first is right.
    @inline(__always)
    private static func places(of byte: UInt8, _ word: UInt64) -> UInt64 {
        let difference = UInt64(littleEndian: word) ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }
}
