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
    /// The percent-encoded path, such as `"users/\(segment: name)"`, to append to the base URL. It can contain a query.
    /// Defaults to an empty string.
    ///
    /// A path that starts with `/` replaces the base URL's path, and an absolute URL replaces the whole base URL. An
    /// origin that the agent doesn't trust doesn't receive the agent's authorization and sensitive headers.
    var path: String { get }
    /// Which of the agent's base URLs to append the path to. Defaults to `.standard`, the agent's `baseURL`.
    var base: RequestBaseURL { get }
    /// Parameters to add to the path's query. Defaults to empty.
    var query: Parameters { get }
    /// Parameters for the query or the body, depending on ``parameterPlacement``. Defaults to nil.
    var parameters: Parameters? { get }
    /// Where to put ``parameters``. Defaults to `.automatic`, which depends on the method.
    var parameterPlacement: ParameterPlacement { get }
    /// How to encode the query, the parameters and forms. Defaults to ``ParameterEncoding``'s standard encoding.
    var parameterEncoding: ParameterEncoding { get }
    /// Header fields. They replace the agent's fields of the same name, and `Authorization` also replaces the
    /// credentials. Defaults to empty.
    var headers: HTTPHeaders { get }
    /// The body to send. Defaults to no body.
    var body: RequestBody { get }
    /// The credentials to send. Defaults to nil, the agent's. To send no credentials, use ``Authorization/omitted``.
    var authorization: Authorization? { get }
    /// How long an attempt can go without sending or receiving bytes. Defaults to nil, the agent's timeout.
    var timeout: Duration? { get }
    /// The time limit for the whole call, including redirects, retries and waits. Defaults to nil, the agent's
    /// deadline.
    var deadline: Duration? { get }
    /// The request's priority, a hint for the transport. Defaults to nil, which means `.medium`.
    var priority: RequestPriority? { get }
    /// Which redirects to follow. Defaults to nil, the agent's policy.
    var redirects: RedirectPolicy? { get }
    /// The status codes that count as success. Others fail with `unacceptableStatus`. Defaults to 200 to 299.
    var acceptableStatuses: StatusCodes { get }
    /// The accepted content types. If `Output` is decoded, defaults to the decoder's content types, such as `.json`.
    /// Otherwise, defaults to `.any`.
    var acceptableContentTypes: ContentTypes { get }
    /// How to deliver the response's body. Defaults to a stream if `Output` is ``HTTPBody``, otherwise to memory.
    var delivery: BodyDelivery { get }
    /// The request's name in logs. Defaults to nil, the name of the type.
    var label: String? { get }
    /// Tags for filters, accessories and cancellation. Defaults to empty.
    var tags: Tags { get }
    /// Filters that run after the agent's filters of the same stage. Defaults to empty.
    var filters: [any Filter] { get }
    /// Detects failures that the service reports in the body of a successful response. Runs before ``checks``. Defaults
    /// to nil.
    ///
    /// Filters also run this check on responses before the final one. A cache doesn't store a response that fails the
    /// check, and a session refreshes its credential if the error has ``RequestFailure/refusesCredential``.
    var outcomeCheck: ResponseCheck? { get }
    /// Checks of the final response. They run once, after status and content type and before decoding. Defaults to
    /// empty.
    var checks: [ResponseCheck] { get }
    /// Accessories that observe the request, notified after the agent's. Defaults to empty.
    var accessories: [any Accessory] { get }
    /// Decodes a `Decodable` output. Defaults to nil, the agent's decoder.
    var decoder: (any BodyDecoder)? { get }

    /// Returns a complete HTTP request to send instead of one built from the members above. Filters, checks,
    /// accessories, timeouts and decoding still apply. Defaults to nil.
    func httpRequest() throws -> HTTPRequest?
    /// Decodes the response, off the caller's actor. Errors pass through the agent's `mapError` and then the request's.
    func decode(_ response: HTTPResponse) async throws -> Output
    /// Maps an error to the request's own error type, for example by decoding `error.response`. Runs after the agent's
    /// `mapError`. Not called for cancellations and expected errors.
    func mapError(_ error: any Error) -> any Error
}

extension Request {
    /// Returns GET.
    public var method: HTTPMethod { .get }
    /// Returns an empty path: the base URL itself.
    public var path: String { "" }
    /// Returns `.standard`.
    public var base: RequestBaseURL { .standard }
    /// Returns no parameters.
    public var query: Parameters { [:] }
    /// Returns nil.
    public var parameters: Parameters? { nil }
    /// Returns `.automatic`.
    public var parameterPlacement: ParameterPlacement { .automatic }
    /// Returns the standard encoding.
    public var parameterEncoding: ParameterEncoding { ParameterEncoding() }
    /// Returns no header fields.
    public var headers: HTTPHeaders { [:] }
    /// Returns no body.
    public var body: RequestBody { .none }
    /// Returns nil: the agent's credentials are sent.
    public var authorization: Authorization? { nil }
    /// Returns nil: the agent's timeout applies.
    public var timeout: Duration? { nil }
    /// Returns nil: the agent's deadline applies.
    public var deadline: Duration? { nil }
    /// Returns nil, which means `.medium`.
    public var priority: RequestPriority? { nil }
    /// Returns nil: the agent's redirect policy applies.
    public var redirects: RedirectPolicy? { nil }
    /// Returns 200 to 299.
    public var acceptableStatuses: StatusCodes { .successful }
    /// Accepts any content type.
    public var acceptableContentTypes: ContentTypes { .any }
    /// Returns `.data`.
    public var delivery: BodyDelivery { .data }
    /// Returns nil: the name of the type appears in logs.
    public var label: String? { nil }
    /// Returns no tags.
    public var tags: Tags { Tags() }
    /// Returns no filters.
    public var filters: [any Filter] { [] }
    /// Returns nil.
    public var outcomeCheck: ResponseCheck? { nil }
    /// Returns no checks.
    public var checks: [ResponseCheck] { [] }
    /// Returns no accessories.
    public var accessories: [any Accessory] { [] }
    /// Returns nil: the agent's decoder is used.
    public var decoder: (any BodyDecoder)? { nil }
    /// Returns nil.
    public func httpRequest() throws -> HTTPRequest? { nil }
    /// Returns the error unchanged.
    public func mapError(_ error: any Error) -> any Error { error }
}

extension Request where Output == Data {
    /// Accepts any content type.
    public var acceptableContentTypes: ContentTypes { .any }
    /// Returns the bytes of the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension Request where Output == String {
    /// Accepts any content type.
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
    /// Returns the file that contains the body. See ``BodyDelivery/file(_:)``.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        guard let file = response.body.file else {
            throw ErrandError(
                .decodingFailed, "the body isn't in a file: the request's delivery isn't .file",
                response: response)
        }
        return file
    }

    /// Accepts any content type.
    public var acceptableContentTypes: ContentTypes { .any }
}

extension Request where Output == HTTPBody {
    /// Delivers the body as a stream.
    public var delivery: BodyDelivery { .stream }
    /// Returns the body. The caller reads it.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.body }
}

extension Request where Output: Decodable {
    /// Returns the decoder's content types, or any for `Data?` and `String?`.
    public var acceptableContentTypes: ContentTypes {
        Output.self == Data?.self || Output.self == String?.self ? .any : .json
    }

    /// Decodes the body with `decoder` or the agent's decoder. An optional output is nil for an empty body, or for a
    /// single space. `Data?` and `String?` aren't decoded.
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
    /// Explains at compile time why an output has no default `decode`.
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
