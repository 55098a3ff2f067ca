#if !canImport(FoundationNetworking)
import CryptoKit
import Errand
public import Foundation
import Security

/// The servers that a ``URLSessionTransport`` trusts: its own certificate authorities, and pinned public keys.
///
/// ```swift
/// let trust = ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]])
/// let agent = NetworkAgent(baseURL: url, transport: .urlSession(trust: trust))
/// ```
///
/// The host's name, the dates and the chain are checked in any case, and pins in addition. A server that fails a check
/// throws `insecureConnection`, whose message names the check. Only on Apple's platforms: on Linux URLSession has no
/// delegate method for trust, and `CurlConfiguration.tls` has the same options.
public struct ServerTrust: Sendable {
    /// Certificates of authorities, in DER, that replace the system's. Empty by default: the system's apply.
    public var authorities: [Data]
    /// The accepted public keys by host, `"*"` for all other hosts: the SHA-256 of each SubjectPublicKeyInfo (RFC 5280,
    /// section 4.1) in Base64. One match suffices, so keys can be rotated. Empty by default: every key is accepted.
    ///
    /// Case and a final dot make no difference; a host in a script other than Latin is written as Punycode. A key that is
    /// not a host name ends every request with `insecureConnection`.
    public var publicKeyPins: [String: [String]]

    /// Creates a policy; without arguments the system's authorities and every key are accepted.
    public init(authorities: [Data] = [], publicKeyPins: [String: [String]] = [:]) {
        (self.authorities, self.publicKeyPins) = (authorities, publicKeyPins)
    }

    /// Whether it leaves all decisions to the system.
    var isEmpty: Bool { authorities.isEmpty && publicKeyPins.isEmpty }

    /// The reason why a server is rejected; nil if it is trusted. Blocks, and may load certificates from the network.
    func rejection(of peer: SecTrust, of host: String) -> String? {
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
#endif
