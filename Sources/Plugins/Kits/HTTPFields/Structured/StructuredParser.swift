import ErrandEssentials
import ErrandMessageSyntax

/// RFC 9651, section 4.2.
struct StructuredParser {
    typealias Failure = StructuredField.ParseError

    /// Members, and parameters or items per member. Each limit is four times the minimum that RFC 9651, section 3,
    /// requires of a parser.
    static let (maximumMembers, maximumParts) = (4_096, 1_024)

    private let bytes: [UInt8]
    private var position = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Skips spaces at both ends.
    static func parse<Value>(
        _ text: String, _ body: (inout StructuredParser) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var parser = StructuredParser(text)
        parser.skip { $0 == 0x20 }
        let value = try body(&parser)
        parser.skip { $0 == 0x20 }
        guard parser.next == nil else { throw parser.failure("the end") }
        return value
    }

    mutating func list() throws(Failure) -> [StructuredField.Member] {
        var members: [StructuredField.Member] = []
        while next != nil {
            guard members.count < Self.maximumMembers else { throw failure("at most \(Self.maximumMembers) members") }
            members.append(try member())
            if try !continues() { break }
        }
        return members
    }

    mutating func dictionary() throws(Failure) -> StructuredField.Dictionary {
        var dictionary = StructuredField.Dictionary()
        var count = 0
        while next != nil {
            count += 1
            guard count <= Self.maximumMembers else { throw failure("at most \(Self.maximumMembers) members") }
            let key = try key()
            if take(UInt8(ascii: "=")) {
                dictionary[key] = try member()
            } else {
                dictionary[key] = .item(.init(.boolean(true), parameters: try parameters()))
            }
            if try !continues() { break }
        }
        return dictionary
    }

    mutating func item() throws(Failure) -> StructuredField.Item {
        let value = try bareItem()
        return StructuredField.Item(value, parameters: try parameters())
    }

    private mutating func continues() throws(Failure) -> Bool {
        skip(ASCII.isBlank)
        if next == nil { return false }
        guard take(UInt8(ascii: ",")) else { throw failure("a comma") }
        skip(ASCII.isBlank)
        guard next != nil else { throw failure("another member after the comma") }
        return true
    }

    private mutating func member() throws(Failure) -> StructuredField.Member {
        next == UInt8(ascii: "(") ? .innerList(try innerList()) : .item(try item())
    }

    private mutating func innerList() throws(Failure) -> StructuredField.InnerList {
        position += 1
        var items: [StructuredField.Item] = []
        while true {
            skip { $0 == 0x20 }
            if take(UInt8(ascii: ")")) { return .init(items, parameters: try parameters()) }
            guard items.count < Self.maximumParts else { throw failure("at most \(Self.maximumParts) items") }
            items.append(try item())
            guard next == 0x20 || next == UInt8(ascii: ")") else { throw failure("a space or )") }
        }
    }

    private mutating func parameters() throws(Failure) -> StructuredField.Parameters {
        var parameters = StructuredField.Parameters()
        var count = 0
        while take(UInt8(ascii: ";")) {
            count += 1
            guard count <= Self.maximumParts else { throw failure("at most \(Self.maximumParts) parameters") }
            skip { $0 == 0x20 }
            let key = try key()
            parameters[key] = take(UInt8(ascii: "=")) ? try bareItem() : .boolean(true)
        }
        return parameters
    }

    private mutating func key() throws(Failure) -> String {
        guard let first = next, Self.beginsKey(first) else { throw failure("a key") }
        return text(of: run(Self.isKey))
    }

    private mutating func bareItem() throws(Failure) -> StructuredField.BareItem {
        guard let first = next else { throw failure("an item") }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: ":"): return .bytes(try byteSequence())
        case UInt8(ascii: "?"):
            position += 1
            if take(UInt8(ascii: "1")) { return .boolean(true) }
            if take(UInt8(ascii: "0")) { return .boolean(false) }
            throw failure("0 or 1")
        case UInt8(ascii: "@"):
            let start = position
            position += 1
            guard case .integer(let seconds) = try number() else { throw failure("whole seconds", at: start) }
            return .date(seconds)
        case UInt8(ascii: "%"): return .displayString(try displayString())
        case _ where Self.beginsToken(first): return .token(text(of: run(Self.isToken)))
        default: throw failure("an item")
        }
    }

    private mutating func number() throws(Failure) -> StructuredField.BareItem {
        let isNegative = take(UInt8(ascii: "-"))
        let whole = run(ASCII.isDigit)
        guard !whole.isEmpty else { throw failure("a digit") }
        let sign: Int64 = isNegative ? -1 : 1
        guard take(UInt8(ascii: ".")) else {
            guard whole.count <= 15 else { throw failure("at most 15 digits") }
            return .integer(sign * value(of: whole))
        }
        let fraction = run(ASCII.isDigit)
        guard whole.count <= 12 else { throw failure("at most 12 digits before the point") }
        guard (1...3).contains(fraction.count) else { throw failure("one to three digits after the point") }
        let scale: Int64 = [100, 10, 1][fraction.count - 1]
        return .decimal(.init(thousandths: sign * (value(of: whole) * 1000 + value(of: fraction) * scale)))
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var content: [UInt8] = []
        while let byte = next {
            guard byte >= 0x20, byte < 0x7F else { throw failure("printable ASCII") }
            position += 1
            if byte == UInt8(ascii: "\"") { return text(of: content[...]) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw failure("\" or \\ after a backslash")
                }
                content.append(escaped)
                position += 1
            } else {
                content.append(byte)
            }
        }
        throw failure("the closing quote")
    }

    private mutating func byteSequence() throws(Failure) -> Data {
        position += 1
        let start = position
        var content = text(of: run { $0 != UInt8(ascii: ":") })
        guard take(UInt8(ascii: ":")) else { throw failure("the closing colon") }
        // Padding may be missing (section 4.2.7).
        if !content.utf8.contains(UInt8(ascii: "=")) {
            content += String(repeating: "=", count: (4 - content.utf8.count % 4) % 4)
        }
        guard let data = Data(base64Encoded: content) else { throw failure("base64", at: start) }
        return data
    }

    private mutating func displayString() throws(Failure) -> String {
        let start = position
        position += 1
        guard take(UInt8(ascii: "\"")) else { throw failure("a quote") }
        var content: [UInt8] = []
        while let byte = next {
            guard byte >= 0x20, byte < 0x7F else { throw failure("printable ASCII") }
            position += 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: content, as: UTF8.self) else { throw failure("UTF-8", at: start) }
                return text
            }
            guard byte == UInt8(ascii: "%") else {
                content.append(byte)
                continue
            }
            content.append(try lowerHex() << 4 | lowerHex())
        }
        throw failure("the closing quote")
    }

    /// Rejects uppercase digits (section 4.2.10).
    private mutating func lowerHex() throws(Failure) -> UInt8 {
        guard let byte = next, !(byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F")),
            let value = ASCII.hexValue(byte)
        else { throw failure("two lowercase hexadecimal digits") }
        position += 1
        return value
    }

    static func beginsKey(_ byte: UInt8) -> Bool { isLowerLetter(byte) || byte == UInt8(ascii: "*") }

    static func isKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"): true
        default: isLowerLetter(byte) || ASCII.isDigit(byte)
        }
    }

    static func beginsToken(_ byte: UInt8) -> Bool { ASCII.isLetter(byte) || byte == UInt8(ascii: "*") }

    static func isToken(_ byte: UInt8) -> Bool {
        ASCII.isToken(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }

    private static func isLowerLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
}

extension StructuredParser {
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(_ passes: (UInt8) -> Bool) { _ = run(passes) }

    private mutating func run(_ passes: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while let next, passes(next) { position += 1 }
        return bytes[start..<position]
    }

    private func text(of bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The value fits in an `Int64`, because there are at most 15 digits.
    private func value(of digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private func failure(_ expected: String, at offset: Int? = nil) -> Failure {
        Failure(offset: offset ?? position, expected: expected)
    }
}

/// An ordered map with unique keys. Lookup doesn't scan long maps.
struct OrderedFields<Value> {
    private(set) var all: [(key: String, value: Value)] = []
    /// Empty for `few` keys or less.
    private var positions: [String: Int] = [:]

    private static var few: Int { 16 }

    func position(of key: String) -> Int? {
        all.count > Self.few ? positions[key] : all.firstIndex { $0.key == key }
    }

    subscript(key: String) -> Value? {
        get { position(of: key).map { all[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let index?, let value?): all[index].value = value
            case (let index?, nil):
                all.remove(at: index)
                remember(from: index)
            case (nil, let value?):
                all.append((key, value))
                remember(from: all.count == Self.few + 1 ? 0 : all.count - 1)
            case (nil, nil): break
            }
        }
    }

    private mutating func remember(from index: Int) {
        guard all.count > Self.few else { return positions = [:] }
        if positions.count > all.count { positions = [:] }
        for position in (positions.isEmpty ? 0 : index)..<all.count { positions[all[position].key] = position }
    }
}

extension OrderedFields: Sendable where Value: Sendable {}
