import Errand
import ErrandAuthentication
import ErrandEssentials

/// Decides where the next token comes from: the store, a refresh, or a sign-in.
struct TokenRenewal: Sendable {
    let client: OAuthClient
    let vault: TokenVault
    let signIn: OAuthSession.SignIn?

    /// - Parameter old: The token that has expired or was refused, or nil if no user is signed in.
    func next(after old: OAuthToken?) async throws -> OAuthToken? {
        let ticket = vault.ticket
        let stored = try await vault.load()
        // Another process, or the launch before this one, has stored another token.
        if let stored, stored.accessToken != old?.accessToken, !stored.isExpired(at: client.time.date) { return stored }
        guard let token = stored ?? old else { return try await fresh(ticket) }
        guard token.refreshToken != nil else {
            if signIn != nil { return try await fresh(ticket) }
            await vault.remove(ticket)
            throw SessionEnded(OAuthError(.noToken, "the token has expired, and it has no refresh token"))
        }
        do {
            let new = try await client.refresh(token)
            await vault.save(new, ticket)
            return new
        } catch let error as OAuthError where error.code == .invalidGrant || error.code == .userMismatch {
            // Another process may have used the refresh token first.
            if let other = try await vault.load(), other.refreshToken != token.refreshToken { return other }
            await vault.remove(ticket)
            throw SessionEnded(error)
        }
    }

    private func fresh(_ ticket: TokenVault.Ticket) async throws -> OAuthToken? {
        guard let token = try await signIn?(client) else { return nil }
        await vault.save(token, ticket)
        return token
    }
}
