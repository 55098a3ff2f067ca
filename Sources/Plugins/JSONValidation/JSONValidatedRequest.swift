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
/// The shape may be a `JSONSchema` of ErrandJSONSchema: `var shape: JSONSchema { Self.schema }`, with the schema in a
/// `static let`.
///
/// It provides the filter ``JSONValidation``, so that every agent validates its response. An agent that has that filter
/// itself, with limits of its own, validates the response once, with those limits.
public protocol JSONValidatedRequest: FilterProvidingRequest {
    /// ``JSONShape``, or another type to validate against, such as `JSONSchema`: the type of ``shape``.
    associatedtype ResponseShape: JSONValidating = JSONShape

    /// The shape of the body, or a schema.
    var shape: ResponseShape { get }
}

extension JSONValidatedRequest {
    /// ``JSONValidation`` with the standard limits.
    public var requiredFilters: [any Filter] { [JSONValidation()] }
}
