public import ErrandEssentials

/// The servers a ``CurlTransport`` trusts, and the certificate with which it identifies itself.
///
/// ```swift
/// configuration.tls.publicKeyPins["api.example.com"] = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backupPin]
/// ```
///
/// Certificates are always verified. If a setting can't be applied, for example because of a missing file or an invalid
/// pin, every request fails with `insecureConnection`.
public struct CurlTLS: Sendable {
    /// The authorities that may sign a server's certificate.
    public enum Roots: Sendable, Hashable {
        /// The authorities the system trusts.
        case system
        /// Only the certificates in a PEM file.
        case file(URL)
        /// Only these PEM certificates. Requires libcurl 7.77.
        case pem(Data)
    }

    /// The minimum TLS version.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case v1_2
        /// TLS 1.3.
        case v1_3
    }

    /// The trusted authorities. Defaults to the system's authorities.
    public var roots = Roots.system
    /// The client certificate for servers that request one. Defaults to `nil`.
    public var identity: CurlClientIdentity?
    /// The minimum TLS version. Defaults to TLS 1.2.
    public var minimumVersion = Version.v1_2
    /// The accepted public keys by host, with `"*"` for all other hosts. Each pin is the Base64 of the SHA-256 of a
    /// SubjectPublicKeyInfo. One match suffices, so you can rotate keys. Defaults to an empty dictionary, which accepts
    /// all keys.
    ///
    /// Host names ignore case, a final dot and the spelling of an address; write non-Latin names in Punycode. If a
    /// dictionary key isn't a host name, every request fails with `insecureConnection` before it is sent.
    public var publicKeyPins: [String: [String]] = [:]
    /// Whether to accept a trusted certificate of any other host, whose owner can then read and change everything. For
    /// tests only. Defaults to `false`.
    public var dangerouslyAcceptsCertificatesOfOtherHosts = false

    /// Creates the default settings.
    public init() {}
}

/// A client's certificate and key. Its description doesn't reveal them.
public struct CurlClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case pemFiles(certificate: URL, key: URL)
        case pem(certificate: Data, key: Data)
        case pkcs12(URL)
    }

    let source: Source
    let password: String?

    var isInFiles: Bool { if case .pemFiles = source { true } else { false } }

    /// Reads the certificate and the key from two PEM files.
    public static func pemFiles(certificate: URL, key: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pemFiles(certificate: certificate, key: key), password: password)
    }

    /// Uses PEM in memory. Requires a libcurl with OpenSSL; otherwise, requests throw `transportUnavailable`.
    public static func pem(certificate: Data, key: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pem(certificate: certificate, key: key), password: password)
    }

    /// Reads a PKCS#12 file (.p12 or .pfx). Requires a libcurl with OpenSSL; otherwise, requests throw
    /// `transportUnavailable`.
    public static func pkcs12(file: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12(file), password: password)
    }

    /// A mask.
    public var description: String { "CurlClientIdentity(•••)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror, because children would reveal the certificate and the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
