public import Errand

/// Validates the response to every ``JSONValidatedRequest``, including cached responses.
///
/// Each ``JSONValidatedRequest`` installs this filter itself. Add the filter to an agent only to set other limits. If a
/// call has several of these filters, only the outermost validates the response. To retry a request after a failed
/// validation, put this filter before the retry filter.
public struct JSONValidationFilter: Filter {
    /// The limits for validating responses.
    public var limits: JSONLimits

    /// Creates a filter. Defaults to the standard limits.
    public init(limits: JSONLimits = .standard) { self.limits = limits }

    /// The filter's line in the agent's `explain`.
    public var explanation: String { "JSON validation" }

    /// Returns ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }

    /// Adds a check of the response to a ``JSONValidatedRequest``, and calls `next`.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // Check the type first, because a failing cast is slow.
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
    /// Validates responses with the standard limits: `filters: [.jsonValidation]`.
    public static var jsonValidation: JSONValidationFilter { JSONValidationFilter() }

    /// Validates responses with other limits: `filters: [.jsonValidation(limits: limits)]`.
    public static func jsonValidation(limits: JSONLimits) -> JSONValidationFilter {
        JSONValidationFilter(limits: limits)
    }
}
