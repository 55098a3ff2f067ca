public import Errand

/// A request whose answer has to have a shape; the filter ``JSONValidation`` on the agent sees to it.
///
/// ```swift
/// struct GetUsers: JSONValidatedRequest {
///     typealias Output = [User]
///     var path: String { "users" }
///     var shape: JSONShape { .array(of: ["id": .integer, "name": .string(nonEmpty: true)]) }
/// }
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.jsonValidation])
/// ```
///
/// Without that filter nothing is validated; a request that must not depend on it names its check itself:
/// `var checks: [ResponseCheck] { [.json(shape, method: method)] }`.
public protocol JSONValidatedRequest: Request {
    /// What the body has to look like.
    var shape: JSONShape { get }
}
