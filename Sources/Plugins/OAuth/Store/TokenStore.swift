import Synchronization

/// Keeps the token of one user between launches. ``FileTokenStore`` is for any platform, and `KeychainTokenStore` for
/// Apple's.
///
/// To write a store, test it with `TokenStoreSuite` of `ErrandOAuthTesting`. A store is used by several tasks at the same
/// time. Its description must not show the token.
///
/// If several sessions or processes share the store's place, implement ``exclusively(_:)``. Without it, two of them may
/// use one refresh token, and a server that rotates refresh tokens signs the user out.
public protocol TokenStore: Sendable {
    /// Returns the stored token, or nil if there isn't one.
    func load() async throws -> OAuthToken?
    /// Stores a token in place of the old one. After an error or a crash, the store contains either the old one or the
    /// new one.
    func save(_ token: OAuthToken) async throws
    /// Removes the token. Does nothing if there isn't one.
    func remove() async throws
    /// Runs a closure, such as a refresh, while no other store of the same place runs one, in this process or in another.
    /// The closure uses the store's other methods. By default, runs it at once.
    ///
    /// Throws the closure's error, or an error if the wait for another closure is cancelled or takes too long.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
}

extension TokenStore {
    /// The default implementation runs the closure at once.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }
}

/// Keeps a token in memory, so it's lost when the process ends.
public final class MemoryTokenStore: TokenStore {
    private let token: Mutex<OAuthToken?>
    private let turns = AsyncTurns()

    /// Creates a store with a token, or an empty store by default.
    public init(_ token: OAuthToken? = nil) { self.token = Mutex(token) }

    /// Returns the token, or nil if the store is empty.
    public func load() -> OAuthToken? { token.withLock { $0 } }
    /// Replaces the token in memory.
    public func save(_ token: OAuthToken) { self.token.withLock { $0 = token } }
    /// Removes the token from memory.
    public func remove() { token.withLock { $0 = nil } }
    /// Runs one closure at a time, for sessions that share this object.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await turns.take()
        defer { turns.give() }
        return try await body()
    }
}

extension MemoryTokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the store, without the token.
    public var description: String { "a token in memory" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
