public import ErrandEssentials
public import ErrandHTTP

/// An API call as a value: what to send, and how to decode the response.
///
/// ```swift
/// struct GetUser: Request {
///     typealias Output = User
///     let id: Int
///     var path: String { "users/\(id)" }
/// }
/// ```
///
/// Every member has a default. `Output` is `Data` by default. It can also be `String`, any `Decodable` (JSON, unless
/// the agent has another decoder), `Void`, ``HTTPResponse``, ``HTTPBody`` (a stream), or an optional, which is nil for
/// an empty response. For other types, implement ``decode(_:)``.
///
/// To share defaults among your app's requests, refine the protocol:
///
/// ```swift
/// nonisolated protocol AppRequest: Request {}
/// nonisolated extension AppRequest { var timeout: Duration? { .seconds(20) } }
/// ```
///
/// You can send a value any number of times, also concurrently. Each send is a separate ``Activity``.
public protocol Request<Output>: Sendable, _RequestMemberTypes {
    /// The type that ``decode(_:)`` returns. Defaults to `Data`.
    associatedtype Output: Sendable = Data

    /// The HTTP method. Defaults to GET.
    var method: HTTPMethod { get }
    /// The percent-encoded path, such as `"users/\(segment: name)"`, appended to the base URL. It can contain a query.
    /// Defaults to an empty string.
    ///
    /// A path that starts with `/` replaces the base URL's path, and an absolute URL replaces the whole base URL. If
    /// its origin is neither a base URL's nor a trusted origin of the agent, the request is sent without the agent's
    /// authorization and sensitive headers.
    var path: String { get }
    /// Selects one of the agent's base URLs. Defaults to `.standard`.
    var base: RequestBaseURL { get }
    /// Parameters added to the path's query. Empty by default.
    var query: Parameters { get }
    /// Parameters for the query or the body, depending on ``parameterPlacement``. Defaults to nil.
    var parameters: Parameters? { get }
    /// Where to put ``parameters``. Defaults to `.automatic`, which depends on the method.
    var parameterPlacement: ParameterPlacement { get }
    /// Encodes the query, parameters and forms. Defaults to the standard encoding.
    var parameterEncoding: ParameterEncoding { get }
    /// Header fields. They replace the agent's fields of the same name; `Authorization` also replaces the credentials.
    /// Empty by default.
    var headers: HTTPHeaders { get }
    /// The request body. Defaults to no body.
    var body: RequestBody { get }
    /// The credentials. Defaults to the agent's (nil). To omit them, use ``Authorization/omitted``.
    var authorization: Authorization? { get }
    /// The longest time without activity within one attempt. Defaults to the agent's (nil).
    var timeout: Duration? { get }
    /// The time limit for the whole call, including redirects, retries and waits. Defaults to the agent's (nil).
    var deadline: Duration? { get }
    /// The priority. Defaults to the sending task's (nil).
    var priority: RequestPriority? { get }
    /// Which redirects to follow. Defaults to the agent's policy (nil).
    var redirects: RedirectPolicy? { get }
    /// The successful status codes. Defaults to 200 to 299. Checked before the content type.
    var acceptableStatuses: StatusCodes { get }
    /// The accepted content types. Defaults to the decoder's, such as `.json`, if `Output` is decoded, otherwise to
    /// `.any`.
    var acceptableContentTypes: ContentTypes { get }
    /// How to deliver the body. Defaults to a stream if `Output` is ``HTTPBody``, otherwise to memory.
    var delivery: BodyDelivery { get }
    /// The name in logs. Defaults to the name of the type (nil).
    var label: String? { get }
    /// Tags for filters, accessories and cancellation. Empty by default.
    var tags: Tags { get }
    /// Filters that run after the agent's filters of the same stage. Empty by default.
    var filters: [any Filter] { get }
    /// Detects failures that the service reports in the body of a successful response. Runs before ``checks``. Defaults
    /// to nil.
    ///
    /// Filters use it on each hop: a cache doesn't store a response that fails the check, and a session refreshes its
    /// credential if the error has ``RequestFailure/refusesCredential``.
    var outcomeCheck: ResponseCheck? { get }
    /// Checks of the final response. They run once, after status and content type and before decoding. Empty by
    /// default.
    var checks: [ResponseCheck] { get }
    /// Accessories, notified after the agent's. Empty by default.
    var accessories: [any Accessory] { get }
    /// Decodes a `Decodable` output. Defaults to the agent's decoder (nil).
    var decoder: (any BodyDecoder)? { get }

    /// Returns a complete HTTP request to send instead of one built from the members above. By default, returns nil.
    ///
    /// Filters, checks, accessories, timeouts and decoding still apply.
    func httpRequest() throws -> HTTPRequest?
    /// Decodes the response, off the caller's actor.
    ///
    /// Errors pass through the agent's `mapError` and then the request's. They aren't wrapped.
    func decode(_ response: HTTPResponse) async throws -> Output
    /// Maps an error to the request's own error type, for example by decoding `error.response`.
    ///
    /// Runs after the agent's mapping and before the call site's. Not called for cancellations.
    func mapError(_ error: any Error) -> any Error
}

extension Request {
    /// Defaults to GET.
    public var method: HTTPMethod { .get }
    /// Empty by default.
    public var path: String { "" }
    /// Defaults to `.standard`.
    public var base: RequestBaseURL { .standard }
    /// Empty by default.
    public var query: Parameters { [:] }
    /// Defaults to nil.
    public var parameters: Parameters? { nil }
    /// Defaults to `.automatic`.
    public var parameterPlacement: ParameterPlacement { .automatic }
    /// Defaults to the standard encoding.
    public var parameterEncoding: ParameterEncoding { ParameterEncoding() }
    /// Empty by default.
    public var headers: HTTPHeaders { [:] }
    /// Defaults to no body.
    public var body: RequestBody { .none }
    /// Defaults to the agent's authorization.
    public var authorization: Authorization? { nil }
    /// Defaults to the agent's timeout.
    public var timeout: Duration? { nil }
    /// Defaults to the agent's deadline.
    public var deadline: Duration? { nil }
    /// Defaults to the task's priority.
    public var priority: RequestPriority? { nil }
    /// Defaults to the agent's redirect policy.
    public var redirects: RedirectPolicy? { nil }
    /// Defaults to 200 to 299.
    public var acceptableStatuses: StatusCodes { .successful }
    /// Defaults to any content type.
    public var acceptableContentTypes: ContentTypes { .any }
    /// Defaults to memory.
    public var delivery: BodyDelivery { .data }
    /// Defaults to the name of the type.
    public var label: String? { nil }
    /// Empty by default.
    public var tags: Tags { Tags() }
    /// Empty by default.
    public var filters: [any Filter] { [] }
    /// Defaults to nil: only the status decides.
    public var outcomeCheck: ResponseCheck? { nil }
    /// Empty by default.
    public var checks: [ResponseCheck] { [] }
    /// Empty by default.
    public var accessories: [any Accessory] { [] }
    /// Defaults to the agent's decoder.
    public var decoder: (any BodyDecoder)? { nil }
    /// Returns nil, so the request is built from its members.
    public func httpRequest() throws -> HTTPRequest? { nil }
    /// Returns the error unchanged.
    public func mapError(_ error: any Error) -> any Error { error }
}

extension Request where Output == Data {
    /// Defaults to any content type.
    public var acceptableContentTypes: ContentTypes { .any }
    /// Returns the bytes of the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension Request where Output == String {
    /// Defaults to any content type.
    public var acceptableContentTypes: ContentTypes { .any }
    /// Returns the body as text, decoded with the charset of its content type.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.text() }
}

extension Request where Output == Void {
    /// Ignores the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { return () }
}

extension Request where Output == HTTPResponse {
    /// Returns the response unchanged.
    public func decode(_ response: HTTPResponse) async throws -> Output { response }
}

extension Request where Output == URL {
    /// Returns the file that contains the body; see ``BodyDelivery/file(_:)``.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        guard let file = response.body.file else {
            throw ErrandError(
                .decodingFailed, "the body isn't in a file: the request's delivery isn't .file",
                response: response)
        }
        return file
    }

    /// Defaults to any content type.
    public var acceptableContentTypes: ContentTypes { .any }
}

extension Request where Output == HTTPBody {
    /// Defaults to a stream.
    public var delivery: BodyDelivery { .stream }
    /// Returns the stream.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.body }
}

extension Request where Output: Decodable {
    /// Defaults to the decoder's content types, or any for `Data?` and `String?`.
    public var acceptableContentTypes: ContentTypes {
        Output.self == Data?.self || Output.self == String?.self ? .any : .json
    }

    /// Decodes the body with `decoder` or the agent's decoder.
    ///
    /// An optional output is nil for an empty body. `Data?` and `String?` aren't decoded.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        let data = response.data
        if let optional = Output.self as? any ExpressibleByNilLiteral.Type {
            if data.isEmpty || data == Data([0x20]), let none = optional.init(nilLiteral: ()) as? Output { return none }
            if Output.self == Data?.self, let value = data as? Output { return value }
            if Output.self == String?.self, let value = try response.text() as? Output { return value }
        }
        return try response.decoded(as: Output.self, by: decoder)
    }
}

extension Request {
    /// Explains at compile time why an output has no default `decode`: it isn't `Decodable`, or only on the main actor.
    @available(
        *, unavailable,
        message: """
            'Output' has no default 'decode'. If your app's default isolation is MainActor, declare the model as \
            'nonisolated struct User: Decodable'. If the Output isn't Decodable, implement 'decode' in the request
            """
    )
    public func decode(_ response: HTTPResponse) async throws -> Output {
        throw ErrandError(.decodingFailed, "the request doesn't implement decode", response: response)
    }
}
