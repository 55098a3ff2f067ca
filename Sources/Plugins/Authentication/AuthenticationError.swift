public import Errand
import ErrandEssentials

/// The error thrown when a request can't be authorized. Every request that waited for the failed refresh throws it.
///
/// ```swift
/// do { try await agent.send(GetProfile()) } catch let error as AuthenticationError where error.code == .signedOut {
///     showSignIn()
/// }
/// ```
public struct AuthenticationError: Error, Sendable {
    /// The type of the error's codes. New codes may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<AuthenticationError>

    /// The kind of failure, to switch over. Stable, and suitable for metrics.
    public let code: Code
    /// The error of the refresh handler, or the reason for ``Code/signedOut``. Nil if there is none.
    public let underlying: (any Error)?
    /// The response that refused the credential, or nil if the request wasn't sent. A streamed body is left out.
    public internal(set) var response: HTTPResponse?

    init(_ code: Code, underlying: (any Error)? = nil) {
        (self.code, self.underlying) = (code, underlying)
    }

    /// Whether the same request may succeed later: after a timeout, or if the handler's error is retryable.
    public var isRetryable: Bool {
        code == .refreshTimedOut
            || code == .refreshFailed && (underlying as? any RequestFailure)?.isRetryable ?? false
    }
}

extension FailureCode<AuthenticationError> {
    /// No user is signed in: the handler returned nil, threw ``SessionEnded`` or an OAuth server's `invalid_grant`, or
    /// the user signed out in the meantime.
    public static var signedOut: Self { Self("signedOut", 1) }
    /// The refresh handler threw ``AuthenticationError/underlying``.
    public static var refreshFailed: Self { Self("refreshFailed", 2) }
    /// The handler exceeded the session's `refreshTimeout`.
    public static var refreshTimedOut: Self { Self("refreshTimedOut", 3) }
    /// Another user signed in after the call began. The call isn't sent as that user.
    public static var userChanged: Self { Self("userChanged", 4) }
}

extension AuthenticationError: RequestFailure {}

extension AuthenticationError: CodedError, CustomDebugStringConvertible {
    /// What failed, in one sentence without the credential.
    public var description: String {
        switch code {
        case .signedOut:
            "signedOut: there is no credential for the request"
                + (underlying.map { ", because obtaining one failed: \($0.briefDescription)" } ?? "")
        case .userChanged: "userChanged: another user has signed in since the request began"
        case .refreshTimedOut:
            "refreshTimedOut: the credential wasn't refreshed in time; a request that the refresh handler sends from its "
                + "own task or queue waits for that handler, unless the request's mode is .off"
        default:
            "\(code): the credential couldn't be refreshed: \(underlying?.briefDescription ?? "")"
        }
    }

    /// The same text as `description`, so a dump doesn't reveal more.
    public var debugDescription: String { description }

    /// The sentence that users see as `localizedDescription`, depending on the code.
    public var failureSentence: FailureSentence {
        switch code {
        case .signedOut: .signInRequired
        case .refreshTimedOut: .timedOut
        case .userChanged: .userChanged
        default: .failed
        }
    }

    /// The text that users see as `localizedDescription`. For a failed refresh, the text of the handler's error.
    public var errorDescription: String? {
        if code == .refreshFailed, let underlying { return FailureSentence.text(of: underlying) }
        return failureSentence.text(for: self)
    }
}

extension AuthenticationError: CustomReflectable {
    /// A mirror that shows the code, the response and a description of the cause, but no requests or nested errors.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "response": response as Any, "underlying": underlying?.briefDescription as Any,
            ])
    }
}

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
    /// The error because of which the credential can't be renewed. Defaults to nil.
    public let underlying: (any Error)?

    /// Creates an error that ends the session, with its cause, which defaults to nil.
    public init(_ underlying: (any Error)? = nil) { self.underlying = underlying }

    /// What happened, in one sentence without the credential.
    public var description: String {
        "the session has ended" + (underlying.map { ": " + $0.briefDescription } ?? "")
    }
    /// The sentence that users see as `localizedDescription`. It asks them to sign in.
    public var failureSentence: FailureSentence { .signInRequired }
    /// The code of the `NSError`, always 1, because there is only one kind of failure.
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
