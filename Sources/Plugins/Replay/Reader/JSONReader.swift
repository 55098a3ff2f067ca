import Errand
import ErrandEssentials
import ErrandJSONSyntax
import ErrandMessageSyntax

/// Reads an archive's JSON (RFC 8259) in one pass, 64 KiB at a time. Skipped values can have any length.
struct JSONReader {
    private static let windowSize = 64 << 10

    private let source: HARSource
    private let end: Int
    private var window: [UInt8] = []
    private var windowStart: Int
    var index = 0

    init(_ source: HARSource, _ range: Range<Int>? = nil) {
        self.source = source
        windowStart = range?.lowerBound ?? 0
        end = range?.upperBound ?? source.byteCount
    }

    var offset: Int { windowStart + index }

    func fault(_ code: HARError.Code, _ message: String) -> HARError { HARError(code, message, byte: offset) }

    // MARK: Bytes

    mutating func peek() throws(HARError) -> UInt8? {
        if index < window.count { return window[index] }
        windowStart += window.count
        index = 0
        window = try source.read(min(Self.windowSize, end - windowStart), at: windowStart)
        return window.first
    }

    mutating func need() throws(HARError) -> UInt8 {
        guard let byte = try peek() else { throw fault(.truncated, "the file ends in the middle of a value") }
        return byte
    }

    mutating func space() throws(HARError) -> UInt8? {
        while let byte = try peek() {
            guard JSONGrammar.isSpace(byte) else { return byte }
            index += 1
        }
        return nil
    }

    mutating func token() throws(HARError) -> UInt8 {
        guard let byte = try space() else { throw fault(.truncated, "the file ends in the middle of a value") }
        return byte
    }

    mutating func skipByteOrderMark() throws(HARError) {
        if try peek() == 0xEF, window.count >= 3, window[1] == 0xBB, window[2] == 0xBF { index = 3 }
        let first = try peek()
        if first == 0xFE || first == 0xFF { throw fault(.malformedJSON, "the file is in UTF-16, expected UTF-8") }
    }

    // MARK: Containers

    /// Reads an object. Calls `member` for each name, which reads or skips the value.
    ///
    /// - Parameter nameLimit: The maximum length of a name in bytes. A longer name is passed as an empty string. The
    ///   names in the format have at most 256 bytes.
    mutating func object(
        nameLimit: Int = 256, _ member: (inout JSONReader, String) throws(HARError) -> Void
    ) throws(HARError) {
        try open(UInt8(ascii: "{"), "an object")
        var isFirst = true
        while try next(&isFirst, UInt8(ascii: "}")) {
            guard try token() == UInt8(ascii: "\"") else { throw fault(.malformedJSON, "expected a name") }
            let range = try skipString()
            let name = range.count <= nameLimit ? try text(range) : ""
            guard try token() == UInt8(ascii: ":") else { throw fault(.malformedJSON, "expected a colon") }
            index += 1
            do throws(HARError) { try member(&self, name) } catch { throw error.within(Self.step(name)) }
        }
    }

    /// Reads an object, or `null`, which some programs write for an empty object.
    mutating func objectOrNull(
        _ member: (inout JSONReader, String) throws(HARError) -> Void
    ) throws(HARError) {
        if try !skipNull() { try object(member) }
    }

    mutating func arrayOrNull(
        _ element: (inout JSONReader, Int) throws(HARError) -> Void
    ) throws(HARError) {
        if try !skipNull() { try array(element) }
    }

    private mutating func skipNull() throws(HARError) -> Bool {
        guard try token() == UInt8(ascii: "n") else { return false }
        try skipValue()
        return true
    }

    /// Returns a member's name for the path in an error. Returns "?" for a name that isn't part of the format.
    private static func step(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        return !name.isEmpty && isPlain && name.utf8.count <= 40 ? name : "?"
    }

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
        guard byte == bracket else { throw fault(.notHAR, "expected \(what)") }
        index += 1
    }

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
        guard byte == UInt8(ascii: ",") else { throw fault(.malformedJSON, "expected a comma or the end") }
        index += 1
        return true
    }

    // MARK: Values

    mutating func expectString() throws(HARError) {
        let byte = try token()
        guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "n") else {
            throw fault(.notHAR, "expected a string")
        }
    }

    /// Reads a string. Also accepts numbers, `true` and `false` without quotes, because some programs omit the quotes.
    mutating func string(limit: Int) throws(HARError) -> String? {
        guard let range = try stringRange() else { return nil }
        guard range.count <= limit else { throw fault(.tooLarge, "a string of more than \(limit) bytes") }
        return try text(range)
    }

    mutating func beginning(limit: Int) throws(HARError) -> (text: String, isCut: Bool)? {
        guard let range = try stringRange() else { return nil }
        return (try text(range.prefix(limit)), range.count > limit)
    }

    /// Returns the range of a string in the file, without its quotes.
    mutating func stringRange() throws(HARError) -> Range<Int>? {
        let byte = try token()
        if byte == UInt8(ascii: "\"") { return try skipString() }
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { throw fault(.notHAR, "expected a string") }
        let start = offset
        try skipValue()
        return byte == UInt8(ascii: "n") ? nil : start..<offset
    }

    /// Reads a number. Also accepts a number in quotes, because some programs write quotes.
    mutating func number() throws(HARError) -> Double? {
        let byte = try token()
        if byte == UInt8(ascii: "\"") { return try string(limit: 64).flatMap(Double.init) }
        if byte == UInt8(ascii: "n") {
            try skipValue()
            return nil
        }
        guard byte == UInt8(ascii: "-") || ASCII.isDigit(byte) else { throw fault(.notHAR, "expected a number") }
        return try skipNumber()
    }

    mutating func word() throws(HARError) -> String {
        _ = try token()
        let start = offset
        try skipValue()
        return String(decoding: try source.read(offset - start, at: start), as: UTF8.self)
    }

    // MARK: Strings

    mutating func skipString() throws(HARError) -> Range<Int> {
        index += 1
        let start = offset
        var scan = JSONStringScan(checks: true)
        while try peek() != nil {
            let end = scan.end(in: window, from: index)
            if let (fault, offset) = scan.fault {
                index = offset
                throw self.fault(.malformedJSON, "malformed string: expected \(fault.expected)")
            }
            index = end ?? window.count
            if end != nil { return start..<(offset - 1) }
        }
        throw fault(.truncated, "the file ends in the middle of a string")
    }

    /// Returns a range of the file as text. Replaces invalid UTF-8.
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

extension JSONReader {
    private static let depthLimit = 256

    mutating func skipValue() throws(HARError) {
        var closers: [UInt8] = []
        repeat {
            switch try token() {
            case UInt8(ascii: "{"):
                index += 1
                guard closers.count < Self.depthLimit else { throw fault(.tooLarge, "values are nested too deeply") }
                if try token() == UInt8(ascii: "}") {
                    index += 1
                } else {
                    closers.append(UInt8(ascii: "}"))
                    try skipName()
                    continue
                }
            case UInt8(ascii: "["):
                index += 1
                guard closers.count < Self.depthLimit else { throw fault(.tooLarge, "values are nested too deeply") }
                if try token() == UInt8(ascii: "]") {
                    index += 1
                } else {
                    closers.append(UInt8(ascii: "]"))
                    continue
                }
            case UInt8(ascii: "\""): _ = try skipString()
            case UInt8(ascii: "t"): try skip("true")
            case UInt8(ascii: "f"): try skip("false")
            case UInt8(ascii: "n"): try skip("null")
            default: _ = try skipNumber()
            }
            try closeContainers(&closers)
        } while !closers.isEmpty
    }

    /// After a value, skips the ends of all containers that end there. If a container continues, skips the comma, and
    /// an object's next name.
    private mutating func closeContainers(_ closers: inout [UInt8]) throws(HARError) {
        while let closer = closers.last {
            let byte = try token()
            if byte == closer {
                index += 1
                closers.removeLast()
                continue
            }
            guard byte == UInt8(ascii: ",") else { throw fault(.malformedJSON, "expected a comma or the end") }
            index += 1
            if closer == UInt8(ascii: "}") { try skipName() }
            return
        }
    }

    private mutating func skipName() throws(HARError) {
        guard try token() == UInt8(ascii: "\"") else { throw fault(.malformedJSON, "expected a name") }
        _ = try skipString()
        guard try token() == UInt8(ascii: ":") else { throw fault(.malformedJSON, "expected a colon") }
        index += 1
    }

    private mutating func skip(_ word: StaticString) throws(HARError) {
        for expected in word.description.utf8 {
            guard try need() == expected else { throw fault(.malformedJSON, "expected a value") }
            index += 1
        }
    }

    mutating func skipNumber() throws(HARError) -> Double {
        var text: [UInt8] = []
        while let byte = try peek(), "+-.0123456789eE".utf8.contains(byte), text.count < 400 {
            text.append(byte)
            index += 1
        }
        if try peek() == nil { throw fault(.truncated, "the file ends in the middle of a value") }
        guard let number = JSONNumber.double(text) else { throw fault(.malformedJSON, "expected a value") }
        return number
    }
}
