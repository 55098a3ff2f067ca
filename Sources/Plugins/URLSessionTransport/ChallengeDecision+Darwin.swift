#if !canImport(FoundationNetworking)
public import Foundation

/// What a challenge of a server or of the system is met with.
public enum ChallengeDecision: Sendable {
    /// As without a hook: ``ServerTrust`` and ``ClientCertificate`` where they are set, the system otherwise.
    case standard
    /// The credential is used. One that was made of a server's trust accepts that server, whatever ``ServerTrust`` says.
    case credential(URLCredential)
    /// The request fails with `insecureConnection` and this message.
    case refuse(String)
}
#endif
