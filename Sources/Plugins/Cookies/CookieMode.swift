public import Errand

/// How a request or call uses the cookie jar. The request's own `Cookie` header is sent in every mode.
///
/// ```swift
/// try await agent.send(GetNews(), options: .cookies(.off))
/// ```
public enum CookieMode: Sendable, Hashable {
    /// Sends the jar's cookies, and stores the cookies of responses. This is the default.
    case standard
    /// Sends the jar's cookies, but doesn't store cookies. Use it for requests that must not change the session, for
    /// example in the background.
    case readOnly
    /// Neither sends the jar's cookies nor stores cookies. Use it for requests that must not identify the user.
    case off
}

/// Sets the mode of a request or call. It also applies to the call's redirects and retries.
///
/// ```swift
/// struct GetNews: Request {
///     var path: String { "news" }
///     var tags: Tags { Tags().with(CookieMode.self, .off) }
/// }
/// ```
extension CookieMode: TagKey {
    /// ``CookieMode/standard``.
    public static var defaultValue: CookieMode { .standard }
    /// True, because responses may depend on the cookies. Calls with different modes therefore don't share a response.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Creates options with a cookie mode: `try await agent.send(GetNews(), options: .cookies(.off))`.
    public static func cookies(_ mode: CookieMode) -> CallOptions { CallOptions().cookies(mode) }

    /// Returns a copy of these options with another cookie mode.
    public func cookies(_ mode: CookieMode) -> CallOptions {
        var options = self
        options.tags[CookieMode.self] = mode
        return options
    }
}
