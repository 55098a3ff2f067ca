import ErrandMessageSyntax
import ErrandSupport

/// The name of a header field. Names compare without case, and are sent as they were written (RFC 9110, section 5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let rawName: String

    /// Makes a name of any spelling; it is checked when a request is sent.
    public init(_ rawName: String) { self.rawName = rawName }
    /// Makes a name of any spelling.
    public init(stringLiteral value: String) { self.init(value) }

    // Every header of every message is tested in these two ways: the length alone tells almost all apart.

    /// Whether it is `Content-Length` or `Transfer-Encoding`.
    var isFraming: Bool {
        switch rawName.utf8.count {
        case 14: self == .contentLength
        case 17: self == .transferEncoding
        default: false
        }
    }

    /// Whether a message may contain the name: one or more token characters.
    public var isValid: Bool {
        rawName.withSpan { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                // Most names are of these bytes alone, which costs no call for each.
                if 0x61...0x7A ~= byte | 0x20 || byte == UInt8(ascii: "-") { continue }
                if !ASCII.isToken(byte) { return false }
            }
            return !bytes.isEmpty
        }
    }

    /// Whether a header of this name holds a secret by definition: credentials and cookies.
    public var isSensitive: Bool {
        switch rawName.utf8.count {
        case 6: self == .cookie
        case 10: self == .setCookie
        case 13: self == .authorization
        case 19: self == .proxyAuthorization
        default: false
        }
    }

    /// Whether two names differ only in the case of their letters.
    public static func == (a: HTTPHeaderName, b: HTTPHeaderName) -> Bool {
        a.rawName.utf8.count == b.rawName.utf8.count && a.ending == b.ending
            && ASCII.equalsIgnoringCase(a.rawName, b.rawName)
    }

    /// The last byte, the same in both cases of a letter: it tells most names of one length apart.
    private var ending: UInt8 { (rawName.utf8.last ?? 0) | 0x20 }

    /// Hashes the name in lower case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawName.utf8 { hasher.combine(ASCII.lowercase(byte)) }
    }

    /// The name as it was written.
    public var description: String { rawName }
}
