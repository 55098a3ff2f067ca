public import Errand

/// A request whose response has to have a shape.
///
/// ```swift
/// struct GetUsers: JSONValidatedRequest {
///     typealias Output = [User]
///     var path: String { "users" }
///     var shape: JSONShape { .array(of: ["id": .integer, "name": .string(nonEmpty: true)]) }
/// }
/// ```
///
/// It brings the filter ``JSONValidation``, so that its response is validated on every agent. An agent that has that
/// filter already, with limits of its own, validates it once and with those limits.
public protocol JSONValidatedRequest: FilterProvidingRequest {
    /// What the body has to look like.
    var shape: JSONShape { get }
}

extension JSONValidatedRequest {
    /// ``JSONValidation`` with the standard limits.
    public var requiredFilters: [any Filter] { [JSONValidation()] }
}
