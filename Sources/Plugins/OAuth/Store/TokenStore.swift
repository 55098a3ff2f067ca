import Synchronization

/// Keeps the token of one user between launches. ``FileTokenStore`` is for any platform, and `KeychainTokenStore` for
/// Apple's.
///
/// To write a store, test it with `TokenStoreSuite` of `ErrandOAuthTesting`. A store is used by several tasks at the same
/// time. Its description must not show the token.
public protocol TokenStore: Sendable {
    /// Returns the stored token, or nil if there isn't one.
    func load() async throws -> OAuthToken?
    /// Stores a token in place of the old one. After an error or a crash, the store contains either the old one or the
    /// new one.
    func save(_ token: OAuthToken) async throws
    /// Removes the token. Does nothing if there isn't one.
    func remove() async throws
}

/// Keeps a token in memory, until the process ends.
public final class MemoryTokenStore: TokenStore {
    private let token: Mutex<OAuthToken?>

    /// Creates a store. It's empty by default.
    public init(_ token: OAuthToken? = nil) { self.token = Mutex(token) }

    /// Returns the token.
    public func load() -> OAuthToken? { token.withLock { $0 } }
    /// Replaces the token.
    public func save(_ token: OAuthToken) { self.token.withLock { $0 = token } }
    /// Removes the token.
    public func remove() { token.withLock { $0 = nil } }
}

extension MemoryTokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, without the token.
    public var description: String { "a token in memory" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
