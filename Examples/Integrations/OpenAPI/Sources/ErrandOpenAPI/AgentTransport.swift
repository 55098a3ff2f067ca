public import Errand
public import ErrandEssentials
import ErrandHTTPTypes
public import HTTPTypes
public import OpenAPIRuntime

/// Sends the operations of a client that swift-openapi-generator has written with an agent, so that its filters, accessories and
/// settings apply to them.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, filters: [.standardResilience])
/// let client = Client(serverURL: try Servers.Server1.url(), transport: AgentTransport(agent))
/// ```
///
/// Each operation is one call, an ``OperationRequest`` with the operation's ID as its label. Bodies stream in both directions.
/// Where the server's URL is relative, such as "/v1", it is one of the agent's base URL. An absolute one of another origin than
/// the agent's gets neither its authorization nor its sensitive header fields.
///
/// Every status is the client's to read. Errors are those of the agent, which the generated client puts into a `ClientError` as
/// `underlyingError`. Cancelling the task of the operation cancels the call; letting go of a body that is not read to its end
/// cancels its transfer.
public struct AgentTransport: ClientTransport {
    private let agent: any Agent
    private let maximumErrorBodyBytes: Int
    private let configure: @Sendable (inout OperationRequest) -> Void

    /// - Parameters:
    ///   - agent: sends the requests; a ``Errand/NetworkAgent``, or any other.
    ///   - maximumErrorBodyBytes: the most bytes of a response with a status that a retry may repeat, which is read as a whole
    ///     before the client gets it; a longer one fails with ``Errand/ErrandError/Code/bodyTooLarge``. 1 MiB by default.
    ///   - configure: changes each call before it is sent, such as its deadline or its tags; nothing by default.
    public init(
        _ agent: some Agent, maximumErrorBodyBytes: Int = 1 << 20,
        configure: @escaping @Sendable (inout OperationRequest) -> Void = { _ in }
    ) {
        (self.agent, self.maximumErrorBodyBytes, self.configure) = (agent, maximumErrorBodyBytes, configure)
    }

    /// Sends an operation.
    public func send(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        let refused = RefusedResponse(upTo: maximumErrorBodyBytes)
        var call = try OperationRequest(request, body, baseURL, operationID)
        configure(&call)
        call.filters.append(refused)
        let response: Errand.HTTPResponse
        do { response = try await agent.send(call).value } catch let error as ErrandError {
            guard error.code == .unacceptableStatus, let evidence = error.response else { throw error }
            // The evidence of the error is bounded by the agent; the filter has kept the whole.
            response = refused.last(status: evidence.status) ?? evidence
        }
        let hasBody = request.method != .head && response.status != 204 && response.status != 304
        return (try HTTPTypes.HTTPResponse(response), hasBody ? OpenAPIRuntime.HTTPBody(response.body) : nil)
    }
}
