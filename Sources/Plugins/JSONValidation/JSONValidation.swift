public import Errand

/// The filter that has the answers to every ``JSONValidatedRequest`` validated, also those from a cache.
///
/// It adds a check to the call and touches nothing else, so its place among the filters does not matter much: in front
/// of a filter that tries again when an answer is refused, it makes that filter see the check.
public struct JSONValidation: Filter {
    /// How much it puts up with.
    public var limits: JSONLimits

    public init(limits: JSONLimits = .standard) { self.limits = limits }

    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if let request = exchange.request as? any JSONValidatedRequest {
            exchange.checks.add(.json(request.shape, method: exchange.http.method, limits: limits))
        }
        return try await next(exchange)
    }
}

extension Filter where Self == JSONValidation {
    /// `filters: [.jsonValidation]`
    public static var jsonValidation: JSONValidation { JSONValidation() }

    /// With limits of one's own.
    public static func jsonValidation(limits: JSONLimits) -> JSONValidation { JSONValidation(limits: limits) }
}
