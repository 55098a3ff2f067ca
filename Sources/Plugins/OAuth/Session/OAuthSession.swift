public import Errand
public import ErrandAuthentication
import ErrandEssentials

/// One user's token: restored from a store, renewed when it expires, and added to an agent's requests.
///
/// ```swift
/// let session = OAuthSession(client, store: FileTokenStore(file)) { client in
///     try await client.signIn(scope: "openid profile", browser: LoopbackBrowser())
/// }
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.authentication(session)])
/// ```
///
/// The first request restores the stored token, or signs in. All requests that need a new token wait for one refresh. If
/// the refresh fails because a response was lost or the server is down, the user stays signed in and the next request
/// tries again. If the server refuses the refresh token with `invalid_grant`, the session ends: the token is removed from
/// the store, and requests throw `AuthenticationError` with `signedOut`.
///
/// Several agents can share a session. Several sessions and processes can share a `FileTokenStore`: one refreshes at a
/// time, and the others use its token. You can use a session from any thread.
public final class OAuthSession: Sendable {
    /// The client that renews the token.
    public let client: OAuthClient
    /// The session whose filter adds the token. Use it for `credential`, `expire()` and a custom order of filters. Sign
    /// out with the ``OAuthSession``, which also removes the stored token.
    public let authentication: AuthenticationSession<OAuthToken>
    private let vault: TokenVault

    /// Gets a token if there isn't one, for example by showing a sign-in page. Return nil if the user doesn't want to.
    public typealias SignIn = @Sendable (OAuthClient) async throws -> OAuthToken?

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - store: Where the token is kept. Defaults to memory.
    ///   - origins: The origins that receive the token. Defaults to nil, which means the agent's trusted origins.
    ///   - timeout: The longest time for signing in or renewing the token. Defaults to five minutes.
    ///   - signIn: Called by the first request if the store is empty, and if a token has expired that can't be renewed.
    ///     Defaults to nil: requests then throw `AuthenticationError` with `signedOut` until ``signIn(_:)`` is called.
    ///   - storeFailed: Called if a new token couldn't be stored. Requests use the token anyway. Defaults to no closure.
    public init(
        _ client: OAuthClient, store: any TokenStore = MemoryTokenStore(), origins: TrustedOrigins? = nil,
        timeout: Duration = .seconds(300), signIn: SignIn? = nil, storeFailed: (@Sendable (any Error) -> Void)? = nil
    ) {
        let vault = TokenVault(store, storeFailed)
        (self.client, self.vault) = (client, vault)
        authentication = AuthenticationSession(origins: origins, refreshTimeout: timeout) { old in
            try await TokenRenewal(client: client, vault: vault, signIn: signIn).next(after: old)
        }
    }

    /// Whether a user is signed in, as far as known: false until the first request or ``restore()`` has read the store.
    public var isSignedIn: Bool { authentication.isSignedIn }

    /// The current token, or nil if no user is signed in.
    public var token: OAuthToken? { authentication.credential }

    /// Reads the stored token, for example at launch to decide which screen to show. Returns whether there is one.
    ///
    /// Throws the store's error.
    @discardableResult
    public func restore() async throws -> Bool {
        if authentication.isSignedIn { return true }
        let ticket = vault.ticket
        guard let token = try await vault.load() else { return authentication.isSignedIn }
        // A sign-in or a sign-out in the meantime counts.
        if vault.ticket == ticket, !authentication.isSignedIn { authentication.signIn(token) }
        return authentication.isSignedIn
    }

    /// Signs a user in with a token, and stores it: `try await session.signIn(client.signIn(browser: browser))`.
    ///
    /// Calls of another user throw `AuthenticationError` with `userChanged`. If the token can't be stored, the user is
    /// signed in anyway.
    public func signIn(_ token: OAuthToken) async {
        let ticket = vault.begin()
        authentication.signIn(token)
        await vault.saveSignedIn(token, ticket)
    }

    /// Signs the user out: on this device, in the store, and at the server, if that can revoke tokens.
    ///
    /// When it returns or throws, requests no longer carry the token. A refresh that's running doesn't bring it back: this
    /// session's is cancelled, and another process's is awaited, for at most two minutes with a `FileTokenStore`.
    /// Throws the store's error, or ``OAuthError`` if the server couldn't revoke the token.
    public func signOut() async throws {
        let current = authentication.credential
        vault.begin()
        authentication.signOut()
        let stored = try await vault.removeAll()
        guard let token = current ?? stored, try await client.server().revocationEndpoint != nil else { return }
        try await client.revoke(token)
    }
}

extension OAuthSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether a user is signed in, without the token.
    public var description: String { authentication.description }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Adds the token of an ``OAuthSession``, and a proof if the token needs one.
public struct OAuthFilter: FilterGroup {
    /// The filters that add the token and the proof. Each runs in its own stage.
    public let filters: [any Filter]

    init(_ session: OAuthSession) {
        filters =
            [AuthenticationFilter<OAuthToken>.authentication(session.authentication)]
            + (session.client.dpop.map { [DPoPFilter(dpop: $0)] } ?? [])
    }
}

extension OAuthFilter: CustomReflectable {
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == OAuthFilter {
    /// Creates filters that add the token of a session: `filters: [.authentication(session)]`.
    public static func authentication(_ session: OAuthSession) -> OAuthFilter { OAuthFilter(session) }
}
