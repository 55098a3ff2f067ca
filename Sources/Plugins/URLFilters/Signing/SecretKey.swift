public import ErrandEssentials

/// A key or a token that no description shows.
public struct SecretKey: Sendable, Hashable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    /// The text's UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }
    /// Bytes.
    public init(_ data: some Sequence<UInt8>) { bytes = Array(data) }
    /// The text's UTF-8; keep keys out of code that others can read.
    public init(stringLiteral value: String) { self.init(value) }

    /// The text in the clear, for a header or a parameter; what is not UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The bytes in the clear.
    public var data: Data { Data(bytes) }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Masked.
    public var description: String { "•••" }
    /// Masked.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
