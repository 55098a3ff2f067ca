/// The path that a request's URL is made from, with its variables by name, such as `/users/{id}`; nil, the default,
/// where the app names none.
///
/// Metrics and traces count requests by it, since there are as many paths as users: set it to one of a few texts, never
/// to the path itself.
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
/// It is sent nowhere. A redirect keeps it: it names the request of the app, not the URL of one of its hops.
public enum URLTemplate: TagKey {
    /// Nil.
    public static var defaultValue: String? { nil }
}
