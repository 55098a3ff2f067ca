import ErrandDigests
public import ErrandEssentials
import ErrandSupport

/// Computes a signature from a message and a key.
///
/// Prefer `.hmacSHA256`. The other algorithms are for services that require them. To use another algorithm, see
/// ``custom(_:_:)``.
public struct SigningAlgorithm: Sendable, CustomStringConvertible {
    /// The algorithm's name, for logs.
    public let description: String
    private let work: @Sendable (_ message: Data, _ key: SecretKey) throws -> Data

    private init(_ name: String, _ work: @escaping @Sendable (_ message: Data, _ key: SecretKey) throws -> Data) {
        (description, self.work) = (name, work)
    }

    /// Returns your own algorithm: `.custom("ed25519") { message, key in try sign(message, key.data) }`.
    public static func custom(
        _ name: String, _ work: @escaping @Sendable (_ message: Data, _ key: SecretKey) throws -> Data
    ) -> SigningAlgorithm { SigningAlgorithm(name, work) }

    /// HMAC (RFC 2104) with SHA-256.
    public static let hmacSHA256 = SigningAlgorithm("HMAC-SHA-256") { message, key in
        Data(HMAC<SHA256Digest>.code(for: message, key: key.bytes))
    }
    /// HMAC (RFC 2104) with SHA-1.
    public static let hmacSHA1 = SigningAlgorithm("HMAC-SHA-1") { message, key in
        Data(HMAC<SHA1Digest>.code(for: message, key: key.bytes))
    }
    /// SHA-256 of the message followed by the key.
    public static let sha256 = suffixed("SHA-256", SHA256Digest.self)
    /// SHA-1 of the message followed by the key. SHA-1 is broken, so use it only for services that require it.
    public static let sha1 = suffixed("SHA-1", SHA1Digest.self)
    /// MD5 of the message followed by the key. MD5 is broken, so use it only for services that require it.
    public static let md5 = suffixed("MD5", MD5Digest.self)

    private static func suffixed<Digest: MessageDigest>(_ name: String, _ type: Digest.Type) -> SigningAlgorithm {
        SigningAlgorithm(name) { message, key in
            var digest = Digest()
            digest.update(message)
            digest.update(key.bytes)
            return Data(digest.finalized())
        }
    }

    /// Returns a message's signature. Throws any error of a custom algorithm.
    public func signature(of message: Data, key: SecretKey) throws -> Data { try work(message, key) }
}

/// The text encoding of a signature's bytes.
public enum SignatureEncoding: Sendable, Hashable {
    /// Lowercase hexadecimal digits. This is the default.
    case hexadecimal
    /// Base64 (RFC 4648, section 4).
    case base64
    /// Base64url without padding (RFC 4648, section 5).
    case base64URL

    /// Returns the encoded bytes.
    public func text(of bytes: Data) -> String {
        switch self {
        case .hexadecimal: Hexadecimal.text(Array(bytes))
        case .base64: bytes.base64EncodedString()
        case .base64URL:
            bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
    }
}

/// A key or token. Descriptions never show it.
public struct SecretKey: Sendable, Hashable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    /// Creates a key from the UTF-8 bytes of a string.
    public init(_ text: String) { bytes = Array(text.utf8) }
    /// Creates a key from bytes.
    public init(_ data: some Sequence<UInt8>) { bytes = Array(data) }
    /// Creates a key from a literal. Don't put production keys in source code.
    public init(stringLiteral value: String) { self.init(value) }

    /// The unmasked key as text, for a header or parameter. Invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The unmasked key as bytes.
    public var data: Data { Data(bytes) }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A mask in place of the key.
    public var description: String { "•••" }
    /// A mask in place of the key.
    public var debugDescription: String { description }
    /// A mirror without children, to hide the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
