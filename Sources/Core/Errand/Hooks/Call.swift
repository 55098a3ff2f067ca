public import ErrandEssentials
public import ErrandHTTP
import ErrandSupport

/// A request in one line, without a declared type.
///
/// ```swift
/// let user = try await agent.send(Call<User>(.get, "users/7")).value
/// let found = try await agent.send(Call<[User]>(.get, "users", query: ["q": text, "page": page])).value
/// try await agent.send(Call<Void>(.post, "users", body: .json(user)) { $0.timeout = .seconds(5) })
/// ```
///
/// `Output` can be `Data`, `String`, `Void`, ``HTTPResponse``, ``HTTPBody``, any `Decodable`, or an optional
/// `Decodable`. For other types, use ``init(_:_:query:body:decode:configure:)``. Every member of ``Request`` is a
/// property here, with the same default.
public struct Call<Output: Sendable>: Request {
    /// See ``Request/method``.
    public var method: HTTPMethod
    /// See ``Request/path``.
    public var path: String
    /// See ``Request/base``.
    public var base = RequestBaseURL.standard
    /// See ``Request/query``.
    public var query: Parameters
    /// See ``Request/parameters``.
    public var parameters: Parameters?
    /// See ``Request/parameterPlacement``.
    public var parameterPlacement = ParameterPlacement.automatic
    /// See ``Request/parameterEncoding``.
    public var parameterEncoding = ParameterEncoding()
    /// See ``Request/headers``.
    public var headers: HTTPHeaders = [:]
    /// See ``Request/body``.
    public var body: RequestBody
    /// See ``Request/authorization``.
    public var authorization: Authorization?
    /// See ``Request/timeout``.
    public var timeout: Duration?
    /// See ``Request/deadline``.
    public var deadline: Duration?
    /// See ``Request/priority``.
    public var priority: RequestPriority?
    /// See ``Request/redirects``.
    public var redirects: RedirectPolicy?
    /// See ``Request/acceptableStatuses``.
    public var acceptableStatuses = StatusCodes.successful
    /// See ``Request/acceptableContentTypes``.
    public var acceptableContentTypes: ContentTypes
    /// See ``Request/delivery``.
    public var delivery: BodyDelivery
    /// The call's name in logs. Defaults to the method and the path, without the query.
    public var label: String? {
        get {
            if let givenLabel { return givenLabel }
            var label = method.rawValue
            label += " "
            label += pathWithoutQuery
            return label
        }
        set { givenLabel = .some(newValue) }
    }
    /// See ``Request/tags``.
    public var tags = Tags()
    /// See ``Request/filters``.
    public var filters: [any Filter] = []
    /// See ``Request/outcomeCheck``.
    public var outcomeCheck: ResponseCheck?
    /// See ``Request/checks``.
    public var checks: [ResponseCheck] = []
    /// See ``Request/accessories``.
    public var accessories: [any Accessory] = []
    /// See ``Request/decoder``.
    public var decoder: (any BodyDecoder)?
    private let decode: @Sendable (HTTPResponse, Call) async throws -> Output
    /// The outer optional is nil if no label was set. ``label`` then computes the default each time it's read.
    private var givenLabel: String??

    private var pathWithoutQuery: String {
        guard let mark = path.withSpan({ $0.firstIndex(of: UInt8(ascii: "?")) }) else { return path }
        return String(Substring(path.utf8.prefix(mark)))
    }

    private init(
        _ method: HTTPMethod, _ path: String, query: Parameters, body: RequestBody, types: ContentTypes,
        delivery: BodyDelivery = .data, configure: (inout Call) -> Void,
        decode: @escaping @Sendable (HTTPResponse, Call) async throws -> Output
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.delivery = delivery
        self.decode = decode
        acceptableContentTypes = types
        configure(&self)
    }

    /// Decodes the response as `Output`, off the caller's actor.
    public func decode(_ response: HTTPResponse) async throws -> Output { try await decode(response, self) }

    /// Creates a call that decodes its response with a closure, off the caller's actor.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        decode: @escaping @Sendable (HTTPResponse) async throws -> Output,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, configure: configure) { response, _ in
            try await decode(response)
        }
    }
}

extension Call where Output: Decodable {
    /// Creates a call that decodes its response. An optional `Output` is nil if the body is empty.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(
            method, path, query: query, body: body, types: Decoding<Output>().acceptableContentTypes,
            configure: configure
        ) {
            response, call in
            try await Decoding<Output>(decoder: call.decoder).decode(response)
        }
    }
}

private struct Decoding<Output: Decodable & Sendable>: Request {
    var decoder: (any BodyDecoder)?
}

extension Call where Output == Data {
    /// Creates a call that returns the bytes of the body.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, configure: configure) { response, _ in
            response.data
        }
    }
}

extension Call where Output == String {
    /// Creates a call that returns the body as text.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, configure: configure) { response, _ in
            try response.text()
        }
    }
}

extension Call where Output == Void {
    /// Creates a call that ignores the body.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, configure: configure) { _, _ in }
    }
}

extension Call where Output == HTTPResponse {
    /// Creates a call that returns the response unchanged.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, configure: configure) { response, _ in response }
    }
}

extension Call where Output == HTTPBody {
    /// Creates a call that returns the body as a stream.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, types: .any, delivery: .stream, configure: configure) {
            response, _ in
            response.body
        }
    }
}

extension Call: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the path, without the query.
    public var description: String { "\(method) \(path.prefix { $0 != "?" })" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Exchange: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL, masked like `Redaction` does by default.
    public var description: String { http.description }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
