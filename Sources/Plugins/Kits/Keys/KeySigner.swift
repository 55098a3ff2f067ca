public import ErrandEssentials

/// A key that signs messages, such as a ``PrivateKey`` or an ``HMACKey``. Conform to this protocol to use a key in
/// hardware or in a signing service.
///
/// ```swift
/// struct EnclaveKey: KeySigner {
///     let key: any SealedKey
///     var algorithms: [KeyAlgorithm] { [.ecdsaP256SHA256] }
///
///     func signature(of message: Data, by algorithm: KeyAlgorithm) async throws -> Data {
///         try await key.sign(message)
///     }
/// }
/// ```
///
/// A signer's description must not contain the key.
public protocol KeySigner: Sendable {
    /// The algorithms for the key. The preferred one is first.
    var algorithms: [KeyAlgorithm] { get }
    /// Returns a message's signature. An ECDSA signature is the number r followed by the number s, not DER.
    ///
    /// Throws ``KeyError`` with ``ErrandHTTP/FailureCode/keyMismatch`` for another algorithm.
    func signature(of message: Data, by algorithm: KeyAlgorithm) async throws -> Data
}

/// A key that verifies signatures, such as a ``PublicKey`` or an ``HMACKey``.
public protocol KeyVerifier: Sendable {
    /// The algorithms for the key. The preferred one is first.
    var algorithms: [KeyAlgorithm] { get }
    /// Returns whether this key made the message's signature. Returns `false` for a signature of the wrong length.
    ///
    /// Throws ``KeyError`` with ``ErrandHTTP/FailureCode/keyMismatch`` for another algorithm.
    func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) async throws -> Bool
}
