public import Errand
import ErrandEssentials
import ErrandHTTPTypes
import HTTPTypes
import OpenAPIRuntime

/// An operation's call, as ``AgentTransport`` sends it. Filters and accessories find it as `exchange.request`.
///
/// ```swift
/// let transport = AgentTransport(agent) { call in
///     call.deadline = .seconds(5)
///     if call.operationID == "getUser" { call.tags[URLTemplate.self] = "/users/{id}" }
/// }
/// ```
public struct OperationRequest: Request {
    /// The response with its body.
    public typealias Output = Errand.HTTPResponse

    /// The operation's ID in the OpenAPI document.
    public let operationID: String
    /// See ``Errand/Request/method``.
    public let method: HTTPMethod
    /// The path and query, after the server's URL.
    public let path: String
    /// See ``Errand/Request/headers``.
    public var headers: HTTPHeaders
    /// See ``Errand/Request/body``. A body that the generated client can only read once can only be sent once.
    public var body: RequestBody
    /// See ``Errand/Request/authorization``.
    public var authorization: Authorization?
    /// See ``Errand/Request/timeout``.
    public var timeout: Duration?
    /// See ``Errand/Request/deadline``.
    public var deadline: Duration?
    /// See ``Errand/Request/priority``.
    public var priority: RequestPriority?
    /// See ``Errand/Request/redirects``.
    public var redirects: RedirectPolicy?
    /// Defaults to a stream. Use `.data` for calls that a hedge may send twice.
    public var delivery = BodyDelivery.stream
    /// All statuses except 408, 425, 429, 500, 502, 503 and 504, which a retry repeats by default. Those fail the call,
    /// and the client gets the last response.
    public var acceptableStatuses = StatusCodes(0...407, 409...424, 426...428, 430...499, 501...501, 505...999)
    /// The operation's ID.
    public var label: String?
    /// See ``Errand/Request/tags``.
    public var tags = Tags()
    /// See ``Errand/Request/filters``.
    public var filters: [any Filter] = []
    /// See ``Errand/Request/accessories``.
    public var accessories: [any Accessory] = []

    init(
        _ request: HTTPTypes.HTTPRequest, _ body: OpenAPIRuntime.HTTPBody?, _ server: URL, _ operationID: String
    ) throws {
        (self.operationID, label) = (operationID, operationID)
        method = HTTPMethod(rawValue: request.method.rawValue)
        var base = server.absoluteString[...]
        while base.hasSuffix("/") { base.removeLast() }
        path = base + (request.path ?? "/")
        headers = HTTPHeaders(request.headerFields)
        self.body = try body.map { try RequestBody($0) } ?? .none
    }
}
