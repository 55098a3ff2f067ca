import ErrandEssentials
import Synchronization

/// Reads and writes a store, one operation after the other. A refresh that ends after a sign-out doesn't store its
/// token.
final class TokenVault: Sendable {
    /// Identifies the user who was signed in when an operation began.
    struct Ticket: Sendable, Equatable {
        fileprivate let number: Int
    }

    private struct State {
        var number = 0
        /// A token that the store didn't take. It counts as stored, because the server may have invalidated the one in
        /// the store.
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

    /// Begins with another user: writes with earlier tickets have no effect from now on.
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

    /// Runs a renewal while no other process or session runs one with the store.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await store.exclusively(body)
    }

    /// Stores the token of a sign-in after a renewal that's running elsewhere, which would replace it.
    func saveSignedIn(_ token: OAuthToken, _ ticket: Ticket) async {
        do { try await store.exclusively { await save(token, ticket) } } catch { await save(token, ticket) }
    }

    /// Stores a token. Reports an error and doesn't throw it, because the token itself is fine.
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

    /// Removes the token of a session that has ended. Reports an error and doesn't throw it.
    func remove(_ ticket: Ticket) async {
        try? await inTurn { vault in
            guard vault.ticket == ticket else { return }
            vault.state.withLock { $0.unsaved = nil }
            do { try await vault.store.remove() } catch { vault.failed?(error) }
        }
    }

    /// Removes the token and returns it, after a renewal that's running elsewhere, which would bring it back.
    func removeAll() async throws -> OAuthToken? {
        do { return try await store.exclusively { try await removeAtOnce() } } catch {
            // The wait was cancelled or too long.
            return try await removeAtOnce()
        }
    }

    /// A token that can't be read is removed as well.
    private func removeAtOnce() async throws -> OAuthToken? {
        try await inTurn { vault in
            let token = try? await vault.store.load()
            try await vault.store.remove()
            return token
        }
    }

    /// Runs an operation after all earlier ones. It isn't cancelled with its caller: a token that's being written is
    /// written.
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
