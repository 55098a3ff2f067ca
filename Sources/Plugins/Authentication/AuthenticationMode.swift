public import Errand

/// Whether a request needs the credential of an ``AuthenticationSession``.
public enum AuthenticationMode: Sendable, Hashable {
    /// Goes with the credential; signs in first where there is none. The default.
    case required
    /// Goes with the credential where there is one, and without it otherwise.
    case ifSignedIn
    /// Goes without the credential, and its 401 is a response like any other. A request that has an `authorization` of its
    /// own, ``Errand/Authorization/omitted`` included, goes so whatever its mode is.
    case never
}

/// The mode of a request or a call; ``AuthenticationMode/required`` by default.
///
/// ```swift
/// struct GetNews: Request {
///     var path: String { "news" }
///     var tags: Tags { Tags().with(AuthenticationModeKey.self, .ifSignedIn) }
/// }
/// ```
public enum AuthenticationModeKey: TagKey {
    /// ``AuthenticationMode/required``
    public static var defaultValue: AuthenticationMode { .required }
    /// True.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// `try await agent.send(GetNews(), options: .authentication(.ifSignedIn))`
    public static func authentication(_ mode: AuthenticationMode) -> CallOptions {
        CallOptions().authentication(mode)
    }

    /// The same options with a mode.
    public func authentication(_ mode: AuthenticationMode) -> CallOptions {
        var options = self
        options.tags[AuthenticationModeKey.self] = mode
        return options
    }
}
