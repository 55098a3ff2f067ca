#if !canImport(FoundationNetworking)
public import Foundation

/// The decision on a challenge of a server or of the system.
public enum ChallengeDecision: Sendable {
    /// As without a hook: ``ServerTrust`` and ``ClientCertificate`` if they are set, the system otherwise.
    case standard
    /// The credential is used. One that was made from a server's trust accepts that server, whatever ``ServerTrust``
    /// says.
    case credential(URLCredential)
    /// The request fails with `insecureConnection` and this message.
    case refuse(String)
}
#endif
