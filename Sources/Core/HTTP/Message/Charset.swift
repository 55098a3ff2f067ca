public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A charset of the WHATWG Encoding standard, as a `Content-Type` or an XML declaration names it.
///
/// A label means what that standard says, which is often a superset: `iso-8859-1` and `us-ascii` are windows-1252, and
/// `gb2312` is GBK. Labels that the standard doesn't list, such as `utf-7`, name nothing.
///
/// ```swift
/// let text = Charset(label: "Shift_JIS")?.decode(bytes)
/// ```
public struct Charset: Sendable, Hashable {
    /// The name in the standard, in lower case: "windows-1252".
    public let name: String

    /// UTF-8.
    public static let utf8 = Charset(name: "utf-8")

    private init(name: String) { self.name = name }

    /// Finds the charset that a label names, in any case and between blanks; nil if no charset has that label (WHATWG
    /// Encoding, section 4.2).
    public init?(label: String) {
        let label = label.utf8.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed()
        guard label.count < 40 else { return nil }
        let key = String(decoding: label.map(ASCII.lowercase), as: UTF8.self)
        guard let name = key == "utf-8" ? key : Self.names[key] else { return nil }
        self.name = name
    }

    /// The text of bytes; nil if they aren't valid in the charset, or if the system lacks its characters.
    ///
    /// The standard's "decode": a byte order mark of UTF-8 or UTF-16 overrides the label, and isn't part of the text.
    /// Chinese, Japanese and Korean characters come from the system: on Linux from the tables of its `iconv`.
    ///
    /// - Parameters:
    ///   - bytes: the encoded text.
    ///   - ignoresByteOrderMark: whether to decode all bytes by this charset, as for a piece out of the middle
    ///     of a text. Defaults to false.
    public func decode(_ bytes: Data, ignoresByteOrderMark: Bool = false) -> String? {
        if !ignoresByteOrderMark {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Self.utf8.text(bytes.dropFirst(3)) }
            if bytes.starts(with: [0xFE, 0xFF]) { return Charset(name: "utf-16be").text(bytes.dropFirst(2)) }
            if bytes.starts(with: [0xFF, 0xFE]) { return Charset(name: "utf-16le").text(bytes.dropFirst(2)) }
        }
        return text(bytes)
    }

    private func text(_ bytes: Data) -> String? {
        if name == "utf-8" { return String(validating: bytes, as: UTF8.self) }
        if bytes.isEmpty { return "" }
        switch name {
        case "utf-16le", "utf-16be": return Self.utf16(bytes, isBigEndian: name == "utf-16be")
        case "x-user-defined": return Self.singleBytes(bytes) { 0xF780 + UInt32($0 - 0x80) }
        // Charsets in which an attacker can hide markup: the standard decodes them to an error.
        case "replacement": return nil
        default:
            if let table = Self.table(name) {
                return Self.singleBytes(bytes) { table[Int($0) - 0x80] }
            }
            var decoder = DoubleByteDecoder(bytes)
            return decoder.text(name)
        }
    }

    /// Whether the system has the characters of the charset.
    var isAvailable: Bool { DoubleByteDecoder.isAvailable(name) }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func utf16(_ bytes: Data, isBigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let bytes = Array(bytes)
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units = stride(from: 0, to: bytes.count, by: 2).map {
            UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
        }
        return String(validating: units, as: UTF16.self)
    }

    /// ASCII, and a character for each other byte; zero for a byte without one.
    private static func singleBytes(_ bytes: Data, _ scalar: (UInt8) -> UInt32) -> String? {
        var text = ScalarText(capacity: bytes.count)
        for byte in bytes {
            if byte < 0x80 { text.append(ascii: byte) } else if !text.append(scalar(byte)) { return nil }
        }
        return text.string
    }
}

/// Text that grows by one scalar at a time.
struct ScalarText {
    private var utf8: [UInt8] = []

    init(capacity: Int) { utf8.reserveCapacity(capacity) }

    var string: String { String(decoding: utf8, as: UTF8.self) }

    mutating func append(ascii byte: UInt8) { utf8.append(byte) }

    /// False for zero, which stands for no character.
    mutating func append(_ value: UInt32) -> Bool {
        guard value != 0, let encoded = Unicode.Scalar(value).flatMap(UTF8.encode) else { return false }
        utf8.append(contentsOf: encoded)
        return true
    }
}
