/// The path with named variables that a request's URL is made from, such as `/users/{id}`. Defaults to `nil`.
///
/// Metrics and traces group requests by it. Set it to one of a few fixed texts, never to the path itself, because there
/// are as many paths as users.
///
/// ```swift
/// struct GetUser: Request {
///     typealias Output = User
///     let id: Int
///     var path: String { "users/\(id)" }
///     var tags: Tags { Tags().with(URLTemplate.self, "/users/{id}") }
/// }
/// ```
///
/// The template isn't sent. A redirect keeps it, because it describes the app's request and not the URL of a hop.
public enum URLTemplate: TagKey {
    /// Defaults to `nil`.
    public static var defaultValue: String? { nil }
}
