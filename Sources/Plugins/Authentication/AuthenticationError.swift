public import Errand
import ErrandEssentials

/// A failure to authorize a request. If a refresh fails, every request that waited for it throws this error.
///
/// ```swift
/// do { try await agent.send(GetProfile()) } catch let error as AuthenticationError where error.code == .signedOut {
///     showSignIn()
/// }
/// ```
public struct AuthenticationError: Error, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<AuthenticationError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public let code: Code
    /// The error that the refresh handler threw, or the reason for ``Code/signedOut``. Nil if there isn't any.
    public let underlying: (any Error)?
    /// The response that refused the credential. If its body is a stream, the body is left out. Nil if the request
    /// wasn't sent.
    public internal(set) var response: HTTPResponse?

    init(_ code: Code, underlying: (any Error)? = nil) {
        (self.code, self.underlying) = (code, underlying)
    }

    /// Whether the same request may succeed later: the handler timed out, or its error is retryable.
    public var isRetryable: Bool {
        code == .refreshTimedOut
            || code == .refreshFailed && (underlying as? any RequestFailure)?.isRetryable ?? false
    }
}

extension FailureCode<AuthenticationError> {
    /// No user is signed in. The handler returned nil, threw ``SessionEnded`` or an OAuth server's `invalid_grant`, or
    /// the user signed out.
    public static var signedOut: Self { Self("signedOut", 1) }
    /// The refresh handler threw ``AuthenticationError/underlying``.
    public static var refreshFailed: Self { Self("refreshFailed", 2) }
    /// The handler took longer than the session's `refreshTimeout`.
    public static var refreshTimedOut: Self { Self("refreshTimedOut", 3) }
    /// Another user signed in during the call.
    public static var userChanged: Self { Self("userChanged", 4) }
}

extension AuthenticationError: RequestFailure {
    /// The reason for the codes ``Code/signedOut`` and ``Code/userChanged``. Nil for other codes.
    public var userFailure: UserFailure? {
        switch code {
        case .signedOut: .signedOut
        case .userChanged: .userChanged
        default: nil
        }
    }
}

extension AuthenticationError: CodedError, CustomDebugStringConvertible {
    /// What failed, without the credential.
    public var description: String {
        switch code {
        case .signedOut:
            "signedOut: the user isn't signed in, so there is no credential for the request"
                + (underlying.map { ", because obtaining one failed: \($0.briefDescription)" } ?? "")
        case .userChanged: "userChanged: another user has signed in since the request began"
        case .refreshTimedOut:
            "refreshTimedOut: the credential wasn't refreshed in time; if the refresh handler sends requests from a "
                + "detached task or a queue, set their mode to .off"
        default:
            "\(code): the credential couldn't be refreshed: \(underlying?.briefDescription ?? "")"
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The text that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .signedOut: .signInRequired
        case .refreshTimedOut: .timedOut
        case .userChanged: .userChanged
        default: .failed
        }
    }

    /// The text for `localizedDescription`. After a failed refresh, it's the text of the handler's error.
    public var errorDescription: String? {
        if code == .refreshFailed, let underlying { return FailureSentence.text(of: underlying) }
        return failureSentence.text(for: self)
    }
}

extension AuthenticationError: CustomReflectable {
    /// A mirror with the code, the response and a description of the cause.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "response": response as Any, "underlying": underlying?.briefDescription as Any,
            ])
    }
}

/// An error that ends an ``AuthenticationSession`` if the refresh handler throws it. Like returning nil, this signs the
/// user out, but you can give a cause.
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
/// All waiting requests throw ``AuthenticationError/Code/signedOut`` with the cause as `underlying`. You don't need
/// `SessionEnded` if an OAuth server responds with `invalid_grant` (RFC 6749, section 5.2), because the session also
/// ends if the handler throws that response's error.
public struct SessionEnded: DescribedError {
    /// Why the credential can't be renewed. Defaults to nil.
    public let underlying: (any Error)?

    /// Creates an error that ends the session. The cause defaults to nil.
    public init(_ underlying: (any Error)? = nil) { self.underlying = underlying }

    /// What happened, without the credential.
    public var description: String {
        "the session has ended" + (underlying.map { ": " + $0.briefDescription } ?? "")
    }
    /// The sentence that asks users to sign in.
    public var failureSentence: FailureSentence { .signInRequired }
    /// The code of the `NSError`, always 1.
    public var errorCode: Int { 1 }

    static func isMeant(by error: any Error) -> Bool {
        guard let response = (error as? any RequestFailure)?.response, response.status < 500,
            let reply = try? response.json(OAuthFault.self, decoder: JSONDecoder())
        else { return false }
        return reply.error == "invalid_grant"
    }
}

private nonisolated struct OAuthFault: Decodable { let error: String }
