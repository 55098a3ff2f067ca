public import Errand
public import OpenAPIRuntime

/// Runs an OpenAPI runtime middleware as a filter, for all requests of an agent.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [MiddlewareFilter(AddLocale())])
/// ```
///
/// The middleware gets the operation's ID for an ``OperationRequest``, and the label of any other activity. Messages
/// and bodies that it passes on unchanged keep their original values. Like a filter, it may call `next` several times.
///
/// The reverse isn't possible: in a middleware made from a filter, the filter couldn't outlive `next`, as hedges and
/// caches do. Add filters to the agent of an ``AgentTransport`` instead.
public struct MiddlewareFilter: Filter {
    private let middleware: any ClientMiddleware
    /// Defaults to `.call`.
    public let stages: FilterStages

    /// - Parameters:
    ///   - middleware: intercepts requests and responses.
    ///   - stages: whether it runs once per call, or for each request on the wire.
    public init(_ middleware: some ClientMiddleware, stages: FilterStages = .call) {
        (self.middleware, self.stages) = (middleware, stages)
    }

    /// A middleware may change all of the request.
    public var traits: FilterTraits { .changesRequest }

    /// The name of the middleware's type.
    public var explanation: String { "middleware \(type(of: middleware))" }

    /// Runs the middleware on the request.
    public func filter(_ exchange: Exchange, next: Next) async throws -> Errand.HTTPResponse {
        let pass = try MiddlewarePass(exchange)
        let (response, body) = try await middleware.intercept(
            pass.request, body: pass.body, baseURL: pass.server,
            operationID: (exchange.request as? OperationRequest)?.operationID ?? exchange.activity.label
        ) { request, body, server in
            try pass.given(try await next(try pass.exchange(for: request, body, server)))
        }
        return pass.response(response, body)
    }
}
