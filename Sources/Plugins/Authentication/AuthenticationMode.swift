public import Errand

/// Specifies whether a request needs the credential of an ``AuthenticationSession``.
public enum AuthenticationMode: Sendable, Hashable {
    /// Sends the request with the credential, and signs in first if there's no credential. The default.
    case required
    /// Sends the request with the credential, or without it if no user is signed in.
    case ifSignedIn
    /// Sends the request without the credential, and treats a 401 like any other response.
    ///
    /// A request's own `authorization`, including ``Errand/Authorization/omitted``, applies regardless of the mode.
    case off
}

/// Sets the mode of a request or call.
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
    /// True, because the mode can change the response.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Sets the mode of a call: `try await agent.send(GetNews(), options: .authentication(.ifSignedIn))`.
    public static func authentication(_ mode: AuthenticationMode) -> CallOptions {
        CallOptions().authentication(mode)
    }

    /// Returns a copy of the options with another mode.
    public func authentication(_ mode: AuthenticationMode) -> CallOptions {
        var options = self
        options.tags[AuthenticationMode.self] = mode
        return options
    }
}
