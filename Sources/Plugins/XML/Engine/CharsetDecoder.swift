import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// Turns the bytes of a document into UTF-8, at any split into chunks.
///
/// What names the charset is, in this order (RFC 7303, section 3.2): a byte order mark, the header, the XML declaration.
/// The reader below sees UTF-8 only, and reads what the declaration says of a charset no second time.
struct CharsetDecoder: Sendable {
    private enum Coding: Sendable {
        case undecided
        case utf8
        case latin1
        case utf16(isBigEndian: Bool)
        /// One byte a character, so that each chunk stands for itself.
        case bytewise(String)
        /// Read as a whole, at the end.
        case whole(String)
    }

    private let header: String?
    private let limit: Int
    private var coding = Coding.undecided
    private var held: [UInt8] = []

    /// - Parameter header: an empty one says nothing.
    init(header: String?, limit: Int) {
        let name = header?.lowercased() ?? ""
        (self.header, self.limit) = (name.isEmpty ? nil : name, limit)
    }

    /// Appends the text of a chunk. What is valid before a failure is appended as well.
    mutating func push(_ chunk: Data, isLast: Bool = false, into output: inout [UInt8]) throws(XMLError) {
        held += chunk
        if case .undecided = coding {
            guard try decide(isLast) else { return }
        }
        switch coding {
        case .undecided: break
        case .utf8: try decodeUTF8(isLast, &output)
        case .latin1:
            for byte in held {
                if byte < 0x80 { output.append(byte) } else { output += [0xC0 | byte >> 6, 0x80 | byte & 0x3F] }
            }
            held.removeAll(keepingCapacity: true)
        case .utf16(let isBigEndian): try decodeUTF16(isBigEndian, isLast, &output)
        case .bytewise(let name): try convert(name, &output)
        case .whole(let name):
            guard held.count <= limit else { throw XMLError(.tooLarge, "the document is longer than \(limit) bytes") }
            if isLast { try convert(name, &output) }
        }
    }

    // MARK: Deciding

    /// Decides by the first bytes; false as long as more are needed.
    private mutating func decide(_ isLast: Bool) throws(XMLError) -> Bool {
        guard held.count >= 4 || isLast else { return false }
        for (mark, count, coding) in Self.marks where held.starts(with: mark) {
            held.removeFirst(count)
            self.coding = coding
            return true
        }
        let pair = (held.first, held.dropFirst().first)
        let looksWide: Bool? = pair == (0x3C, 0) ? false : pair == (0, 0x3C) ? true : nil
        if let header {
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
        ([0xFF, 0xFE, 0, 0], 0, .whole("utf-32")), ([0, 0, 0xFE, 0xFF], 0, .whole("utf-32")),
        ([0x3C, 0, 0, 0], 0, .whole("utf-32le")), ([0, 0, 0, 0x3C], 0, .whole("utf-32be")),
        ([0xEF, 0xBB, 0xBF], 3, .utf8),
        ([0xFE, 0xFF], 2, .utf16(isBigEndian: true)), ([0xFF, 0xFE], 2, .utf16(isBigEndian: false)),
    ]

    /// Looks for a declaration; false as long as it is not complete.
    private mutating func declared(_ isLast: Bool) throws(XMLError) -> Bool {
        coding = .utf8
        switch XMLDeclaration.begins(held) {
        case .some(false): return true
        case nil: break
        case .some(true):
            let head = held.prefix(XMLDeclaration.maximumBytes)
            if let end = head.indices.dropLast().first(where: { head[$0] == 0x3F && head[$0 + 1] == 0x3E }) {
                guard let name = XMLDeclaration(Array(head[...(end + 1)]))?.encoding else { return true }
                if name.hasPrefix("utf-16") || name.hasPrefix("utf-32") || name.contains("ucs-") {
                    throw XMLError(.charset, "the document declares \(name), and is not in it")
                }
                coding = try named(name, nil)
                return true
            }
            if held.count >= XMLDeclaration.maximumBytes { return true }
        }
        if !isLast { coding = .undecided }
        return isLast
    }

    private func named(_ name: String, _ looksWide: Bool?) throws(XMLError) -> Coding {
        guard name.utf8.count < 40, !name.isEmpty, name.utf8.allSatisfy({ ASCII.isToken($0) }) else {
            throw XMLError(.charset, "the name of the charset is not one")
        }
        switch name {
        case "utf-8", "utf8", "us-ascii", "ascii": return .utf8
        case "iso-8859-1", "iso8859-1", "latin1": return .latin1
        case "utf-16", "ucs-2", "iso-10646-ucs-2": return .utf16(isBigEndian: looksWide ?? true)
        case "utf-16le": return .utf16(isBigEndian: false)
        case "utf-16be": return .utf16(isBigEndian: true)
        default:
            // Letters and the marks behind them are one.
            if name.hasSuffix("1258") { return .whole(name) }
            let isBytewise = ["iso-8859-", "windows-125", "cp125", "koi8-"].contains { name.hasPrefix($0) }
            return isBytewise ? .bytewise(name) : .whole(name)
        }
    }

    // MARK: Decoding

    private mutating func decodeUTF8(_ isLast: Bool, _ output: inout [UInt8]) throws(XMLError) {
        let complete = held.count - Self.incompleteSuffix(of: held)
        if String(validating: held[..<complete], as: UTF8.self) == nil {
            output += held[..<Self.validPrefix(of: held)]
            throw XMLError(.charset, "the bytes are not valid UTF-8")
        }
        output += held[..<complete]
        held.removeFirst(complete)
        if isLast, !held.isEmpty { throw XMLError(.truncated, "the document ends within a character") }
    }

    /// How many bytes at the end begin a character and do not complete it.
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

    private mutating func decodeUTF16(_ isBigEndian: Bool, _ isLast: Bool, _ output: inout [UInt8]) throws(XMLError) {
        var units: [UInt16] = []
        units.reserveCapacity(held.count / 2)
        for index in stride(from: 0, to: held.count - 1, by: 2) {
            let (a, b) = (UInt16(held[index]), UInt16(held[index + 1]))
            units.append(isBigEndian ? a << 8 | b : b << 8 | a)
        }
        if let last = units.last, UTF16.isLeadSurrogate(last), !isLast { units.removeLast() }
        held.removeFirst(units.count * 2)
        guard let text = String(validating: units, as: UTF16.self) else {
            throw XMLError(.charset, "the bytes are not valid UTF-16")
        }
        output += text.utf8
        if isLast, !held.isEmpty { throw XMLError(.truncated, "the document ends within a character") }
    }

    /// Charsets of the system: the text of a response is where Errand knows them.
    private mutating func convert(_ name: String, _ output: inout [UInt8]) throws(XMLError) {
        if held.isEmpty { return }
        guard let place = URL(string: "about:blank"),
            let text = try? HTTPResponse(
                url: place, status: 200, headers: [.contentType: "text/plain; charset=\(name)"],
                body: HTTPBody(Data(held))
            ).text()
        else { throw XMLError(.charset, "\(name) is not known, or the bytes are not valid in it") }
        held.removeAll()
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if case .whole = coding, text.utf8.starts(with: mark) {
            output += text.utf8.dropFirst(mark.count)
        } else {
            output += text.utf8
        }
    }
}
