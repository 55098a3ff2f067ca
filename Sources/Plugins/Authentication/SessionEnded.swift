public import Errand
import ErrandEssentials

/// Throw this error from the handler of an ``AuthenticationSession`` to sign the user out, because the credential can't
/// be renewed. It's the same as returning nil, but includes the cause.
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
/// All waiting requests throw ``AuthenticationError/Code/signedOut`` with the cause as `underlying`. You don't need it
/// for an OAuth server's response `invalid_grant` (RFC 6749, section 5.2): if the handler throws the error of that
/// response, the session ends.
public struct SessionEnded: DescribedError {
    /// The cause. Defaults to nil.
    public let underlying: (any Error)?

    /// Creates an error.
    public init(_ underlying: (any Error)? = nil) { self.underlying = underlying }

    /// One sentence, without the credential.
    public var description: String {
        "the session has ended" + (underlying.map { ": " + $0.briefDescription } ?? "")
    }
    /// A sentence that asks people to sign in.
    public var failureSentence: FailureSentence { .signInRequired }
    /// Always 1.
    public var errorCode: Int { 1 }

    /// Returns whether an error contains an OAuth server's refusal of a refresh token.
    static func isMeant(by error: any Error) -> Bool {
        guard let response = (error as? any RequestFailure)?.response, response.status < 500,
            let reply = try? response.json(OAuthFault.self, decoder: JSONDecoder())
        else { return false }
        return reply.error == "invalid_grant"
    }
}

private nonisolated struct OAuthFault: Decodable { let error: String }
