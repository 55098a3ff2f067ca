public import Errand
public import ErrandAuthentication
import ErrandEssentials

/// A user's session with an OAuth server. It restores the user's token from a store, renews the token when it expires,
/// and adds the token to an agent's requests.
///
/// ```swift
/// let session = OAuthSession(client, store: FileTokenStore(file)) { client in
///     try await client.signIn(scope: "openid profile", browser: LoopbackBrowser())
/// }
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.authentication(session)])
/// ```
///
/// The first request restores the stored token, or signs in. Requests that need a new token wait for one refresh. If a
/// refresh fails because a response was lost or the server is down, the user stays signed in, and the next request
/// tries again. If the server refuses the refresh token with `invalid_grant`, the session ends. It then removes the
/// stored token, and requests throw `AuthenticationError` with `signedOut`.
///
/// Several agents can share a session. Several sessions and processes can share a `FileTokenStore`: only one of them
/// refreshes the token at a time, and the others then use the new token. You can use a session from any thread.
public final class OAuthSession: Sendable {
    /// The client that renews the token.
    public let client: OAuthClient
    /// The underlying session, whose filter adds the token to requests. Use it for `credential`, `expire()`, and a
    /// custom order of filters. To sign out, use ``signOut()`` of the `OAuthSession`, which also removes the stored
    /// token.
    public let authentication: AuthenticationSession<OAuthToken>
    private let vault: TokenVault

    /// Gets a token when the session doesn't have one, for example with a sign-in page. Returns nil if the user
    /// declines.
    public typealias SignIn = @Sendable (OAuthClient) async throws -> OAuthToken?

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - client: The client that renews tokens.
    ///   - store: Stores the token. Defaults to a store in memory.
    ///   - origins: The origins that receive the token. Defaults to nil, which means the agent's trusted origins.
    ///   - timeout: The maximum time for signing in or for renewing the token. Defaults to five minutes.
    ///   - signIn: Called when a request needs a token that the session can neither restore nor renew. Defaults to nil.
    ///     Requests then throw `AuthenticationError` with `signedOut` until you call ``signIn(_:)``.
    ///   - storeFailed: Called if a new token can't be stored. Requests use the token anyway. Defaults to nil.
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

    /// Whether a user is signed in. False until the first request or ``restore()`` has read the store.
    public var isSignedIn: Bool { authentication.isSignedIn }

    /// The current token, or nil if nobody is signed in.
    public var token: OAuthToken? { authentication.credential }

    /// Reads the stored token, for example at launch to choose the first screen. Returns whether a user is signed in.
    ///
    /// Throws the store's error.
    @discardableResult
    public func restore() async throws -> Bool {
        if authentication.isSignedIn { return true }
        let ticket = vault.ticket
        guard let token = try await vault.load() else { return authentication.isSignedIn }
        // A sign-in or sign-out in the meantime takes precedence.
        if vault.ticket == ticket, !authentication.isSignedIn { authentication.signIn(token) }
        return authentication.isSignedIn
    }

    /// Signs a user in with a token, and stores the token: `try await session.signIn(client.signIn(browser: browser))`.
    ///
    /// Calls that the previous user started throw `AuthenticationError` with `userChanged`. If storing fails, the user
    /// is signed in anyway.
    public func signIn(_ token: OAuthToken) async {
        let ticket = vault.begin()
        authentication.signIn(token)
        await vault.saveSignedIn(token, ticket)
    }

    /// Signs the user out on this device and removes the stored token. If the server supports it, also revokes the
    /// token at the server.
    ///
    /// When the method returns or throws, requests no longer carry the token, and a running refresh can't restore it.
    /// The session cancels its own refresh. If another process refreshes the token, the session waits for that refresh
    /// first, with a `FileTokenStore` for at most two minutes. If the store can't be emptied, the token is still
    /// revoked, and the method then throws the store's error. Throws ``OAuthError`` if the server couldn't revoke the
    /// token.
    public func signOut() async throws {
        let current = authentication.credential
        vault.begin()
        authentication.signOut()
        let removal = await vault.removeAll()
        do {
            if let token = current ?? removal.token, try await client.server().revocationEndpoint != nil {
                try await client.revoke(token)
            }
        } catch { throw removal.error ?? error }
        if let error = removal.error { throw error }
    }
}

extension OAuthSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether a user is signed in, without the token.
    public var description: String { authentication.description }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Adds the token of an ``OAuthSession`` to requests. If the client uses DPoP, also adds a proof.
public struct OAuthFilter: FilterGroup {
    /// The filters that add the token and the proof. They run in different stages.
    public let filters: [any Filter]

    init(_ session: OAuthSession) {
        filters =
            [AuthenticationFilter<OAuthToken>.authentication(session.authentication)]
            + (session.client.dpop.map { [DPoPFilter(dpop: $0)] } ?? [])
    }
}

extension OAuthFilter: CustomReflectable {
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter where Self == OAuthFilter {
    /// Adds a session's token to requests: `filters: [.authentication(session)]`.
    public static func authentication(_ session: OAuthSession) -> OAuthFilter { OAuthFilter(session) }
}
