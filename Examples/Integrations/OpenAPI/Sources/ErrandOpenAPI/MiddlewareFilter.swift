public import Errand
public import OpenAPIRuntime

/// Runs a middleware of the OpenAPI runtime as a filter, for all requests of an agent.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [MiddlewareFilter(AddLocale())])
/// ```
///
/// The operation's ID is that of an ``OperationRequest``, and the label of any other activity. Messages and bodies that the
/// middleware passes on unchanged stay what they are. It may call `next` several times, as a filter may.
///
/// There is no way back: a middleware made of a filter could not let a filter outlive `next`, as hedges and caches do. Put
/// filters on the agent of an ``AgentTransport``.
public struct MiddlewareFilter: Filter {
    private let middleware: any ClientMiddleware
    /// `.call` by default.
    public let stages: FilterStages

    /// - Parameters:
    ///   - middleware: intercepts requests and responses.
    ///   - stages: where it stands: once for a call, or for each request on the wire.
    public init(_ middleware: some ClientMiddleware, stages: FilterStages = .call) {
        (self.middleware, self.stages) = (middleware, stages)
    }

    /// It may change all of it.
    public var traits: FilterTraits { .changesRequest }

    /// The name of the middleware's type.
    public var explanation: String { "middleware \(type(of: middleware))" }

    /// Lets the middleware intercept the request.
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
