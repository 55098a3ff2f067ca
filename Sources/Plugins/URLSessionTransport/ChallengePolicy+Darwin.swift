#if !canImport(FoundationNetworking)
public import Errand
public import Foundation

struct ChallengePolicy: Sendable {
    var trust: ServerTrust
    var certificate: ClientCertificate?
    var hook: (@Sendable (URLAuthenticationChallenge) async -> ChallengeDecision)?

    /// Evaluating trust blocks, and must not delay the session's other delegate calls.
    static let evaluation = DispatchQueue(label: "errand.urlsession.trust", attributes: .concurrent)

    func check() throws(ErrandError) {
        do {
            _ = try HostPins(trust.publicKeyPins)
            try certificate?.check()
        } catch {
            throw ErrandError(.insecureConnection, "\(error)")
        }
    }

    func decide(
        _ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeDecision) -> Void
    ) {
        guard let hook else { return decideWithoutHook(challenge, completion) }
        Task {
            let decision = await hook(challenge)
            if case .standard = decision { return decideWithoutHook(challenge, completion) }
            completion(decision)
        }
    }

    private func decideWithoutHook(
        _ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeDecision) -> Void
    ) {
        let space = challenge.protectionSpace
        if space.authenticationMethod == NSURLAuthenticationMethodServerTrust, !trust.isEmpty {
            return Self.evaluation.async { [trust] in completion(Self.decision(on: challenge, trust)) }
        }
        if space.authenticationMethod == NSURLAuthenticationMethodClientCertificate, let certificate,
            (try? certificate.isFor(space.host)) == true
        {
            return completion(.credential(certificate.credential))
        }
        completion(.standard)
    }

    private static func decision(on challenge: URLAuthenticationChallenge, _ trust: ServerTrust) -> ChallengeDecision {
        let space = challenge.protectionSpace
        guard let peer = space.serverTrust else { return .standard }
        if let reason = trust.rejection(of: peer, of: space.host) { return .refuse(reason) }
        // Pins add to the system's checks, which a credential would replace.
        return trust.authorities.isEmpty ? .standard : .credential(URLCredential(trust: peer))
    }
}

final class ChallengedDelegate: SessionDelegate, @unchecked Sendable {
    // Sendable: it only adds a constant.
    let policy: ChallengePolicy

    init(_ policy: ChallengePolicy) { self.policy = policy }

    override func check() throws(ErrandError) { try policy.check() }
}

extension Transport where Self == URLSessionTransport {
    /// Creates a transport over `URLSession` that only accepts the servers `trust` allows, and that can identify itself
    /// with a client certificate.
    ///
    /// - Parameters:
    ///   - configuration: Defaults to ``URLSessionTransport/standardConfiguration``.
    ///   - trust: The accepted servers. Defaults to the servers the system accepts.
    ///   - clientCertificate: The certificate for servers that request one. Defaults to `nil`.
    ///   - challenges: Decides on each challenge first. Runs on any thread while the request waits. Defaults to `nil`.
    public static func urlSession(
        _ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration,
        trust: ServerTrust = ServerTrust(), clientCertificate: ClientCertificate? = nil,
        challenges: (@Sendable (URLAuthenticationChallenge) async -> ChallengeDecision)? = nil
    ) -> URLSessionTransport {
        let policy = ChallengePolicy(trust: trust, certificate: clientCertificate, hook: challenges)
        return URLSessionTransport(configuration, ChallengedDelegate(policy))
    }
}

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
