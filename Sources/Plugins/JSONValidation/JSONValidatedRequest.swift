public import Errand

/// A request whose response is validated against a shape.
///
/// ```swift
/// struct GetUsers: JSONValidatedRequest {
///     typealias Output = [User]
///     var path: String { "users" }
///     var shape: JSONShape { .array(of: ["id": .integer, "name": .string(nonEmpty: true)]) }
/// }
/// ```
///
/// To validate against a `JSONSchema` from ErrandJSONSchema, declare `var shape: JSONSchema { Self.schema }` and keep
/// the schema in a `static let`.
///
/// The request brings its own ``JSONValidationFilter`` filter, so every agent validates the response. If you add that filter
/// to an agent with other limits, the response is still validated only once, with the agent's limits.
public protocol JSONValidatedRequest: FilterProvidingRequest {
    /// The type of ``shape``: ``JSONShape``, or another validating type such as `JSONSchema`.
    associatedtype ResponseShape: JSONValidating = JSONShape

    /// The shape or schema of the body.
    var shape: ResponseShape { get }
}

extension JSONValidatedRequest {
    /// ``JSONValidationFilter`` with the standard limits.
    public var requiredFilters: [any Filter] { [JSONValidationFilter()] }
}
