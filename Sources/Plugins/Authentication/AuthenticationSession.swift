public import Errand
import Synchronization

/// Keeps a user's credential. If the credential expires or a server refuses it, the session gets the next one from your
/// handler.
///
/// ```swift
/// let session = AuthenticationSession(saved) { tokens in
///     guard let tokens else { return try await signIn() }        // no user is signed in
///     return try await renew(tokens)                             // refused by the server, or expired
/// }
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.authentication(session)])
/// ```
///
/// The handler runs once for all requests that need a new credential. These requests wait, and are then sent with the
/// new credential. If a response refuses a credential that has been replaced in the meantime, the request is repeated
/// with the current credential, without a refresh.
///
/// If the handler throws, every waiting request throws an ``AuthenticationError``. A request that was already sent also
/// throws this error if its response refuses the credential. Later requests run the handler again, unless the error
/// ended the session.
///
/// Cancelling the request that started the handler doesn't cancel the handler. Requests that the handler sends don't
/// carry the session's credential and never start a refresh, whichever agent sends them. If you send such requests from
/// a detached task or a queue, implement ``Credential/isRenewed(by:)`` or use ``AuthenticationMode/off``. The handler
/// may take up to `refreshTimeout`, for example to show a sign-in screen. Waiting requests keep their own deadlines.
///
/// Several agents can share a session. You can use it from any thread.
public final class AuthenticationSession<C: Credential>: Sendable {
    /// Returns the next credential. `old` is the credential to replace, or nil if no user is signed in.
    ///
    /// To end the session, return nil or throw ``SessionEnded``: waiting requests then throw
    /// ``AuthenticationError/Code/signedOut``. An error with an OAuth server's `invalid_grant` (RFC 6749, section 5.2)
    /// also ends the session.
    public typealias Handler = @Sendable (_ old: C?) async throws -> C?
    /// Returns whether a response refuses the credential, for example by a code in its body.
    public typealias Rejection = @Sendable (HTTPResponse) async throws -> Bool

    let keeper: CredentialKeeper

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - credential: The first credential, for example a credential that your app saved. Defaults to nil, so the
    ///     first request runs the handler.
    ///   - origins: The origins that receive the credential. Defaults to nil, which means the origins of the agent's
    ///     base URLs and its `trustedOrigins`.
    ///   - refreshTimeout: The time limit of the handler, by the agent's clock. Defaults to 60 seconds.
    ///   - isRejection: Returns whether a response refuses the credential, in addition to status 401 and the requests'
    ///     outcome checks. The response's body is in memory if the request delivers it as data. Defaults to nil.
    ///   - is401Rejection: Whether every response with status 401 refuses the credential. If false, only `isRejection`
    ///     and the requests' outcome checks decide. Defaults to true.
    ///   - refresh: Returns the next credential.
    public init(
        _ credential: C? = nil, origins: TrustedOrigins? = nil, refreshTimeout: Duration = .seconds(60),
        isRejection: Rejection? = nil, is401Rejection: Bool = true, refresh: @escaping Handler
    ) {
        let rules = CredentialKeeper.Rules(origins: origins, isRejection: isRejection, is401Rejection: is401Rejection)
        keeper = CredentialKeeper(credential, rules, timeout: refreshTimeout) { old in
            try await refresh(old.flatMap { $0 as? C })
        }
    }

    /// Creates a session with a credential that can't be refreshed. If a response refuses the credential, the caller
    /// receives that response.
    public init(_ credential: C, origins: TrustedOrigins? = nil) {
        keeper = CredentialKeeper(credential, CredentialKeeper.Rules(origins: origins), timeout: .zero, handler: nil)
    }

    deinit { keeper.end() }

    /// The current credential, or nil if no user is signed in.
    public var credential: C? { keeper.credential.flatMap { $0 as? C } }

    /// Whether the session has a credential, even if it has expired.
    public var isSignedIn: Bool { keeper.credential != nil }

    /// Signs in a user.
    ///
    /// If the new credential and the previous credential don't have the same ``Credential/owner``, they belong to
    /// different users, and running calls of the previous user throw ``AuthenticationError/Code/userChanged``. A
    /// running refresh is cancelled. Calls that wait for the first sign-in are sent with the new credential.
    public func signIn(_ credential: C) { keeper.replace(with: credential) }

    /// Replaces the current user's credential, for example after another process refreshed it.
    ///
    /// A running refresh is cancelled, and requests that wait for it are sent with the new credential. Returns false if
    /// no user is signed in.
    @discardableResult
    public func renew(with credential: C) -> Bool { keeper.renew(with: credential) }

    /// Signs the user out by removing the credential. The next call that needs a credential runs the handler.
    ///
    /// A running refresh is cancelled, and requests that wait for it throw ``AuthenticationError/Code/signedOut``.
    /// Earlier calls throw the same error if they would still send a request.
    public func signOut() { keeper.replace(with: nil) }

    /// Treats the credential as expired, so the session refreshes it before the next request. Use it, for example, if
    /// the server tells your app that a token was revoked.
    public func expire() { keeper.expire() }
}

extension AuthenticationSession: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Whether a user is signed in, without the credential.
    public var description: String { isSignedIn ? "signed in" : "signed out" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Whether a request needs the credential of an ``AuthenticationSession``.
public enum AuthenticationMode: Sendable, Hashable {
    /// Needs the credential. If no user is signed in, the session's handler runs first. This is the default.
    case required
    /// Uses the credential if a user is signed in.
    case ifSignedIn
    /// Doesn't use the credential, and treats a 401 like any other response.
    ///
    /// A request's own `authorization`, including ``Errand/Authorization/omitted``, applies in every mode.
    case off
}

/// Sets the mode of a request or call.
///
/// ```swift
/// struct GetNews: Request {
///     var path: String { "news" }
///     var tags: Tags { Tags().with(AuthenticationMode.self, .ifSignedIn) }
/// }
/// ```
extension AuthenticationMode: TagKey {
    /// ``AuthenticationMode/required``.
    public static var defaultValue: AuthenticationMode { .required }
    /// True, because responses may depend on the mode. Calls with different modes therefore don't share a response.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Creates options with an authentication mode: `try await agent.send(GetNews(), options:
    /// .authentication(.ifSignedIn))`.
    public static func authentication(_ mode: AuthenticationMode) -> CallOptions {
        CallOptions().authentication(mode)
    }

    /// Returns a copy of these options with another authentication mode.
    public func authentication(_ mode: AuthenticationMode) -> CallOptions {
        var options = self
        options.tags[AuthenticationMode.self] = mode
        return options
    }
}
