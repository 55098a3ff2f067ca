public import ErrandHTTP

/// A filter that runs a closure.
public struct ClosureFilter: Filter {
    /// The stages in which the filter runs.
    public let stages: FilterStages
    private let body: @Sendable (Exchange, Next) async throws -> HTTPResponse

    /// Creates a filter for a stage, by default `.call`.
    public init(_ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse)
    {
        self.stages = stages
        self.body = body
    }

    /// Runs the closure.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await body(exchange, next) }
}

extension Filter where Self == ClosureFilter {
    /// Creates a filter from a closure: `filters: [.closure { exchange, next in try await next(exchange) }]`.
    public static func closure(
        _ stages: FilterStages = .call, body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse
    ) -> ClosureFilter { ClosureFilter(stages, body: body) }
}
