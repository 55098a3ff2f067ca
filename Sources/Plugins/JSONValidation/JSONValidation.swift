// Start here: conform a request to ``JSONValidatedRequest`` and describe its response with a ``JSONShape``.
//
// Shape/    shapes, the types that users write
// Engine/   compiled shapes, and the validator that reads the text once
// Pattern/  ECMA-262 regular expressions
// Common/   code shared with JSON Schema

public import Errand

/// Validates the response to every ``JSONValidatedRequest``, including cached responses.
///
/// Each such request brings this filter itself. Add it to an agent to set other limits; if you list it more than once,
/// the outermost one applies. The filter only adds a check to the call. Put it before any filter that retries after a
/// failed check, so that filter runs this check too.
public struct JSONValidationFilter: Filter {
    /// The limits that responses must stay within to be validated.
    public var limits: JSONLimits

    /// Creates a filter with the limits for responses. Defaults to the standard limits.
    public init(limits: JSONLimits = .standard) { self.limits = limits }

    /// The filter's line in the agent's `explain`, `JSON validation`.
    public var explanation: String { "JSON validation" }

    /// The filter's only trait is ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }

    /// Adds the check and calls `next`. Throws the errors of `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // Checks the type first, because a failing cast is slow.
        guard type(of: exchange.request) is any JSONValidatedRequest.Type,
            let request = exchange.request as? any JSONValidatedRequest
        else {
            return try await next(exchange)
        }
        exchange.checks.add(.json(request.shape, method: exchange.http.method, limits: limits))
        return try await next(exchange)
    }
}

extension Filter where Self == JSONValidationFilter {
    /// Creates a filter that validates with the standard limits: `filters: [.jsonValidation]`.
    public static var jsonValidation: JSONValidationFilter { JSONValidationFilter() }

    /// Creates a filter that validates with other limits: `filters: [.jsonValidation(limits: limits)]`.
    public static func jsonValidation(limits: JSONLimits) -> JSONValidationFilter {
        JSONValidationFilter(limits: limits)
    }
}
