public import ErrandEssentials

/// A key or a token that no description shows.
public struct SecretKey: Sendable, Hashable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    /// Makes a key of the UTF-8 bytes of a text.
    public init(_ text: String) { bytes = Array(text.utf8) }
    /// Makes a key of bytes.
    public init(_ data: some Sequence<UInt8>) { bytes = Array(data) }
    /// Makes a key of a literal; do not put production keys in source code.
    public init(stringLiteral value: String) { self.init(value) }

    /// The key as text in the clear, for a header or a parameter; invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The key as bytes in the clear.
    public var data: Data { Data(bytes) }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Masked.
    public var description: String { "•••" }
    /// Masked.
    public var debugDescription: String { description }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
