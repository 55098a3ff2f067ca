public import ErrandEssentials

/// The servers that a ``CurlTransport`` trusts, and the certificates with which it identifies your app.
///
/// ```swift
/// configuration.tls.publicKeyPins["api.example.com"] = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backupPin]
/// ```
///
/// Certificates are always verified. If a setting doesn't work, for example because of a missing file or an invalid
/// pin, every request fails with `insecureConnection`.
public struct CurlTLS: Sendable {
    /// The authorities that may sign a server's certificate.
    public enum Roots: Sendable, Hashable {
        /// The authorities that the system trusts.
        case system
        /// Only the authorities in a PEM file.
        case file(URL)
        /// Only the authorities in this PEM data. Requires libcurl 7.77 or later.
        case pem(Data)
    }

    /// A TLS version that the transport can require.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
    }

    /// The authorities that may sign a server's certificate. Defaults to the system's authorities.
    public var roots = Roots.system
    /// The client certificates for servers that request a certificate, with the servers' origins as keys. Defaults to
    /// `nil`.
    public var identities: CurlIdentities?
    /// The oldest TLS version that the transport accepts. Defaults to TLS 1.2.
    public var minimumVersion = Version.v1_2
    /// The accepted public keys by host, with `"*"` for all other hosts. Defaults to an empty dictionary, which accepts
    /// all keys.
    ///
    /// Each pin is the Base64 of the SHA-256 of a SubjectPublicKeyInfo. One matching pin suffices, so you can rotate
    /// keys. Host names ignore case, a final dot and the spelling of an address. Write non-Latin names in Punycode. If
    /// a dictionary key isn't a host name, every request fails with `insecureConnection`.
    public var publicKeyPins: [String: [String]] = [:]
    /// Whether to accept a trusted certificate that was issued for another host. The certificate's owner can then read
    /// and change everything, so use this only for tests. Defaults to `false`.
    public var dangerouslyAcceptsCertificatesOfOtherHosts = false

    /// Creates settings in which every property has its default.
    public init() {}
}
