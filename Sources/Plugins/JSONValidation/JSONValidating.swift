public import Errand
public import ErrandEssentials

/// A type that validates JSON texts: ``JSONShape``, or `JSONSchema` from ErrandJSONSchema.
public protocol JSONValidating: Sendable {
    /// Validates a JSON text. Throws an error that lists the problems, up to ``JSONLimits/maximumProblems``.
    func validate(_ data: Data, limits: JSONLimits) throws(JSONValidationError)
}

extension JSONShape: JSONValidating {}

extension ResponseCheck {
    /// Creates a check that rejects a response if its body doesn't fit the shape. The check doesn't need a filter.
    ///
    /// ```swift
    /// var checks: [ResponseCheck] { [.json(["id": .integer])] }
    /// ```
    ///
    /// The check throws an `ErrandError` with the code `checkFailed`, the response, and a ``JSONValidationError`` as
    /// `underlying`. The check accepts an empty body only for HEAD and for statuses 204, 205 and 304 (RFC 9110,
    /// sections 9.3.2, 15.3.5, 15.3.6 and 15.4.5). If the body is in a file, the check reads the file, up to the
    /// limits. The check rejects a streamed body, because checking would consume the stream.
    ///
    /// - Parameter method: the request's method, which determines whether the body may be empty. Defaults to GET.
    public static func json(
        _ shape: JSONShape, method: HTTPMethod = .get, limits: JSONLimits = .standard
    ) -> ResponseCheck {
        json(validating: shape, method, limits)
    }

    /// Creates a check for a `JSONSchema` from ErrandJSONSchema, or for another validating type. See
    /// ``json(_:method:limits:)``.
    public static func json(
        _ validator: some JSONValidating, method: HTTPMethod = .get, limits: JSONLimits = .standard
    ) -> ResponseCheck {
        json(validating: validator, method, limits)
    }

    private static func json(validating shape: some JSONValidating, _ method: HTTPMethod, _ limits: JSONLimits)
        -> ResponseCheck
    {
        ResponseCheck("json") { response in
            let hasNone = method == .head || [204, 205, 304].contains(response.status)
            if hasNone, response.body.data?.isEmpty == true || response.body.length == 0 { return }
            do {
                try shape.validate(try await bytes(of: response, limits), limits: limits)
            } catch let error as JSONValidationError {
                throw ErrandError(.checkFailed, error.description, response: response, underlying: error)
            }
        }
    }

    private static func bytes(of response: HTTPResponse, _ limits: JSONLimits) async throws -> Data {
        if let data = response.body.data { return data }
        guard let file = response.body.file else {
            throw ErrandError(
                .checkFailed, "a streamed body can't be validated; set the request's delivery to .data",
                response: response)
        }
        // A separate reader leaves the response's body readable.
        return try await HTTPBody(file: file).collect(upTo: limits.maximumBytes)
    }
}

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
/// The request installs a ``JSONValidationFilter``, so every agent validates the response. If you add a filter with
/// other limits to an agent, the response is validated once, with the agent's limits.
public protocol JSONValidatedRequest: FilterProvidingRequest {
    /// The type of ``shape``: ``JSONShape``, or another validating type such as `JSONSchema`.
    associatedtype ResponseShape: JSONValidating = JSONShape

    /// The shape or schema that the response's body must fit.
    var shape: ResponseShape { get }
}

extension JSONValidatedRequest {
    /// Returns a ``JSONValidationFilter`` with the standard limits.
    public var requiredFilters: [any Filter] { [JSONValidationFilter()] }
}
