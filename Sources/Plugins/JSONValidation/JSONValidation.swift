// Start here: conform a request to ``JSONValidatedRequest``, and describe its response by a ``JSONShape``.
//
// Shape/    shapes: what one writes
// Engine/   shapes compiled, and the validator that reads the text once
// Pattern/  regular expressions of ECMA-262
// Common/   what this module shares with JSON Schema

public import Errand

/// The filter that validates the response to every ``JSONValidatedRequest``, including responses from a cache.
///
/// The request provides it. Add it to the filters of an agent to set other limits: the outermost one that is named
/// applies. It only adds a check to the call. Put it before a filter that retries when a check rejects the response, so
/// that the filter runs the check.
public struct JSONValidation: Filter {
    /// The limits of the responses that it accepts.
    public var limits: JSONLimits

    /// Makes the filter with limits of its own; the standard ones by default.
    public init(limits: JSONLimits = .standard) { self.limits = limits }

    /// `JSON validation`
    public var explanation: String { "JSON validation" }

    /// ``FilterTraits/unique``
    public var traits: FilterTraits { .unique }

    /// Adds the check, and calls `next`; throws the errors of `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // The type alone first: a cast that fails is slow.
        guard type(of: exchange.request) is any JSONValidatedRequest.Type,
            let request = exchange.request as? any JSONValidatedRequest
        else {
            return try await next(exchange)
        }
        exchange.checks.add(.json(request.shape, method: exchange.http.method, limits: limits))
        return try await next(exchange)
    }
}

extension Filter where Self == JSONValidation {
    /// Validates with the standard limits: `filters: [.jsonValidation]`.
    public static var jsonValidation: JSONValidation { JSONValidation() }

    /// Validates with other limits.
    public static func jsonValidation(limits: JSONLimits) -> JSONValidation { JSONValidation(limits: limits) }
}
