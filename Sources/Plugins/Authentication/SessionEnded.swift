public import Errand
import ErrandEssentials

/// The error that the handler of an ``AuthenticationSession`` throws to sign the user out, wherever it learns that the
/// credential cannot be renewed: the same as returning nil, with the cause.
///
/// ```swift
/// let session = AuthenticationSession(saved) { token in
///     guard let token else { return nil }
///     do { return try await renew(token) } catch let error as ErrandError where error.response?.status == 403 {
///         throw SessionEnded(error)
///     }
/// }
/// ```
///
/// All requests that wait throw ``AuthenticationError/Code/signedOut`` with the cause as its `underlying`. The response
/// `invalid_grant` of an OAuth server (RFC 6749, section 5.2) needs no such line: if the handler throws the error of
/// that response, the session ends by itself.
public struct SessionEnded: DescribedError {
    /// The cause; nil by default.
    public let underlying: (any Error)?

    /// Makes an error.
    public init(_ underlying: (any Error)? = nil) { self.underlying = underlying }

    /// One sentence, without the credential.
    public var description: String {
        "the session is over" + (underlying.map { ": " + $0.briefDescription } ?? "")
    }
    /// That the user needs to sign in.
    public var failureSentence: FailureSentence { .signInRequired }
    /// 1.
    public var errorCode: Int { 1 }

    /// Whether an error has the response of an OAuth server that refuses a refresh token.
    static func isMeant(by error: any Error) -> Bool {
        guard let response = (error as? any RequestFailure)?.response, response.status < 500,
            let reply = try? response.json(OAuthFault.self, decoder: JSONDecoder())
        else { return false }
        return reply.error == "invalid_grant"
    }
}

private nonisolated struct OAuthFault: Decodable { let error: String }
