public import ErrandEssentials
public import ErrandTLS

/// The certificates with which a ``CurlTransport`` identifies your app. The keys are the servers' origins.
///
/// ```swift
/// let identities: CurlIdentities = ["https://api.example.com": .pkcs12(file: file, password: password)]
/// configuration.tls.identities = identities
/// ```
public typealias CurlIdentities = ClientIdentities<CurlClientIdentity>

/// A client's certificate and key. Descriptions don't reveal the certificate or the key.
public struct CurlClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case pemFiles(certificate: URL, key: URL)
        case pem(certificate: Data, key: Data)
        case pkcs12File(URL)
        case pkcs12(Data)
    }

    let source: Source
    let password: String?

    var isInFiles: Bool { if case .pemFiles = source { true } else { false } }

    /// Returns an identity that is read from two PEM files for each new connection.
    public static func pemFiles(certificate: URL, key: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pemFiles(certificate: certificate, key: key), password: password)
    }

    /// Returns an identity from PEM data in memory. If libcurl doesn't use OpenSSL, requests throw
    /// `transportUnavailable`.
    public static func pem(certificate: Data, key: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pem(certificate: certificate, key: key), password: password)
    }

    /// Returns an identity that is read from a PKCS#12 file (.p12 or .pfx) for each new connection. If libcurl doesn't
    /// use OpenSSL, requests throw `transportUnavailable`.
    public static func pkcs12(file: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12File(file), password: password)
    }

    /// Returns an identity from PKCS#12 data in memory. If libcurl doesn't use OpenSSL, requests throw
    /// `transportUnavailable`.
    public static func pkcs12(_ data: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12(data), password: password)
    }

    /// A fixed text that reveals neither the certificate nor the key.
    public var description: String { "CurlClientIdentity(•••)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump reveals neither the certificate nor the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
