import Errand
import ErrandEssentials

/// Converts a document to UTF-8, in chunks of any size.
///
/// The charset comes from the byte order mark, otherwise from the header, otherwise from the XML declaration (RFC 7303,
/// section 3.2). The ``DocumentReader`` receives only UTF-8, and ignores the declaration's charset.
struct CharsetDecoder: Sendable {
    private enum Coding: Sendable {
        case undecided
        case utf8
        case utf16(isBigEndian: Bool)
        /// Selected only by a byte order mark or the first bytes, because UTF-32 isn't in the Encoding Standard.
        case utf32(isBigEndian: Bool)
        /// One byte per character, so chunks can be decoded separately.
        case bytewise(Charset)
        /// Decoded as a whole, at the end of the document.
        case whole(Charset)
    }

    private let header: String?
    private let limit: Int
    private var coding = Coding.undecided
    private var held: [UInt8] = []

    init(header: String?, limit: Int) {
        // Some charsets are decoded as a whole, which keeps the document in memory. For these charsets, even a stream
        // without a limit gets one.
        let most = limit == .max ? XMLLimits.standard.maximumBytes : limit
        (self.header, self.limit) = (header?.isEmpty == false ? header : nil, most)
    }

    /// If decoding fails, first appends the valid text before the failure.
    mutating func push(_ chunk: Data, isLast: Bool = false, into output: inout [UInt8]) throws(XMLError) {
        held += chunk
        if case .undecided = coding {
            guard try decide(isLast) else { return }
        }
        switch coding {
        case .undecided: break
        case .utf8: try decodeUTF8(isLast, &output)
        case .utf16(let isBigEndian): try decodeUTF16(isBigEndian: isBigEndian, isLast: isLast, into: &output)
        case .utf32(let isBigEndian): try decodeUTF32(isBigEndian: isBigEndian, isLast: isLast, into: &output)
        case .bytewise(let charset): try convert(charset, &output)
        case .whole(let charset):
            guard held.count <= limit else { throw XMLError(.tooLarge, "the document is longer than \(limit) bytes") }
            if isLast { try convert(charset, &output) }
        }
    }

    // MARK: Deciding

    /// Determines the charset. Returns `false` if more bytes are needed.
    private mutating func decide(_ isLast: Bool) throws(XMLError) -> Bool {
        guard held.count >= 4 || isLast else { return false }
        for (mark, count, coding) in Self.marks where held.starts(with: mark) {
            held.removeFirst(count)
            self.coding = coding
            return true
        }
        let pair = (held.first, held.dropFirst().first)
        let looksWide: Bool? = pair == (0x3C, 0) ? false : pair == (0, 0x3C) ? true : nil
        // Unknown charsets in headers count as missing, as in browsers.
        if let header, Charset(label: header) != nil {
            coding = try named(header, looksWide)
            return true
        }
        if let looksWide {
            coding = .utf16(isBigEndian: looksWide)
            return true
        }
        guard try declared(isLast) else { return false }
        return true
    }

    private static let marks: [([UInt8], Int, Coding)] = [
        ([0xFF, 0xFE, 0, 0], 4, .utf32(isBigEndian: false)), ([0, 0, 0xFE, 0xFF], 4, .utf32(isBigEndian: true)),
        ([0x3C, 0, 0, 0], 0, .utf32(isBigEndian: false)), ([0, 0, 0, 0x3C], 0, .utf32(isBigEndian: true)),
        ([0xEF, 0xBB, 0xBF], 3, .utf8),
        ([0xFE, 0xFF], 2, .utf16(isBigEndian: true)), ([0xFF, 0xFE], 2, .utf16(isBigEndian: false)),
    ]

    /// Returns `false` if the declaration is incomplete.
    private mutating func declared(_ isLast: Bool) throws(XMLError) -> Bool {
        coding = .utf8
        switch XMLDeclaration.begins(held) {
        case .some(false): return true
        case nil: break
        case .some(true):
            let head = held.prefix(XMLDeclaration.maximumBytes)
            if let end = head.indices.dropLast().first(where: { head[$0] == 0x3F && head[$0 + 1] == 0x3E }) {
                guard let name = XMLDeclaration(Array(head[...(end + 1)]))?.encoding else { return true }
                let isWide = Charset(label: name)?.name.hasPrefix("utf-16") ?? name.hasPrefix("utf-32")
                // If the declaration names UTF-16, it's ignored, as in HTML. The declaration was read byte by byte, so
                // the document can't be UTF-16. Some services declare UTF-16 because their texts have this encoding in
                // memory.
                if !isWide, !name.contains("ucs-") { coding = try named(name, nil) }
                return true
            }
            if held.count >= XMLDeclaration.maximumBytes { return true }
        }
        if !isLast { coding = .undecided }
        return isLast
    }

    private func named(_ label: String, _ looksWide: Bool?) throws(XMLError) -> Coding {
        guard let charset = Charset(label: label) else {
            throw XMLError(.invalidCharset, "the charset \(label.prefix(40).debugDescription) is not known")
        }
        switch charset.name {
        case "utf-8": return .utf8
        // Without a byte order mark, the first character reveals the byte order.
        case "utf-16le": return .utf16(isBigEndian: looksWide ?? false)
        case "utf-16be": return .utf16(isBigEndian: looksWide ?? true)
        case "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "replacement":
            return .whole(charset)
        default: return .bytewise(charset)
        }
    }

    // MARK: Decoding

    private mutating func decodeUTF8(_ isLast: Bool, _ output: inout [UInt8]) throws(XMLError) {
        let complete = held.count - Self.incompleteSuffix(of: held)
        if !Self.isASCII(held), String(validating: held[..<complete], as: UTF8.self) == nil {
            output += held[..<Self.validPrefix(of: held)]
            throw XMLError(.invalidCharset, "the bytes are not valid UTF-8")
        }
        if output.isEmpty, complete == held.count {
            swap(&output, &held)
        } else {
            output += held[..<complete]
            held.removeFirst(complete)
        }
        if isLast, !held.isEmpty { throw XMLError(.truncated, "the document ends in the middle of a character") }
    }

    private static func isASCII(_ bytes: [UInt8]) -> Bool {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80
    }

    /// The number of bytes at the end that begin a character but don't complete it.
    private static func incompleteSuffix(of bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? back : 0
        }
        return 0
    }

    private static func validPrefix(of bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    private static func validPrefix(of units: [UInt16]) -> Int {
        var index = 0
        while index < units.count {
            if UTF16.isTrailSurrogate(units[index]) { return index }
            if UTF16.isLeadSurrogate(units[index]) {
                guard index + 1 < units.count, UTF16.isTrailSurrogate(units[index + 1]) else { return index }
                index += 1
            }
            index += 1
        }
        return index
    }

    private mutating func decodeUTF16(isBigEndian: Bool, isLast: Bool, into output: inout [UInt8]) throws(XMLError) {
        var units: [UInt16] = []
        units.reserveCapacity(held.count / 2)
        for index in stride(from: 0, to: held.count - 1, by: 2) {
            let (a, b) = (UInt16(held[index]), UInt16(held[index + 1]))
            units.append(isBigEndian ? a << 8 | b : b << 8 | a)
        }
        if let last = units.last, UTF16.isLeadSurrogate(last), !isLast { units.removeLast() }
        held.removeFirst(units.count * 2)
        let valid = Self.validPrefix(of: units)
        output += String(decoding: units[..<valid], as: UTF16.self).utf8
        if valid < units.count { throw XMLError(.invalidCharset, "the bytes are not valid UTF-16") }
        if isLast, !held.isEmpty { throw XMLError(.truncated, "the document ends in the middle of a character") }
    }

    private mutating func decodeUTF32(isBigEndian: Bool, isLast: Bool, into output: inout [UInt8]) throws(XMLError) {
        let complete = held.count - held.count % 4
        for index in stride(from: 0, to: complete, by: 4) {
            let bytes = held[index..<(index + 4)]
            let value =
                isBigEndian
                ? bytes.reduce(0) { $0 << 8 | UInt32($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
            guard let encoded = Unicode.Scalar(value).flatMap(UTF8.encode) else {
                throw XMLError(.invalidCharset, "the bytes are not valid UTF-32")
            }
            output += encoded
        }
        held.removeFirst(complete)
        if isLast, !held.isEmpty { throw XMLError(.truncated, "the document ends in the middle of a character") }
    }

    private mutating func convert(_ charset: Charset, _ output: inout [UInt8]) throws(XMLError) {
        if held.isEmpty { return }
        guard let text = charset.decode(Data(held), ignoresByteOrderMark: true) else {
            if case .bytewise = coding { output += validPrefix(charset).utf8 }
            let isKnown = charset.decode(Data([0x20]), ignoresByteOrderMark: true) != nil
            throw XMLError(
                .invalidCharset,
                isKnown
                    ? "the bytes are not valid \(charset.name)" : "the system doesn't know the charset \(charset.name)")
        }
        held.removeAll()
        output += text.utf8
    }

    private func validPrefix(_ charset: Charset) -> String {
        func text(_ count: Int) -> String? { charset.decode(Data(held[..<count]), ignoresByteOrderMark: true) }
        var (valid, invalid) = (0, held.count)
        while invalid - valid > 1 {
            let middle = (valid + invalid) / 2
            if text(middle) == nil { invalid = middle } else { valid = middle }
        }
        return valid > 0 ? text(valid) ?? "" : ""
    }
}
