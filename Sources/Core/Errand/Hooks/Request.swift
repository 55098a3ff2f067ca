public import ErrandEssentials
public import ErrandHTTP

/// Describes one API call as a value: what to send, and how to decode the response.
///
/// ```swift
/// struct GetUser: Request {
///     typealias Output = User
///     let id: Int
///     var path: String { "users/\(id)" }
/// }
/// ```
///
/// Every member has a default. `Output` defaults to `Data`. It can also be `String`, any `Decodable` (decoded as JSON
/// unless the agent has another decoder), `Void`, ``HTTPResponse``, ``HTTPBody`` (a stream), or an optional, which is
/// nil for an empty response. For any other type, implement ``decode(_:)``.
///
/// To share defaults among all requests of your app, refine the protocol:
///
/// ```swift
/// nonisolated protocol AppRequest: Request {}
/// nonisolated extension AppRequest { var timeout: Duration? { .seconds(20) } }
/// ```
///
/// You can send the same value any number of times, also concurrently. Each send is a separate ``Activity``.
public protocol Request<Output>: Sendable {
    /// The type that ``decode(_:)`` returns. Defaults to `Data`.
    associatedtype Output: Sendable = Data

    /// The HTTP method. Defaults to GET.
    var method: HTTPMethod { get }
    /// The path, appended to the agent's base URL. Defaults to an empty string.
    ///
    /// - A path that starts with `/` replaces the path of the base URL.
    /// - An absolute URL replaces the base URL. If its origin is neither that of a base URL nor a trusted origin of the
    ///   agent, the request is sent without the agent's authorization and sensitive headers.
    /// - The path can contain a query.
    /// - The path must be percent-encoded: `"users/\(segment: name)"`.
    var path: String { get }
    /// The base URL to use, if the agent has several. Defaults to `.standard`.
    var base: BaseChoice { get }
    /// Query parameters, added to the query of the path. Empty by default.
    var query: Parameters { get }
    /// Parameters sent in the query or the body; ``parameterPlacement`` decides which. Defaults to nil.
    var parameters: Parameters? { get }
    /// Where to put ``parameters``. Defaults to `.automatic`, which depends on the method.
    var parameterPlacement: ParameterPlacement { get }
    /// How query, parameters and forms are encoded. Defaults to the standard encoding.
    var parameterEncoding: ParameterEncoding { get }
    /// Headers that replace the agent's headers of the same name, and the authorization. Empty by default.
    var headers: HTTPHeaders { get }
    /// The request body. Defaults to no body.
    var body: RequestBody { get }
    /// The credentials to send. Defaults to nil, which uses the agent's. To send no credentials, return
    /// ``Authorization/omitted``.
    var authorization: Authorization? { get }
    /// The longest time without activity within one attempt. Defaults to nil, which uses the agent's timeout.
    var timeout: Duration? { get }
    /// The time limit for the whole call, including redirects, retries and waits. Defaults to nil, which uses the
    /// agent's deadline.
    var deadline: Duration? { get }
    /// The priority of the request. Defaults to nil, which uses the priority of the task that sends it.
    var priority: RequestPriority? { get }
    /// Which redirects to follow. Defaults to nil, which uses the agent's policy.
    var redirects: RedirectPolicy? { get }
    /// The status codes that count as success. Defaults to 200 to 299. Checked before the content type.
    var acceptableStatuses: StatusCodes { get }
    /// The accepted content types. Defaults to the decoder's types (`.json` for the standard decoder) if `Output` is
    /// decoded, otherwise to `.any`.
    var acceptableContentTypes: ContentTypes { get }
    /// How the body is delivered. Defaults to a stream if `Output` is ``HTTPBody``, otherwise to memory.
    var delivery: BodyDelivery { get }
    /// The name of the request in logs. Defaults to nil, which uses the name of its type.
    var label: String? { get }
    /// Tags that filters, accessories and cancellation can look up. Empty by default.
    var tags: Tags { get }
    /// Filters that run after the agent's filters of the same stage. Empty by default.
    var filters: [any Filter] { get }
    /// Checks the body for failures that the service reports with a successful status, such as an error in a 200
    /// response. Defaults to nil.
    ///
    /// Runs before ``checks``. Filters use it on each hop: a cache doesn't store a response that fails the check, and a
    /// session refreshes its credential if the error has ``RequestFailure/refusesCredential``.
    var outcomeCheck: ResponseCheck? { get }
    /// Checks that run once on the final response, after the status and content type and before decoding. Empty by
    /// default.
    var checks: [ResponseCheck] { get }
    /// Accessories, notified after the agent's. Empty by default.
    var accessories: [any Accessory] { get }
    /// Decodes a `Decodable` output. Defaults to nil, which uses the agent's decoder.
    var decoder: (any BodyDecoder)? { get }

    /// Returns a complete HTTP request, used instead of one built from the members above. Returns nil by default.
    ///
    /// Filters, checks, accessories, timeouts and decoding still apply.
    func httpRequest() throws -> HTTPRequest?
    /// Decodes the response. Runs off the caller's actor.
    ///
    /// Errors thrown here pass through the agent's `mapError` and then the request's, and aren't wrapped.
    func decode(_ response: HTTPResponse) async throws -> Output
    /// Maps an error to the request's own error type, for example by decoding `error.response`.
    ///
    /// An error is mapped in three layers: by the agent, the request and the call site. Not called for cancellations.
    func mapError(_ error: any Error) -> any Error
}

extension Request {
    /// Defaults to GET.
    public var method: HTTPMethod { .get }
    /// Empty by default.
    public var path: String { "" }
    /// Defaults to `.standard`.
    public var base: BaseChoice { .standard }
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
                .decodingFailed, "the body is not in a file: the request has another delivery than .file",
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

    /// Decodes the body with `decoder`, or the agent's decoder.
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
            'Output' has no default 'decode'. A model of an app with MainActor as its default isolation is written \
            'nonisolated struct User: Decodable'; an Output that is not Decodable needs a 'decode' of the request's own
            """
    )
    public func decode(_ response: HTTPResponse) async throws -> Output {
        throw ErrandError(.decodingFailed, "the request has no decode of its own", response: response)
    }
}
