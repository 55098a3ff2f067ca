public import ErrandEssentials
import ErrandHTTP
public import ErrandKeys

/// The requirements for signatures that an ``HTTPMessageVerifier`` accepts.
public struct SignatureRequirements: Sendable {
    /// The components that a signature must cover, with the same parameters.
    public var components: [SignatureComponent]
    /// The maximum age of a signature. Signatures without `created` are then rejected. Nil accepts any age. Defaults to
    /// five minutes.
    public var maximumAge: Duration? = .seconds(300)
    /// The tolerance for different clocks: how far `created` may be in the future, and `expires` in the past. Defaults
    /// to five seconds.
    public var clockTolerance: Duration = .seconds(5)
    /// Whether a message with content needs a matching `Content-Digest` that the signature covers. Defaults to true.
    public var coversContent = true
    /// The required label. Defaults to nil, which accepts any label.
    public var label: String?
    /// The required tag. Defaults to nil, which accepts any tag and signatures without a tag.
    public var tag: String?
    /// A store for nonces. With a store, each signature needs a nonce and is accepted only once. Defaults to nil, which
    /// neither requires nor checks nonces.
    public var nonces: (any NonceStore)?
    /// The maximum number of signatures in a message. If there are more, verifying throws
    /// ``Errand/FailureCode/tooManySignatures``. Defaults to 16.
    public var maximumSignatures = 16

    /// Creates requirements.
    ///
    /// - Parameter components: The components that a signature must cover.
    public init(covering components: [SignatureComponent]) { self.components = components }
}

/// A key to verify signatures with, and the algorithm to accept.
public struct VerificationKey: Sendable {
    let verifier: any KeyVerifier
    let algorithm: KeyAlgorithm?

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - verifier: The public or shared key.
    ///   - algorithm: The only algorithm to accept. Defaults to nil, which accepts the algorithm that the signature
    ///     names, or the key's algorithm if the key has only one.
    public init(_ verifier: any KeyVerifier, algorithm: KeyAlgorithm? = nil) {
        (self.verifier, self.algorithm) = (verifier, algorithm)
    }
}

/// Finds keys by ID.
public protocol VerificationKeySource: Sendable {
    /// Returns the key with an ID, or nil if the ID is unknown. The ID comes from an unverified message, so don't use
    /// it as a path or a URL.
    func key(id: String?) async throws -> VerificationKey?
}

/// A fixed set of keys, by ID.
public struct KnownKeys: VerificationKeySource, ExpressibleByDictionaryLiteral {
    private let keys: [String: VerificationKey]

    /// Creates a set of keys.
    public init(_ keys: [String: VerificationKey]) { self.keys = keys }
    /// Creates a set of keys from a literal. If an ID is repeated, its last key counts.
    public init(dictionaryLiteral elements: (String, VerificationKey)...) {
        self.init([String: VerificationKey](elements) { _, last in last })
    }

    /// Returns the key with an ID, or nil.
    public func key(id: String?) -> VerificationKey? { id.flatMap { keys[$0] } }
}

/// Stores nonces, so each signature is accepted only once.
public protocol NonceStore: Sendable {
    /// Records the nonce of a valid signature. Returns false if the nonce was recorded before or can't be recorded.
    ///
    /// - Parameters:
    ///   - nonce: The nonce.
    ///   - keyID: The key's ID. Nonces of different keys are independent.
    ///   - now: The current date.
    ///   - expiry: When the signature becomes too old, so the store can forget the nonce.
    func record(_ nonce: String, keyID: String?, at now: Date, until expiry: Date) async throws -> Bool
}
