public import Errand
import ErrandSupport

/// Why a request could not be authorized. Every request that waited for the same refresh throws one.
///
/// ```swift
/// do { try await agent.send(GetProfile()) } catch let error as AuthenticationError where error.code == .signedOut {
///     showSignIn()
/// }
/// ```
public struct AuthenticationError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1.
        public let number: Int

        private init(_ description: String, _ number: Int) {
            (self.description, self.number) = (description, number)
        }

        /// There is no credential: the session's handler returned none, or the user signed out meanwhile.
        public static let signedOut = Code("signedOut", 1)
        /// The handler that refreshes the credential threw; see ``AuthenticationError/underlying``.
        public static let refreshFailed = Code("refreshFailed", 2)
        /// The handler took longer than the session's `refreshTimeout`.
        public static let refreshTimedOut = Code("refreshTimedOut", 3)
        /// Another user has signed in since the call began, which is not carried out as that one.
        public static let userChanged = Code("userChanged", 4)
    }

    /// The kind of failure.
    public let code: Code
    /// What the handler threw; nil for the other codes.
    public let underlying: (any Error)?
    /// The response that refused the credential, without the body where that is a stream; nil if nothing was sent.
    public internal(set) var response: HTTPResponse?

    init(_ code: Code, underlying: (any Error)? = nil) {
        (self.code, self.underlying) = (code, underlying)
    }

    /// Whether the same request may succeed when it is sent again later, judged by what the handler threw.
    public var isRetryable: Bool {
        code == .refreshTimedOut || (underlying as? any RequestFailure)?.isRetryable ?? false
    }
}

extension AuthenticationError: RequestFailure {}

extension AuthenticationError: CodedError, CustomDebugStringConvertible {
    /// One sentence; nothing of the credential.
    public var description: String {
        switch code {
        case .signedOut: "signedOut: there is no credential to send the request with"
        case .userChanged: "userChanged: another user has signed in since the request began"
        case .refreshTimedOut: "refreshTimedOut: the credential was not refreshed in time"
        default:
            "\(code): the credential could not be refreshed: \(underlying.map(ErrorText.brief) ?? "")"
        }
    }

    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
}

extension AuthenticationError: CustomReflectable {
    /// What the description is made of: neither a request nor what a cause holds.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "response": response as Any, "underlying": underlying.map { ErrorText.brief($0) } as Any,
            ])
    }
}
