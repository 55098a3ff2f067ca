public import ErrandEssentials

/// Whom a ``CurlTransport`` trusts and how it shows who it is.
///
/// ```swift
/// configuration.tls.publicKeyPins["api.example.com"] = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backupPin]
/// ```
///
/// Certificates are always verified. What cannot be set, such as a file that is missing or a pin that is none, ends every
/// request with `insecureConnection`.
public struct CurlTLS: Sendable {
    /// Who may sign a server's certificate.
    public enum Roots: Sendable, Hashable {
        /// Whom the system trusts.
        case system
        /// The certificates of a PEM file, and no others.
        case file(String)
        /// Certificates in PEM, and no others. Needs libcurl 7.77.
        case pem(Data)
    }

    /// The oldest version that is spoken.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case v1_2
        /// TLS 1.3.
        case v1_3
    }

    /// The system's by default.
    public var roots = Roots.system
    /// The certificate that is shown to servers that ask for one; none by default.
    public var identity: CurlClientIdentity?
    /// TLS 1.2 by default.
    public var minimumVersion = Version.v1_2
    /// By host, "*" for hosts that are not named: the SHA-256 of the public keys (SubjectPublicKeyInfo) that are
    /// accepted, in Base64. One has to match, so a key can be changed. No host by default. Case, a final dot and the way
    /// of writing an address make no difference; a host in another script than Latin is written as Punycode. A key that
    /// is no host name ends every request with `insecureConnection` before anything is sent.
    public var publicKeyPins: [String: [String]] = [:]
    /// Accepts a trusted certificate of any other host, so that its owner can read and change everything. False by
    /// default; for nothing but a test.
    public var dangerouslyAcceptsCertificatesOfOtherHosts = false

    /// The defaults.
    public init() {}
}

/// The certificate and the key of a client. Its description shows neither.
public struct CurlClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case pemFiles(certificate: String, key: String)
        case pem(certificate: Data, key: Data)
        case pkcs12(String)
    }

    let source: Source
    let password: String?

    var isInFiles: Bool { if case .pemFiles = source { true } else { false } }

    /// Two PEM files.
    public static func pemFiles(certificate: String, key: String, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pemFiles(certificate: certificate, key: key), password: password)
    }

    /// PEM in memory. Needs a libcurl with OpenSSL; another one throws `transportUnavailable`.
    public static func pem(certificate: Data, key: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pem(certificate: certificate, key: key), password: password)
    }

    /// A PKCS#12 file, often called .p12 or .pfx. Needs a libcurl with OpenSSL; another one throws
    /// `transportUnavailable`.
    public static func pkcs12(file: String, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12(file), password: password)
    }

    /// No secret.
    public var description: String { "CurlClientIdentity(•••)" }
    /// No secret either.
    public var debugDescription: String { description }
    /// No children, which would hold what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
