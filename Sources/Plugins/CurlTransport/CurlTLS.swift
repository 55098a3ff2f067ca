public import ErrandEssentials

/// The servers that a ``CurlTransport`` trusts, and the certificate by which it identifies itself.
///
/// ```swift
/// configuration.tls.publicKeyPins["api.example.com"] = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backupPin]
/// ```
///
/// Certificates are always verified. A setting that cannot be applied, such as a missing file or an invalid pin, ends
/// every request with `insecureConnection`.
public struct CurlTLS: Sendable {
    /// The authorities that may sign a server's certificate.
    public enum Roots: Sendable, Hashable {
        /// The authorities that the system trusts.
        case system
        /// The certificates of a PEM file, and no others.
        case file(URL)
        /// Certificates in PEM, and no others. Needs libcurl 7.77.
        case pem(Data)
    }

    /// The minimum version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case v1_2
        /// TLS 1.3.
        case v1_3
    }

    /// The trusted authorities; those of the system by default.
    public var roots = Roots.system
    /// The certificate for servers that request one; none by default.
    public var identity: CurlClientIdentity?
    /// The minimum version; TLS 1.2 by default.
    public var minimumVersion = Version.v1_2
    /// The accepted public keys by host, `"*"` for hosts that are not named: the SHA-256 of each SubjectPublicKeyInfo
    /// in Base64. One match suffices, so keys can be rotated. No host by default. Case, a final dot and the spelling of
    /// an address make no difference; a host in another script than Latin is written as Punycode. A key that is not a
    /// host name ends every request with `insecureConnection` before anything is sent.
    public var publicKeyPins: [String: [String]] = [:]
    /// Whether a trusted certificate of any other host is accepted, so that its owner can read and change everything.
    /// False by default; only for tests.
    public var dangerouslyAcceptsCertificatesOfOtherHosts = false

    /// The defaults.
    public init() {}
}

/// The certificate and the key of a client. Its description contains neither.
public struct CurlClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case pemFiles(certificate: URL, key: URL)
        case pem(certificate: Data, key: Data)
        case pkcs12(URL)
    }

    let source: Source
    let password: String?

    var isInFiles: Bool { if case .pemFiles = source { true } else { false } }

    /// Two PEM files.
    public static func pemFiles(certificate: URL, key: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pemFiles(certificate: certificate, key: key), password: password)
    }

    /// PEM in memory. Needs a libcurl with OpenSSL; another one throws `transportUnavailable`.
    public static func pem(certificate: Data, key: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pem(certificate: certificate, key: key), password: password)
    }

    /// A PKCS#12 file, often called .p12 or .pfx. Needs a libcurl with OpenSSL; another one throws
    /// `transportUnavailable`.
    public static func pkcs12(file: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12(file), password: password)
    }

    /// A mask.
    public var description: String { "CurlClientIdentity(•••)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
