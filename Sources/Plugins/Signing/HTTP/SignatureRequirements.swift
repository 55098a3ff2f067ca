public import ErrandEssentials
import ErrandHTTP
public import ErrandKeys

/// What a signature has to be like, so ``HTTPMessageVerifier`` accepts it.
public struct SignatureRequirements: Sendable {
    /// Components that the signature has to cover. A component with other parameters doesn't count.
    public var components: [SignatureComponent]
    /// The longest time since `created`, which the signature must have. Nil to accept any age. Defaults to five minutes.
    public var maximumAge: Duration? = .seconds(300)
    /// How far `created` can be in the future and `expires` in the past. Defaults to five seconds.
    public var clockTolerance: Duration = .seconds(5)
    /// Whether a message with content needs a `Content-Digest` that the signature covers and that fits. Defaults to
    /// true.
    public var coversContent = true
    /// The label of the signature. Nil, the default, accepts any label.
    public var label: String?
    /// The tag of the signature. Nil, the default, accepts any tag and no tag.
    public var tag: String?
    /// Remembers the nonces of accepted signatures. Without it, the default, a nonce isn't needed and isn't checked.
    public var nonces: (any NonceStore)?
    /// The number of signatures in a message. More throw ``Errand/FailureCode/tooManySignatures``. Defaults to 16.
    public var maximumSignatures = 16

    /// Creates requirements.
    ///
    /// - Parameter components: The components that the signature has to cover, at least.
    public init(covering components: [SignatureComponent]) { self.components = components }
}

/// A key to verify with.
public struct VerificationKey: Sendable {
    let verifier: any KeyVerifier
    let algorithm: KeyAlgorithm?

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - verifier: The public or shared key.
    ///   - algorithm: The only algorithm to accept. Defaults to nil: the algorithm that the signature names, or the
    ///     key's only one.
    public init(_ verifier: any KeyVerifier, algorithm: KeyAlgorithm? = nil) {
        (self.verifier, self.algorithm) = (verifier, algorithm)
    }
}

/// Finds the keys of signatures.
public protocol VerificationKeySource: Sendable {
    /// Returns the key for a signature, or nil if it's unknown. The ID is what the signature says: don't use it as a path
    /// or a URL.
    func key(id: String?) async throws -> VerificationKey?
}

/// A fixed set of keys by their ID.
public struct KnownKeys: VerificationKeySource, ExpressibleByDictionaryLiteral {
    private let keys: [String: VerificationKey]

    /// Creates a set of keys.
    public init(_ keys: [String: VerificationKey]) { self.keys = keys }
    /// Creates a set of keys from a literal. If an ID repeats, its last key is used.
    public init(dictionaryLiteral elements: (String, VerificationKey)...) {
        self.init([String: VerificationKey](elements) { _, last in last })
    }

    /// Returns the key with the ID.
    public func key(id: String?) -> VerificationKey? { id.flatMap { keys[$0] } }
}

/// Remembers nonces, so a signature is accepted only once.
public protocol NonceStore: Sendable {
    /// Records a nonce of a valid signature. Returns false if it is known, or can't be recorded.
    ///
    /// - Parameters:
    ///   - nonce: The nonce.
    ///   - keyID: The ID of the key. Nonces of different keys are independent.
    ///   - now: The current date.
    ///   - expiry: The date from which the signature is too old anyway, so the nonce can be forgotten.
    func record(_ nonce: String, keyID: String?, at now: Date, until expiry: Date) async throws -> Bool
}
