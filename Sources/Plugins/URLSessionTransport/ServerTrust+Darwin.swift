#if !canImport(FoundationNetworking)
import CryptoKit
public import Errand
import ErrandSupport
public import Foundation
import Security

/// Whom a ``URLSessionTransport`` believes: certificate authorities of one's own, and public keys.
///
/// ```swift
/// let trust = ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]])
/// let agent = NetworkAgent(baseURL: url, transport: .urlSession(trust: trust))
/// ```
///
/// The host's name, the dates and the chain are checked in any case; pins come on top. Another server throws
/// `insecureConnection`, whose message says which check failed. Only on Apple's platforms: on Linux URLSession asks
/// nobody, and `.curl` has the same options.
public struct ServerTrust: Sendable {
    /// Certificates of authorities, as DER, that count instead of the system's; the system's if empty.
    public var authorities: [Data]
    /// By host, "*" for hosts that are not named: the SHA-256 of the public keys (SubjectPublicKeyInfo) that are
    /// accepted, in Base64. One has to match, so a key can be changed. No host by default. Case and a final dot make no
    /// difference; a host in another script than Latin is written as Punycode. A key that is no host name ends every
    /// request with `insecureConnection`.
    public var publicKeyPins: [String: [String]]

    /// The system's authorities and any key, unless said otherwise.
    public init(authorities: [Data] = [], publicKeyPins: [String: [String]] = [:]) {
        (self.authorities, self.publicKeyPins) = (authorities, publicKeyPins)
    }

    /// What is wrong; nil if nothing is.
    func complaint(about peer: SecTrust, of host: String) -> String? {
        if !authorities.isEmpty {
            let certificates = authorities.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard certificates.count == authorities.count else { return "an authority's certificate is not DER" }
            SecTrustSetAnchorCertificates(peer, certificates as CFArray)
            SecTrustSetAnchorCertificatesOnly(peer, true)
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(peer, &error) else {
            return error.map { CFErrorCopyDescription($0) as String } ?? "the server's certificate is not trusted"
        }
        let keys: [String]?
        do { keys = try HostPins(publicKeyPins).keys(for: host) } catch { return error.description }
        guard let pins = keys else { return nil }
        guard let chain = SecTrustCopyCertificateChain(peer) as? [SecCertificate], let leaf = chain.first,
            let pin = Self.pin(of: leaf)
        else { return "the server's public key cannot be read" }
        return pins.contains(pin) ? nil : "the server's public key is none of the pinned ones"
    }

    private static func pin(of certificate: SecCertificate) -> String? {
        guard let key = SecCertificateCopyKey(certificate),
            let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
            let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
            let type = attributes[kSecAttrKeyType] as? String, let bits = attributes[kSecAttrKeySizeInBits] as? Int,
            let header = KeyInfoHeader.bytes(isRSA: type == kSecAttrKeyTypeRSA as String, bits: bits)
        else { return nil }
        return Data(SHA256.hash(data: header + bytes)).base64EncodedString()
    }
}

/// A delegate with an opinion on servers.
final class TrustingDelegate: SessionDelegate, @unchecked Sendable {
    // Sendable: it adds a constant.
    let trust: ServerTrust

    init(_ trust: ServerTrust) { self.trust = trust }

    override func check() throws(ErrandError) {
        do { _ = try HostPins(trust.publicKeyPins) } catch {
            throw ErrandError(.insecureConnection, error.description)
        }
    }
}

extension Transport where Self == URLSessionTransport {
    /// A transport of its own over `URLSession` that believes only the servers that `trust` says.
    public static func urlSession(
        _ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration, trust: ServerTrust
    ) -> URLSessionTransport {
        URLSessionTransport(configuration, TrustingDelegate(trust))
    }
}
#endif
