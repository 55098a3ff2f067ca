#if !canImport(FoundationNetworking)
import CryptoKit
import Errand
import ErrandTLS
public import Foundation
import Security

/// The servers that a ``URLSessionTransport`` trusts, by certificate authorities and pinned public keys.
///
/// ```swift
/// let trust = ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]])
/// let agent = NetworkAgent(baseURL: url, transport: .urlSession(trust: trust))
/// ```
///
/// Pins add to the usual checks of the host name, the dates and the chain. If a server fails a check, the request
/// throws `insecureConnection` with a message that names the check.
///
/// Available only on Apple platforms. On Linux, use `CurlConfiguration.tls`.
public struct ServerTrust: Sendable {
    /// The certificate authorities to trust instead of the system's, as DER certificates. Defaults to an empty array,
    /// which trusts the system's authorities.
    public var authorities: [Data]
    /// The accepted public keys by host, with `"*"` for all other hosts. Defaults to an empty dictionary, which accepts
    /// all keys.
    ///
    /// Each pin is the Base64 of the SHA-256 of a SubjectPublicKeyInfo (RFC 5280, section 4.1). One matching pin
    /// suffices, so you can rotate keys. Host names ignore case and a final dot. Write non-Latin names in Punycode. If
    /// a dictionary key isn't a host name, every request fails with `insecureConnection`.
    public var publicKeyPins: [String: [String]]

    /// Creates a policy. Without arguments, it accepts all keys and the system's authorities.
    public init(authorities: [Data] = [], publicKeyPins: [String: [String]] = [:]) {
        (self.authorities, self.publicKeyPins) = (authorities, publicKeyPins)
    }

    var isEmpty: Bool { authorities.isEmpty && publicKeyPins.isEmpty }

    /// Returns why a server is rejected, or nil if it's trusted. Blocks the thread, and may load certificates from the
    /// network.
    func rejection(of peer: SecTrust, of host: String) -> String? {
        if !authorities.isEmpty {
            let certificates = authorities.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard certificates.count == authorities.count else { return "an authority's certificate isn't DER" }
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
        else { return "the server's public key can't be read" }
        return pins.contains(pin) ? nil : "the server's public key isn't one of the pinned keys"
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
