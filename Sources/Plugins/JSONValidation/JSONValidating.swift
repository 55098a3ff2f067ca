public import ErrandEssentials

/// A description of JSON texts that they are validated against: a ``JSONShape``, or a `JSONSchema` of
/// ErrandJSONSchema.
public protocol JSONValidating: Sendable {
    /// Validates a JSON text, and throws its problems, up to a limit.
    func validate(_ data: Data, limits: JSONLimits) throws(JSONValidationError)
}

extension JSONShape: JSONValidating {}
