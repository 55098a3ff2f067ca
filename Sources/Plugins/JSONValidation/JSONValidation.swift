public import Errand

/// The filter that has the response to every ``JSONValidatedRequest`` validated, also one from a cache.
///
/// Such a request brings it. Among the filters of an agent it sets the limits: the outermost one counts. It adds a check
/// to the call and touches nothing else; in front of a filter that sends a request again when its response is refused,
/// it makes that filter see the check.
public struct JSONValidation: Filter {
    /// The limits of the texts that it accepts.
    public var limits: JSONLimits

    private enum IsAdded: TagKey { static let defaultValue = false }

    public init(limits: JSONLimits = .standard) { self.limits = limits }

    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let request = exchange.request as? any JSONValidatedRequest, !exchange.tags[IsAdded.self] else {
            return try await next(exchange)
        }
        var exchange = exchange
        exchange.tags[IsAdded.self] = true
        exchange.checks.add(.json(request.shape, method: exchange.http.method, limits: limits))
        return try await next(exchange)
    }
}

extension Filter where Self == JSONValidation {
    /// `filters: [.jsonValidation]`
    public static var jsonValidation: JSONValidation { JSONValidation() }

    /// With limits of one's own.
    public static func jsonValidation(limits: JSONLimits) -> JSONValidation { JSONValidation(limits: limits) }
}
