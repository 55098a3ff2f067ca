#if !canImport(FoundationNetworking)
import Errand
public import Foundation
public import Security

/// A certificate with which your app identifies itself to servers that request one (RFC 8446, section 4.3.2).
///
/// ```swift
/// let certificate = ClientCertificate(identity, hosts: ["api.example.com"])
/// let agent = NetworkAgent(baseURL: url, transport: .urlSession(clientCertificate: certificate))
/// ```
///
/// Other hosts don't receive the certificate. Apple's platforms only; on Linux, use `CurlConfiguration.tls`.
public struct ClientCertificate: Sendable {
    let credential: URLCredential
    private let hosts: [String: [String]]

    /// Creates a certificate from an identity.
    ///
    /// - Parameters:
    ///   - identity: The certificate and its private key, from the keychain or `SecPKCS12Import`.
    ///   - chain: The certificates between the identity and the authority the server knows. Defaults to an empty array.
    ///   - hosts: The servers that receive the certificate, without scheme or port. `"*"` stands for all hosts.
    public init(_ identity: SecIdentity, chain: [SecCertificate] = [], hosts: [String]) {
        credential = URLCredential(identity: identity, certificates: chain, persistence: .forSession)
        self.hosts = Dictionary(hosts.map { ($0, []) }) { first, _ in first }
    }

    /// Throws if `hosts` contains an invalid host name.
    func isFor(_ host: String) throws -> Bool { try HostPins(hosts).keys(for: host) != nil }

    func check() throws { _ = try HostPins(hosts) }
}
#endif
