import Errand
import ErrandAuthentication
import ErrandEssentials

/// Gets the next token from the store, a refresh, or a sign-in.
struct TokenRenewal: Sendable {
    let client: OAuthClient
    let vault: TokenVault
    let signIn: OAuthSession.SignIn?

    private enum Source {
        case token(OAuthToken)
        case signIn
    }

    func next(after old: OAuthToken?) async throws -> OAuthToken? {
        let ticket = vault.ticket
        if let stored = usable(try await vault.load(), after: old) { return stored }
        switch try await vault.exclusively({ try await source(after: old, ticket) }) {
        case .token(let token): return token
        // The sign-in runs outside the store's lock, because it may take minutes.
        case .signIn: return try await fresh(ticket)
        }
    }

    private func usable(_ stored: OAuthToken?, after old: OAuthToken?) -> OAuthToken? {
        guard let stored, stored.accessToken != old?.accessToken, !stored.isExpired(at: client.time.date) else {
            return nil
        }
        return stored
    }

    private func source(after old: OAuthToken?, _ ticket: TokenVault.Ticket) async throws -> Source {
        // Another process may have renewed the token in the meantime.
        let stored = try await vault.load()
        if let other = usable(stored, after: old) { return .token(other) }
        guard let token = stored ?? old else { return .signIn }
        guard token.refreshToken != nil else {
            if signIn != nil { return .signIn }
            await vault.remove(ticket)
            throw SessionEnded(OAuthError(.noToken, "the token has expired, and it has no refresh token"))
        }
        do {
            let new = try await client.refresh(token)
            await vault.save(new, ticket)
            return .token(new)
        } catch let error as OAuthError where error.code == .invalidGrant || error.code == .userMismatch {
            // A process without the store's lock may have used the refresh token first.
            if let other = try await vault.load(), other.refreshToken != token.refreshToken { return .token(other) }
            await vault.remove(ticket)
            throw SessionEnded(error)
        }
    }

    private func fresh(_ ticket: TokenVault.Ticket) async throws -> OAuthToken? {
        guard let token = try await signIn?(client) else { return nil }
        await vault.saveSignedIn(token, ticket)
        return token
    }
}
