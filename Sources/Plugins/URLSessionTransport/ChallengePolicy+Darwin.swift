#if !canImport(FoundationNetworking)
public import Errand
public import ErrandTLS
public import Foundation

struct ChallengePolicy: Sendable {
    var trust: ServerTrust
    var identities: URLSessionIdentities?
    var hook: (@Sendable (URLAuthenticationChallenge) async -> ChallengeDecision)?

    /// The queue for evaluating a server's trust, which blocks and must not delay the session's other delegate calls.
    static let evaluation = DispatchQueue(label: "errand.urlsession.trust", attributes: .concurrent)

    func check() throws(ErrandError) {
        do { _ = try HostPins(trust.publicKeyPins) } catch { throw ErrandError(.insecureConnection, "\(error)") }
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
        guard space.authenticationMethod == NSURLAuthenticationMethodClientCertificate, let identities,
            !space.isProxy()
        else { return completion(.standard) }
        do {
            let choice = try identities.choice(host: space.host, port: space.port)
            completion(choice.map { .credential($0.identity.credential) } ?? .standard)
        } catch {
            completion(.refuse(error.message))
        }
    }

    private static func decision(on challenge: URLAuthenticationChallenge, _ trust: ServerTrust) -> ChallengeDecision {
        let space = challenge.protectionSpace
        guard let peer = space.serverTrust else { return .standard }
        if let reason = trust.rejection(of: peer, of: space.host) { return .refuse(reason) }
        // With pins alone, don't return a credential. It would replace the system's checks, which must still run.
        return trust.authorities.isEmpty ? .standard : .credential(URLCredential(trust: peer))
    }
}

final class ChallengedDelegate: SessionDelegate, @unchecked Sendable {
    // Sendable: this subclass only adds constants.
    let policy: ChallengePolicy
    private let gate: RevisionGate

    init(_ policy: ChallengePolicy) {
        self.policy = policy
        gate = RevisionGate(policy.identities?.revision ?? 0)
    }

    override func check(_ url: URL) throws(ErrandError) {
        try policy.check()
        if url.scheme?.lowercased() == "https" { _ = try policy.identities?.choice(for: url) }
    }

    /// Closes the connections if the certificates have changed, because a connection keeps its client certificate.
    override func prepare(_ session: URLSession) async {
        guard let revision = policy.identities?.revision else { return }
        await gate.pass(revision) { await session.flush() }
    }
}

extension Transport where Self == URLSessionTransport {
    /// Creates a transport over `URLSession` that accepts only the servers that `trust` allows, and that can identify
    /// itself with client certificates.
    ///
    /// - Parameters:
    ///   - configuration: The session's settings. Defaults to ``URLSessionTransport/standardConfiguration``.
    ///   - trust: The accepted servers. Defaults to the servers that the system accepts.
    ///   - identities: The certificates for servers that request a certificate, with the servers' origins as keys.
    ///     Defaults to `nil`.
    ///   - challenges: Decides on each challenge first. Runs on any thread while the request waits. Defaults to `nil`.
    public static func urlSession(
        _ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration,
        trust: ServerTrust = ServerTrust(), identities: URLSessionIdentities? = nil,
        challenges: (@Sendable (URLAuthenticationChallenge) async -> ChallengeDecision)? = nil
    ) -> URLSessionTransport {
        let policy = ChallengePolicy(trust: trust, identities: identities, hook: challenges)
        return URLSessionTransport(configuration, ChallengedDelegate(policy))
    }
}

/// How a closure answers a challenge from a server or the system.
public enum ChallengeDecision: Sendable {
    /// The transport decides as it would without a closure.
    case standard
    /// The transport uses a credential. A credential that contains the server's trust overrides ``ServerTrust``.
    case credential(URLCredential)
    /// The request fails with `insecureConnection` and this message.
    case refuse(String)
}
#endif
