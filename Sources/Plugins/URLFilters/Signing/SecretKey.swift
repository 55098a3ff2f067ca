public import ErrandEssentials

/// A key or token that descriptions never show.
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
    /// Masked.
    public var description: String { "•••" }
    /// Masked.
    public var debugDescription: String { description }
    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
