public import ErrandEssentials

/// Signs messages. ``PrivateKey`` and ``HMACKey`` do it in memory. Conform to it for a key in hardware or in a service
/// that signs.
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
/// Descriptions must not show the key.
public protocol KeySigner: Sendable {
    /// The algorithms that the key can be used with, the preferred one first.
    var algorithms: [KeyAlgorithm] { get }
    /// Returns the signature of a message. ECDSA signatures are r followed by s, not DER.
    ///
    /// Throws ``KeyError`` with ``ErrandHTTP/FailureCode/keyMismatch`` for another algorithm.
    func signature(of message: Data, by algorithm: KeyAlgorithm) async throws -> Data
}

/// Verifies signatures. ``PublicKey`` and ``HMACKey`` conform to it.
public protocol KeyVerifier: Sendable {
    /// The algorithms that the key can be used with, the preferred one first.
    var algorithms: [KeyAlgorithm] { get }
    /// Returns whether a signature belongs to the message and this key. A signature of the wrong length is invalid, not
    /// an error.
    ///
    /// Throws ``KeyError`` with ``ErrandHTTP/FailureCode/keyMismatch`` for another algorithm.
    func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) async throws -> Bool
}
