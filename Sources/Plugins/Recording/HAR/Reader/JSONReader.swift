import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// Reads JSON (RFC 8259) from an archive in one pass, in a window of 64 KiB; a value that is not asked for is passed over
/// without being kept, however long it is.
struct JSONReader {
    private static let windowSize = 64 << 10

    private let source: HARSource
    private let end: Int
    private var window: [UInt8] = []
    private var windowStart: Int
    var index = 0

    /// A reader of a part of the bytes; of all by default.
    init(_ source: HARSource, _ range: Range<Int>? = nil) {
        self.source = source
        windowStart = range?.lowerBound ?? 0
        end = range?.upperBound ?? source.byteCount
    }

    /// The offset of the next byte.
    var offset: Int { windowStart + index }

    func fault(_ code: HARError.Code, _ message: String) -> HARError { HARError(code, message, byte: offset) }

    // MARK: Bytes

    /// The next byte; nil at the end.
    mutating func peek() throws(HARError) -> UInt8? {
        if index < window.count { return window[index] }
        windowStart += window.count
        index = 0
        window = try source.read(min(Self.windowSize, end - windowStart), at: windowStart)
        return window.first
    }

    mutating func need() throws(HARError) -> UInt8 {
        guard let byte = try peek() else { throw fault(.truncated, "the file ends within a value") }
        return byte
    }

    /// Passes over white space; returns the byte behind it, nil at the end.
    mutating func space() throws(HARError) -> UInt8? {
        while let byte = try peek() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            index += 1
        }
        return nil
    }

    mutating func token() throws(HARError) -> UInt8 {
        guard let byte = try space() else { throw fault(.truncated, "the file ends within a value") }
        return byte
    }

    mutating func skipByteOrderMark() throws(HARError) {
        if try peek() == 0xEF, window.count >= 3, window[1] == 0xBB, window[2] == 0xBF { index = 3 }
        let first = try peek()
        if first == 0xFE || first == 0xFF { throw fault(.malformedJSON, "the file is in UTF-16") }
    }

    // MARK: Containers

    /// Reads an object; the body receives each name and reads, or passes over, its value. Names of more than 256 bytes
    /// are empty.
    mutating func object(_ member: (inout JSONReader, String) throws(HARError) -> Void) throws(HARError) {
        try open(UInt8(ascii: "{"), "an object")
        var isFirst = true
        while try next(&isFirst, UInt8(ascii: "}")) {
            guard try token() == UInt8(ascii: "\"") else { throw fault(.malformedJSON, "a name is expected") }
            let range = try skipString()
            let name = range.count <= 256 ? try text(range) : ""
            guard try token() == UInt8(ascii: ":") else { throw fault(.malformedJSON, "a colon is expected") }
            index += 1
            do throws(HARError) { try member(&self, name) } catch { throw error.within(Self.step(name)) }
        }
    }

    /// The name as a part of a path; one that the format cannot have says nothing of itself.
    private static func step(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        return !name.isEmpty && isPlain && name.utf8.count <= 40 ? name : "?"
    }

    /// Reads an array; the body reads, or passes over, each element.
    mutating func array(_ element: (inout JSONReader, Int) throws(HARError) -> Void) throws(HARError) {
        try open(UInt8(ascii: "["), "an array")
        var (isFirst, position) = (true, 0)
        while try next(&isFirst, UInt8(ascii: "]")) {
            do throws(HARError) { try element(&self, position) } catch { throw error.within("[\(position)]") }
            position += 1
        }
    }

    private mutating func open(_ bracket: UInt8, _ what: String) throws(HARError) {
        let byte = try token()
        guard byte == bracket else { throw fault(.notHAR, "\(what) is expected") }
        index += 1
    }

    /// Whether another element follows in a container.
    private mutating func next(_ isFirst: inout Bool, _ bracket: UInt8) throws(HARError) -> Bool {
        let byte = try token()
        if byte == bracket {
            index += 1
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        guard byte == UInt8(ascii: ",") else { throw fault(.malformedJSON, "a comma or the end is expected") }
        index += 1
        return true
    }

    // MARK: Values

    /// A string of at most so many bytes in the file; nil for `null`.
    mutating func string(limit: Int) throws(HARError) -> String? {
        guard let range = try stringRange() else { return nil }
        guard range.count <= limit else { throw fault(.tooLarge, "a text of more than \(limit) bytes") }
        return try text(range)
    }

    /// A string, or its first bytes if it has more than `limit`; nil for `null`.
    mutating func beginning(limit: Int) throws(HARError) -> (text: String, isCut: Bool)? {
        guard let range = try stringRange() else { return nil }
        return (try text(range.prefix(limit)), range.count > limit)
    }

    /// Where a string stands, without its quotes; nil for `null`.
    mutating func stringRange() throws(HARError) -> Range<Int>? {
        let byte = try token()
        if byte == UInt8(ascii: "\"") { return try skipString() }
        guard byte == UInt8(ascii: "n") else { throw fault(.notHAR, "a text is expected") }
        try skipValue()
        return nil
    }

    /// A number; nil for `null`. A text that is one is accepted, as some programs write it.
    mutating func number() throws(HARError) -> Double? {
        let byte = try token()
        if byte == UInt8(ascii: "\"") { return try string(limit: 64).flatMap(Double.init) }
        if byte == UInt8(ascii: "n") {
            try skipValue()
            return nil
        }
        guard byte == UInt8(ascii: "-") || ASCII.isDigit(byte) else { throw fault(.notHAR, "a number is expected") }
        return try skipNumber()
    }

    /// A number, `true`, `false` or `null` as it is written.
    mutating func word() throws(HARError) -> String {
        _ = try token()
        let start = offset
        try skipValue()
        return String(decoding: try source.read(offset - start, at: start), as: UTF8.self)
    }

    // MARK: Strings

    /// Passes over a string; returns where it stands, without its quotes.
    mutating func skipString() throws(HARError) -> Range<Int> {
        index += 1
        let start = offset
        while true {
            guard try peek() != nil else { throw fault(.truncated, "the file ends within a text") }
            index = window.plainEnd(from: index)
            if index == window.count { continue }
            switch window[index] {
            case UInt8(ascii: "\""):
                index += 1
                return start..<(offset - 1)
            case UInt8(ascii: "\\"): try skipEscape()
            default: throw fault(.malformedJSON, "a control character stands in a text")
            }
        }
    }

    private mutating func skipEscape() throws(HARError) {
        index += 1
        let byte = try need()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "u"):
            break
        default: throw fault(.malformedJSON, "an escape sequence is unknown")
        }
        index += 1
        guard byte == UInt8(ascii: "u") else { return }
        for _ in 0..<4 {
            guard JSONStringDecoder.digit(try need()) != nil else {
                throw fault(.malformedJSON, "an escape sequence has no four digits")
            }
            index += 1
        }
    }

    /// The text of a string; bytes that are no UTF-8 are replaced.
    private func text(_ range: Range<Int>) throws(HARError) -> String {
        var decoder = JSONStringDecoder()
        var bytes: [UInt8] = []
        let isInWindow = range.lowerBound >= windowStart && range.upperBound <= windowStart + window.count
        if isInWindow {
            decoder.decode(Array(window[range.lowerBound - windowStart..<range.upperBound - windowStart]), into: &bytes)
        } else {
            decoder.decode(try source.read(range.count, at: range.lowerBound), into: &bytes)
        }
        decoder.finish(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The position of the next quote, backslash or control character, or the end; eight bytes at a time.
    func plainEnd(from start: Int) -> Int {
        withUnsafeBytes { bytes in
            var position = start
            let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
            while position &+ 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                let quote = word ^ (ones &* 0x22)
                let slash = word ^ (ones &* 0x5C)
                // Whether a byte is zero, of each; and whether one is less than 0x20.
                let hit =
                    ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | ((word &- (ones &* 0x20)) & ~word)
                if hit & highs != 0 { break }
                position &+= 8
            }
            while position < bytes.count {
                let byte = bytes[position]
                if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
                position &+= 1
            }
            return position
        }
    }
}
