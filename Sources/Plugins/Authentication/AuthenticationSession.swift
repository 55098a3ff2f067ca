public import Errand
import Synchronization

/// Who the user is to a service: the credential of the moment, and how to get the next one.
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
/// The handler runs once, however many requests need its result; they wait for it and are then sent, or sent again, with
/// the new credential. A response that refuses an older credential than the current one leads to a repetition, not to a
/// refresh. Where the handler throws, every request that waited throws an ``AuthenticationError``, and so does one that had
/// been sent before and is refused after. The next request runs the handler again.
///
/// The handler belongs to the session and not to a request: the one that caused it may be cancelled. The requests that
/// the handler sends go without the credential and are never refreshed themselves, on whatever agent. It may take as long as
/// `refreshTimeout`, for instance to show a sign-in screen; meanwhile requests wait, each within its own deadline.
///
/// Several agents may share a session. Safe to use from anywhere.
public final class AuthenticationSession<C: Credential>: Sendable {
    /// Returns a credential in the place of the given one, which is nil where no user is signed in. Nil ends the session:
    /// all that wait throw ``AuthenticationError/Code/signedOut``.
    public typealias Handler = @Sendable (_ old: C?) async throws -> C?
    /// Whether a response refuses the credential that its request was sent with.
    public typealias Rejection = @Sendable (HTTPResponse) async throws -> Bool

    /// The origins that get the credential; nil for those that the agent trusts with its secrets.
    let origins: TrustedOrigins?
    /// Nil for those with status 401.
    let isRejection: Rejection?
    let keeper: CredentialKeeper

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - credential: the first one, such as one that was saved; nil, the default, signs in before the first request.
    ///   - origins: the origins that get the credential; nil, the default, for those of the agent's base and CDN URLs and
    ///     its `trustedOrigins`.
    ///   - refreshTimeout: how long the handler may take, by the agent's clock; 60 seconds by default.
    ///   - isRejection: whether a response refuses the credential; nil, the default, for those with status 401. The body is there where the
    ///     request wants it as data.
    ///   - refresh: makes the next credential.
    public init(
        _ credential: C? = nil, origins: TrustedOrigins? = nil, refreshTimeout: Duration = .seconds(60),
        isRejection: Rejection? = nil, refresh: @escaping Handler
    ) {
        (self.origins, self.isRejection) = (origins, isRejection)
        keeper = CredentialKeeper(credential, timeout: refreshTimeout) { old in
            try await refresh(old.flatMap { $0 as? C })
        }
    }

    /// Makes a session of a credential that cannot be refreshed: a refusal reaches the caller as the response that it is.
    public init(_ credential: C, origins: TrustedOrigins? = nil) {
        (self.origins, isRejection) = (origins, nil)
        keeper = CredentialKeeper(credential, timeout: .zero, handler: nil)
    }

    deinit { keeper.end() }

    /// The credential of the moment; nil where no user is signed in.
    public var credential: C? { keeper.credential.flatMap { $0 as? C } }

    /// Whether there is a credential.
    public var isSignedIn: Bool { keeper.credential != nil }

    /// Signs a user in. Where another credential was there, that was another user's, unless both have the same
    /// ``Credential/owner``: a refresh that runs is cancelled and its result dropped, and calls that began before throw
    /// ``AuthenticationError/Code/userChanged`` where they would have been sent as this user. Calls that wait for the first
    /// user to sign in are sent with this credential.
    public func signIn(_ credential: C) { keeper.replace(with: credential) }

    /// Puts a renewed credential of the same user in the place of the current one, such as one that another process has
    /// refreshed. A refresh that runs is cancelled and its result dropped; the requests that wait for it are sent with this
    /// one. Does nothing and returns false where no user is signed in.
    @discardableResult
    public func renew(with credential: C) -> Bool { keeper.renew(with: credential) }

    /// Removes the credential. A refresh that runs is cancelled and its result dropped; the requests that wait for it throw
    /// ``AuthenticationError/Code/signedOut``, and so do calls that began before and would be sent, or sent again, from now
    /// on. The next call signs in.
    public func signOut() { keeper.replace(with: nil) }

    /// Makes the next request refresh the credential before it is sent, such as after a message from the server.
    public func expire() { keeper.expire() }
}

extension AuthenticationSession: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Whether there is a credential; nothing of it.
    public var description: String { isSignedIn ? "signed in" : "signed out" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
