// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public func finalize() -> SHA256Digest { fatalError() }
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
}

public struct SymmetricKey: Sendable {
    public init<D: ContiguousBytes>(data: D) { fatalError() }
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sequence, Sendable {
            public init<D: DataProtocol>(data: D) throws { fatalError() }
            public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
        }

        public struct SealedBox: Sendable {
            public init<D: DataProtocol>(combined: D) throws { fatalError() }
            public var nonce: Nonce { fatalError() }
            public var ciphertext: Data { fatalError() }
            public var tag: Data { fatalError() }
        }

        public static func seal<Plaintext: DataProtocol>(
            _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil
        ) throws -> SealedBox { fatalError() }

        public static func open(_ sealedBox: SealedBox, using key: SymmetricKey) throws -> Data { fatalError() }
    }
}
