import ErrandEssentials
import Synchronization

/// Reads and writes a store, one operation at a time. If a refresh ends after the user signed out, the vault doesn't
/// store its token.
final class TokenVault: Sendable {
    struct Ticket: Sendable, Equatable {
        fileprivate let number: Int
    }

    private struct State {
        var number = 0
        /// A new token that couldn't be stored. It's used instead of the stored token, which the server may have
        /// invalidated.
        var unsaved: OAuthToken?
        var last: Task<Void, Never>?
    }

    private let store: any TokenStore
    private let failed: (@Sendable (any Error) -> Void)?
    private let state = Mutex(State())

    init(_ store: any TokenStore, _ failed: (@Sendable (any Error) -> Void)?) {
        (self.store, self.failed) = (store, failed)
    }

    var ticket: Ticket { state.withLock { Ticket(number: $0.number) } }

    /// Later writes with earlier tickets have no effect.
    @discardableResult
    func begin() -> Ticket {
        state.withLock { state in
            state.number += 1
            state.unsaved = nil
            return Ticket(number: state.number)
        }
    }

    func load() async throws -> OAuthToken? {
        try await inTurn { vault in
            guard let unsaved = vault.state.withLock({ $0.unsaved }) else { return try await vault.store.load() }
            await vault.write(unsaved, vault.ticket)
            return unsaved
        }
    }

    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await store.exclusively(body)
    }

    /// Stores the token of a sign-in. First waits for renewals by other processes and sessions, because they would
    /// otherwise replace the token afterwards.
    func saveSignedIn(_ token: OAuthToken, _ ticket: Ticket) async {
        do { try await store.exclusively { await save(token, ticket) } } catch { await save(token, ticket) }
    }

    /// Reports an error instead of throwing it, because the token is usable.
    func save(_ token: OAuthToken, _ ticket: Ticket) async {
        try? await inTurn { await $0.write(token, ticket) }
    }

    private func write(_ token: OAuthToken, _ ticket: Ticket) async {
        guard self.ticket == ticket else { return }
        var unsaved: OAuthToken?
        do { try await store.save(token) } catch {
            unsaved = token
            failed?(error)
        }
        state.withLock { state in
            if state.number == ticket.number { state.unsaved = unsaved }
        }
    }

    /// Has no effect after a later sign-in or sign-out. Reports an error instead of throwing it.
    func remove(_ ticket: Ticket) async {
        try? await inTurn { vault in
            guard vault.ticket == ticket else { return }
            vault.state.withLock { $0.unsaved = nil }
            do { try await vault.store.remove() } catch { vault.failed?(error) }
        }
    }

    /// Removes the stored token, and returns the token even if it can't be removed.
    func removeAll() async -> Removal {
        do { return try await store.exclusively { await removeAtOnce() } } catch {
            // The task was cancelled, or the time limit passed.
            return await removeAtOnce()
        }
    }

    struct Removal: Sendable {
        var token: OAuthToken?
        var error: (any Error)?
    }

    private func removeAtOnce() async -> Removal {
        do {
            return try await inTurn { vault in
                let token = try? await vault.store.load()
                do { try await vault.store.remove() } catch { return Removal(token: token, error: error) }
                return Removal(token: token)
            }
        } catch { return Removal(error: error) }
    }

    /// Cancelling the caller doesn't cancel the operation, so a write always finishes.
    private func inTurn<Value: Sendable>(
        _ body: @escaping @Sendable (TokenVault) async throws -> Value
    ) async throws -> Value {
        let task = state.withLock { state in
            let last = state.last
            let task = Task {
                await last?.value
                return try await body(self)
            }
            state.last = Task { _ = try? await task.value }
            return task
        }
        return try await task.value
    }
}
