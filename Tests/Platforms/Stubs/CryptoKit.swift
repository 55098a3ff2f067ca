// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public func finalize() -> SHA256Digest { fatalError() }
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
}

public struct SHA384Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA384: HashFunction {
    public init() {}
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public func finalize() -> SHA384Digest { fatalError() }
}

public struct SHA512Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA512: HashFunction {
    public init() {}
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public func finalize() -> SHA512Digest { fatalError() }
}

public protocol HashFunction: Sendable {}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct HMAC<H: HashFunction>: Sendable {
    public typealias MAC = HashedAuthenticationCode<H>
    public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> MAC {
        fatalError()
    }
    public static func isValidAuthenticationCode<C: ContiguousBytes, D: DataProtocol>(
        _ mac: C, authenticating data: D, using key: SymmetricKey
    ) -> Bool { fatalError() }
}

public enum Curve25519 {
    public enum Signing {
        public struct PrivateKey: Sendable {
            public init() {}
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public var publicKey: PublicKey { fatalError() }
            public var rawRepresentation: Data { fatalError() }
            public func signature<D: DataProtocol>(for data: D) throws -> Data { fatalError() }
        }

        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public var rawRepresentation: Data { fatalError() }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                fatalError()
            }
        }
    }
}

public enum P256 {
    public enum Signing {
        public struct PrivateKey: Sendable {
            public init(compactRepresentable: Bool = true) {}
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public var publicKey: PublicKey { fatalError() }
            public var rawRepresentation: Data { fatalError() }
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature { fatalError() }
        }

        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(x963Representation data: D) throws { fatalError() }
            public var x963Representation: Data { fatalError() }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                fatalError()
            }
        }

        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation data: D) throws { fatalError() }
            public var rawRepresentation: Data { fatalError() }
        }
    }
}

public enum P384 {
    public enum Signing {
        public struct PrivateKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public var publicKey: PublicKey { fatalError() }
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature { fatalError() }
        }

        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(x963Representation data: D) throws { fatalError() }
            public var x963Representation: Data { fatalError() }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                fatalError()
            }
        }

        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation data: D) throws { fatalError() }
            public var rawRepresentation: Data { fatalError() }
        }
    }
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
