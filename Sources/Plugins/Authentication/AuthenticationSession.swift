public import Errand
import Synchronization

/// The identity of the user to a service: the current credential, and the handler that gets the next one.
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
/// The handler runs once, however many requests need its result; they wait for it and are then sent, or sent again,
/// with the new credential. A response that refuses an older credential than the current one leads to a repetition, not
/// to a refresh. If the handler throws, every request that waited throws an ``AuthenticationError``, and so does one
/// that had been sent before and is refused afterwards. The next request runs the handler again, unless its error ends
/// the session.
///
/// The handler belongs to the session and not to a request: the one that caused it may be cancelled. The requests that
/// the handler sends are sent without the credential and are never refreshed themselves, on any agent; one from a
/// detached task or a queue is recognised by ``Credential/isRenewed(by:)``, or has the mode
/// ``AuthenticationMode/off``. The handler may take as long as `refreshTimeout`, for example to show a sign-in
/// screen; meanwhile requests wait, each within its own deadline.
///
/// Several agents may share a session. It is safe to use from any thread.
public final class AuthenticationSession<C: Credential>: Sendable {
    /// Returns a credential that replaces the given one, which is nil if no user is signed in. Nil ends the session:
    /// all requests that wait throw ``AuthenticationError/Code/signedOut``. So do ``SessionEnded``, and an error with
    /// the response `invalid_grant` of an OAuth server (RFC 6749, section 5.2), which means that the refresh token is
    /// invalid.
    public typealias Handler = @Sendable (_ old: C?) async throws -> C?
    /// Whether a response refuses the credential of its request, for example by a code in its body.
    public typealias Rejection = @Sendable (HTTPResponse) async throws -> Bool

    let keeper: CredentialKeeper

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - credential: the first one, such as one that was saved; nil, the default, signs in before the first request.
    ///   - origins: the origins that get the credential; nil, the default, for those of the agent's base URLs and its
    ///     `trustedOrigins`.
    ///   - refreshTimeout: the limit of the handler, by the agent's clock; 60 seconds by default.
    ///   - isRejection: which responses refuse the credential beside those with status 401, and those of which the outcome
    ///     check of their request says so; nil, the default, for no others. The body is in memory if the request has it
    ///     delivered as data.
    ///   - is401Rejection: whether every response with status 401 refuses the credential; true by default. With false
    ///     `isRejection` and the outcome checks of requests decide.
    ///   - refresh: makes the next credential.
    public init(
        _ credential: C? = nil, origins: TrustedOrigins? = nil, refreshTimeout: Duration = .seconds(60),
        isRejection: Rejection? = nil, is401Rejection: Bool = true, refresh: @escaping Handler
    ) {
        let rules = CredentialKeeper.Rules(origins: origins, isRejection: isRejection, is401Rejection: is401Rejection)
        keeper = CredentialKeeper(credential, rules, timeout: refreshTimeout) { old in
            try await refresh(old.flatMap { $0 as? C })
        }
    }

    /// Makes a session of a credential that cannot be refreshed: a refusal reaches the caller as a response.
    public init(_ credential: C, origins: TrustedOrigins? = nil) {
        keeper = CredentialKeeper(credential, CredentialKeeper.Rules(origins: origins), timeout: .zero, handler: nil)
    }

    deinit { keeper.end() }

    /// The current credential; nil if no user is signed in.
    public var credential: C? { keeper.credential.flatMap { $0 as? C } }

    /// Whether there is a credential.
    public var isSignedIn: Bool { keeper.credential != nil }

    /// Signs a user in. An earlier credential belongs to another user, unless both have the same ``Credential/owner``: a
    /// running refresh is cancelled and its result dropped, and calls that began before throw
    /// ``AuthenticationError/Code/userChanged`` if they would have been sent as this user. Calls that wait for the first
    /// user to sign in are sent with this credential.
    public func signIn(_ credential: C) { keeper.replace(with: credential) }

    /// Replaces the current credential by a renewed one of the same user, such as one that another process has
    /// refreshed. A running refresh is cancelled and its result dropped; the requests that wait for it are sent with
    /// this one. Does nothing and returns false if no user is signed in.
    @discardableResult
    public func renew(with credential: C) -> Bool { keeper.renew(with: credential) }

    /// Removes the credential. A running refresh is cancelled and its result dropped; the requests that wait for it
    /// throw ``AuthenticationError/Code/signedOut``, and so do calls that began before and would be sent, or sent
    /// again, from now on. The next call signs in.
    public func signOut() { keeper.replace(with: nil) }

    /// Makes the next request refresh the credential before it is sent, for example after a message from the server.
    public func expire() { keeper.expire() }
}

extension AuthenticationSession: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Whether there is a credential, without its content.
    public var description: String { isSignedIn ? "signed in" : "signed out" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show the credential.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
