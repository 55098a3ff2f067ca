import ErrandMessageSyntax

// Strings (RFC 8259, section 7).
extension JSONGrammar {
    /// A string, from behind its opening quote to behind its closing one.
    ///
    /// The bytes are UTF-8, control characters are escaped, and surrogates come in pairs: half of a pair is not a
    /// character, and cannot be part of a Swift string. ``unescaped(_:)`` has the content.
    @inlinable @inline(__always)
    public static func string(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
            if found == 0 {
                index &+= 8
                continue
            }
            index &+= found.trailingZeroBitCount &>> 3
            return bytes[index] == quote ? JSONTokenEnd(index &+ 1) : unusualString(in: bytes, from: index)
        }
        return unusualString(in: bytes, from: index)
    }

    @usableFromInline @inline(never)
    static func unusualString(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte >= 0x80 {
                let length = UTF8Sequence.length(in: bytes, at: index)
                if length == 0 { return JSONTokenEnd(index, .invalidUTF8) }
                index += length
            } else if byte == quote {
                return JSONTokenEnd(index + 1)
            } else if byte == backslash {
                let end = escape(in: bytes, from: index)
                if end.fault != .none { return end }
                index = end.index
            } else if byte < 0x20 {
                return JSONTokenEnd(index, .controlCharacter)
            } else {
                index += 1
                while bytes.count &- index >= 8 {
                    let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
                    index &+= found == 0 ? 8 : found.trailingZeroBitCount &>> 3
                    if found != 0 { break }
                }
            }
        }
        return JSONTokenEnd(index, .unterminatedString)
    }

    /// An escape, from its backslash to behind its last character; both of a pair of surrogates.
    public static func escape(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        let left = bytes.count - start
        guard left >= 2 else { return JSONTokenEnd(bytes.count, .unterminatedString) }
        let letter = bytes[start + 1]
        guard letter == 0x75 else {
            return character(escapedAs: letter) == nil ? JSONTokenEnd(start, .badEscape) : JSONTokenEnd(start + 2)
        }
        guard let unit = hexUnit(in: bytes, from: start + 2) else { return JSONTokenEnd(start, .badEscape) }
        if unit & 0xF800 != 0xD800 { return JSONTokenEnd(start + 6) }
        guard unit < 0xDC00, left >= 12, bytes[start + 6] == backslash, bytes[start + 7] == 0x75,
            let low = hexUnit(in: bytes, from: start + 8), low & 0xFC00 == 0xDC00
        else { return JSONTokenEnd(start, .loneSurrogate) }
        return JSONTokenEnd(start + 12)
    }

    /// The character that a letter behind a backslash stands for; nil for one that stands for none, and for `u`.
    public static func character(escapedAs letter: UInt8) -> UInt8? {
        switch letter {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        case quote, backslash, 0x2F: letter
        default: nil
        }
    }

    /// The value of four hexadecimal digits; nil for anything else, and before the end of the text.
    public static func hexUnit(in bytes: Span<UInt8>, from start: Int) -> UInt32? {
        guard bytes.count - start >= 4 else { return nil }
        var unit: UInt32 = 0
        for index in start..<start + 4 {
            guard let digit = ASCII.hexValue(bytes[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// The index of the next quote, backslash, control character or byte beyond ASCII, or the end.
    @inlinable @inline(__always) public static func asciiEnd(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < bytes.count, isPlain(bytes[index]), bytes[index] < 0x80 { index &+= 1 }
        return index
    }

    /// The index of the next quote, backslash or control character, or the end; bytes beyond ASCII are not looked at.
    @inlinable public static func plainEnd(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.delimiters(JSONWord.load(bytes, at: index), controls: true)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < bytes.count, isPlain(bytes[index]) { index &+= 1 }
        return index
    }

    @inlinable @inline(__always) static func isPlain(_ byte: UInt8) -> Bool {
        byte != quote && byte != backslash && byte >= 0x20
    }

    /// Whether the content of a string has escapes.
    @inlinable public static func hasEscapes(_ content: Span<UInt8>) -> Bool {
        var index = 0
        while content.count &- index >= 8 {
            if JSONWord.backslashes(JSONWord.load(content, at: index)) != 0 { return true }
            index &+= 8
        }
        while index < content.count {
            if content[index] == backslash { return true }
            index &+= 1
        }
        return false
    }

    /// Whether the bytes of a name stand at an index, as they do in a string without escapes.
    @inlinable @inline(__always)
    package static func hasName(_ name: Span<UInt8>, in text: [UInt8], at start: Int) -> Bool {
        let text = text.span
        guard text.count &- start >= name.count else { return false }
        var index = 0
        while name.count &- index >= 8 {
            guard JSONWord.load(text, at: start &+ index) == JSONWord.load(name, at: index) else { return false }
            index &+= 8
        }
        while index < name.count {
            guard text[start &+ index] == name[index] else { return false }
            index &+= 1
        }
        return true
    }

    /// The content of a string, between its quotes, with escapes resolved: the bytes of its characters in UTF-8.
    ///
    /// A string that ``string(in:from:)`` has accepted comes back to the letter; in another one, an escape that stands for
    /// nothing ends the characters.
    public static func unescaped(_ content: Span<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        // No escape is shorter than what it stands for.
        result.reserveCapacity(content.count)
        var index = 0
        while index < content.count {
            var end = plainEnd(in: content, from: index)
            // Quotes and control characters of a string that is not valid.
            while end < content.count, content[end] != backslash { end += 1 }
            for place in index..<end { result.append(content[place]) }
            index = end
            guard index < content.count else { break }
            guard let scalar = scalar(ofEscapeIn: content, from: &index) else { break }
            if scalar.isASCII {
                result.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                result += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        return result
    }

    /// The same for a part of an array.
    public static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] { unescaped(content.span) }

    /// The character of an escape whose backslash is at an index, which moves behind it; nil if it stands for none.
    static func scalar(ofEscapeIn bytes: Span<UInt8>, from index: inout Int) -> Unicode.Scalar? {
        guard bytes.count - index >= 2 else { return nil }
        let letter = bytes[index + 1]
        index += 2
        guard letter == 0x75 else { return character(escapedAs: letter).map { Unicode.Scalar($0) } }
        guard var value = hexUnit(in: bytes, from: index) else { return nil }
        index += 4
        if value & 0xFC00 == 0xD800, bytes.count - index >= 6, let low = hexUnit(in: bytes, from: index + 2) {
            value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
            index += 6
        }
        return Unicode.Scalar(value)
    }
}
