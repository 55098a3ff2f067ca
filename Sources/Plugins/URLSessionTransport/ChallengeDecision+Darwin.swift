#if !canImport(FoundationNetworking)
public import Foundation

/// How to answer a challenge from a server or the system.
public enum ChallengeDecision: Sendable {
    /// Proceeds as without a closure: with ``ServerTrust`` and ``ClientCertificate`` if they are set, otherwise with
    /// the system's default.
    case standard
    /// Uses a credential. A credential created from a server's trust accepts that server regardless of ``ServerTrust``.
    case credential(URLCredential)
    /// Fails the request with `insecureConnection` and this message.
    case refuse(String)
}
#endif
