public import Errand
import ErrandEssentials

/// The failure to authorize a request. Every request that waited for the same refresh throws one.
///
/// ```swift
/// do { try await agent.send(GetProfile()) } catch let error as AuthenticationError where error.code == .signedOut {
///     showSignIn()
/// }
/// ```
public struct AuthenticationError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<AuthenticationError>

    /// The kind of failure.
    public let code: Code
    /// The error of the handler, and with the code ``Code/signedOut`` the reason why the session is over; nil
    /// otherwise.
    public let underlying: (any Error)?
    /// The response that refused the credential, without the body if that is a stream; nil if nothing was sent.
    public internal(set) var response: HTTPResponse?

    init(_ code: Code, underlying: (any Error)? = nil) {
        (self.code, self.underlying) = (code, underlying)
    }

    /// Whether the same request may succeed when it is sent again later, judged by the error of the handler.
    public var isRetryable: Bool {
        code == .refreshTimedOut
            || code == .refreshFailed && (underlying as? any RequestFailure)?.isRetryable ?? false
    }
}

extension FailureCode<AuthenticationError> {
    /// There is no credential: the handler returned nil, threw ``SessionEnded`` or the `invalid_grant` of an OAuth
    /// server, or the user signed out meanwhile.
    public static var signedOut: Self { Self("signedOut", 1) }
    /// The handler that refreshes the credential threw; see ``AuthenticationError/underlying``.
    public static var refreshFailed: Self { Self("refreshFailed", 2) }
    /// The handler took longer than the session's `refreshTimeout`.
    public static var refreshTimedOut: Self { Self("refreshTimedOut", 3) }
    /// Another user has signed in since the call began, and the call is not sent as that user.
    public static var userChanged: Self { Self("userChanged", 4) }
}

extension AuthenticationError: RequestFailure {}

extension AuthenticationError: CodedError, CustomDebugStringConvertible {
    /// One sentence, without the credential.
    public var description: String {
        switch code {
        case .signedOut:
            "signedOut: there is no credential to send the request with"
                + (underlying.map { ", because none could be obtained: \($0.briefDescription)" } ?? "")
        case .userChanged: "userChanged: another user has signed in since the request began"
        case .refreshTimedOut:
            "refreshTimedOut: the credential was not refreshed in time; a request that the handler sends from a task or a "
                + "queue of its own waits for the handler unless its mode is .off"
        default:
            "\(code): the credential could not be refreshed: \(underlying?.briefDescription ?? "")"
        }
    }

    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }

    /// The sentence of the code.
    public var failureSentence: FailureSentence {
        switch code {
        case .signedOut: .signInRequired
        case .refreshTimedOut: .timedOut
        case .userChanged: .userChanged
        default: .failed
        }
    }

    /// The text for people: of a failed refresh that of the handler's error.
    public var errorDescription: String? {
        if code == .refreshFailed, let underlying { return FailureSentence.text(of: underlying) }
        return failureSentence.text(for: self)
    }
}

extension AuthenticationError: CustomReflectable {
    /// The parts of the description; neither a request nor anything within a cause.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "response": response as Any, "underlying": underlying?.briefDescription as Any,
            ])
    }
}
