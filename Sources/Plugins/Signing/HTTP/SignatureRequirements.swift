public import ErrandEssentials
import ErrandHTTP
public import ErrandKeys

/// The requirements that a signature must meet for ``HTTPMessageVerifier`` to accept it.
public struct SignatureRequirements: Sendable {
    /// Components that the signature has to cover. A component with other parameters doesn't count.
    public var components: [SignatureComponent]
    /// The maximum age of a signature, by its parameter `created`, which it then must have. Nil accepts any age. Defaults
    /// to five minutes.
    public var maximumAge: Duration? = .seconds(300)
    /// How far `created` can be in the future and `expires` in the past. Defaults to five seconds.
    public var clockTolerance: Duration = .seconds(5)
    /// Whether a message with content needs a `Content-Digest` that the signature covers and that fits. Defaults to
    /// true.
    public var coversContent = true
    /// The label that the signature must have. Nil, the default, accepts any label.
    public var label: String?
    /// The tag that the signature must have. Nil, the default, accepts any tag and no tag.
    public var tag: String?
    /// The store of the nonces of accepted signatures, so each is accepted once. Without it, the default, a nonce isn't
    /// needed and isn't checked.
    public var nonces: (any NonceStore)?
    /// The most signatures in a message. More throw ``Errand/FailureCode/tooManySignatures``. Defaults to 16.
    public var maximumSignatures = 16

    /// Creates requirements.
    ///
    /// - Parameter components: The components that the signature has to cover, at least.
    public init(covering components: [SignatureComponent]) { self.components = components }
}

/// A key that verifies signatures, and the algorithm to accept.
public struct VerificationKey: Sendable {
    let verifier: any KeyVerifier
    let algorithm: KeyAlgorithm?

    /// Creates a key from a public or shared key.
    ///
    /// - Parameters:
    ///   - verifier: The public or shared key.
    ///   - algorithm: The only algorithm to accept. Defaults to nil: the algorithm that the signature names, or the
    ///     key's only one.
    public init(_ verifier: any KeyVerifier, algorithm: KeyAlgorithm? = nil) {
        (self.verifier, self.algorithm) = (verifier, algorithm)
    }
}

/// Finds the key that verifies a signature, by the key's ID.
public protocol VerificationKeySource: Sendable {
    /// Returns the key with an ID, or nil if it's unknown. The ID comes from the message and isn't verified yet, so
    /// don't use it as a path or a URL.
    func key(id: String?) async throws -> VerificationKey?
}

/// A fixed set of keys by their ID.
public struct KnownKeys: VerificationKeySource, ExpressibleByDictionaryLiteral {
    private let keys: [String: VerificationKey]

    /// Creates a set of keys from a dictionary by ID.
    public init(_ keys: [String: VerificationKey]) { self.keys = keys }
    /// Creates a set of keys from a literal. If an ID repeats, its last key is used.
    public init(dictionaryLiteral elements: (String, VerificationKey)...) {
        self.init([String: VerificationKey](elements) { _, last in last })
    }

    /// Returns the key with an ID, or nil if the set doesn't contain it.
    public func key(id: String?) -> VerificationKey? { id.flatMap { keys[$0] } }
}

/// Stores the nonces of accepted signatures, so a signature is accepted only once.
public protocol NonceStore: Sendable {
    /// Records the nonce of a valid signature. Returns false if it was recorded before, or can't be recorded.
    ///
    /// - Parameters:
    ///   - nonce: The nonce.
    ///   - keyID: The ID of the key. Nonces of different keys are independent.
    ///   - now: The current date.
    ///   - expiry: The date from which the signature is too old anyway, so the nonce can be forgotten.
    func record(_ nonce: String, keyID: String?, at now: Date, until expiry: Date) async throws -> Bool
}
