#if !canImport(FoundationNetworking)
import Errand
public import Foundation
public import Security

/// The certificate by which an app identifies itself to a server that requests one (RFC 8446, section 4.3.2).
///
/// ```swift
/// let certificate = ClientCertificate(identity, hosts: ["api.example.com"])
/// let agent = NetworkAgent(baseURL: url, transport: .urlSession(clientCertificate: certificate))
/// ```
///
/// Any other host gets none. Only on Apple's platforms; on Linux `CurlConfiguration.tls` has the same.
public struct ClientCertificate: Sendable {
    let credential: URLCredential
    private let hosts: [String: [String]]

    /// Makes a certificate with its private key.
    ///
    /// - Parameters:
    ///   - identity: from the keychain, or from `SecPKCS12Import`.
    ///   - chain: certificates between it and the authority that the server knows; none by default.
    ///   - hosts: the servers that get it, without scheme and port; `"*"` for all.
    public init(_ identity: SecIdentity, chain: [SecCertificate] = [], hosts: [String]) {
        credential = URLCredential(identity: identity, certificates: chain, persistence: .forSession)
        self.hosts = Dictionary(hosts.map { ($0, []) }) { first, _ in first }
    }

    /// Whether a host gets it. Throws for hosts that are no host names.
    func isFor(_ host: String) throws -> Bool { try HostPins(hosts).keys(for: host) != nil }

    func check() throws { _ = try HostPins(hosts) }
}
#endif
