import Synchronization

/// Keeps one user's token between launches. Use ``FileTokenStore`` on any platform, or `KeychainTokenStore` on Apple's
/// platforms.
///
/// To test your own store, use `TokenStoreSuite` from `ErrandOAuthTesting`. Several tasks use a store at the same time.
/// The store's description must not show the token.
///
/// If several sessions or processes share a token, implement ``exclusively(_:)``. Otherwise two of them may use the
/// same refresh token. A server that accepts each refresh token only once then signs the user out.
public protocol TokenStore: Sendable {
    /// Returns the stored token, or nil if there isn't one.
    func load() async throws -> OAuthToken?
    /// Replaces the stored token. After an error or a crash, the store contains the old or the new token.
    func save(_ token: OAuthToken) async throws
    /// Removes the token, if there is one.
    func remove() async throws
    /// Runs a closure, such as a refresh, while no other store with the same token runs one, in this process or
    /// another. The closure uses the store's other methods. The default implementation runs the closure immediately.
    ///
    /// Throws the closure's error. Also throws if the wait for another closure is cancelled or takes too long.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
}

extension TokenStore {
    /// Runs the closure immediately.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }
}

/// Keeps a token in memory, until the process ends.
public final class MemoryTokenStore: TokenStore {
    private let token: Mutex<OAuthToken?>
    private let turns = AsyncTurns()

    /// Creates a store with a token. Defaults to an empty store.
    public init(_ token: OAuthToken? = nil) { self.token = Mutex(token) }

    /// Returns the token, or nil if the store is empty.
    public func load() -> OAuthToken? { token.withLock { $0 } }
    /// Replaces the token in memory.
    public func save(_ token: OAuthToken) { self.token.withLock { $0 = token } }
    /// Removes the token from memory.
    public func remove() { token.withLock { $0 = nil } }
    /// Runs one closure at a time for the sessions that share this object.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await turns.take()
        defer { turns.give() }
        return try await body()
    }
}

extension MemoryTokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the token.
    public var description: String { "a token in memory" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
