public import Errand

/// Whether a request needs the credential of an ``AuthenticationSession``.
public enum AuthenticationMode: Sendable, Hashable {
    /// Sends the request with the credential; signs in first if there is none. The default.
    case required
    /// Sends the request with the credential if there is one, and without it otherwise.
    case ifSignedIn
    /// Sends the request without the credential, and its 401 is a response like any other. A request with an
    /// `authorization` of its own, ``Errand/Authorization/omitted`` included, is sent with that, whatever its mode is.
    case off
}

/// The mode of a request or a call; ``AuthenticationMode/required`` by default.
///
/// ```swift
/// struct GetNews: Request {
///     var path: String { "news" }
///     var tags: Tags { Tags().with(AuthenticationMode.self, .ifSignedIn) }
/// }
/// ```
extension AuthenticationMode: TagKey {
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
        options.tags[AuthenticationMode.self] = mode
        return options
    }
}
