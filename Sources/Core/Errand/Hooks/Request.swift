public import ErrandEssentials
public import ErrandHTTP

/// One call as a value: what to send, and how to decode the response.
///
/// ```swift
/// struct GetUser: Request {
///     typealias Output = User
///     let id: Int
///     var path: String { "users/\(id)" }
/// }
/// ```
///
/// Everything has a default. `Output` is `Data` unless said otherwise, and may be `String`, any `Decodable` (read as
/// JSON, unless the agent has another decoder), `Void`, ``HTTPResponse``, ``HTTPBody`` (a stream) or an optional, which
/// is nil for an empty response; any other type has a `decode` of its own. An app gives all its requests its own
/// defaults with a protocol:
///
/// ```swift
/// nonisolated protocol AppRequest: Request {}
/// nonisolated extension AppRequest { var timeout: Duration? { .seconds(20) } }
/// ```
///
/// The same value may be sent any number of times, also at the same time; each sending is an ``Activity`` of its own.
public protocol Request<Output>: Sendable {
    /// The value that ``decode(_:)`` makes of a response; `Data` by default.
    associatedtype Output: Sendable = Data

    /// GET by default.
    var method: HTTPMethod { get }
    /// Appended to the base URL; from the root if it starts with `/`; an absolute URL stands for itself. May have a
    /// query. Empty by default. Must be percent-encoded: `"users/\(segment: name)"`. An absolute URL of another origin
    /// than the agent's base URLs and trusted origins goes without the agent's authorization and sensitive headers.
    var path: String { get }
    /// Which of the agent's base URLs; `.standard` by default.
    var base: BaseChoice { get }
    /// Added to the path's query. Empty by default.
    var query: Parameters { get }
    /// Placed by method, see `parameterPlacement`. Nil by default.
    var parameters: Parameters? { get }
    /// `.automatic` by default.
    var parameterPlacement: ParameterPlacement { get }
    /// For query, parameters and forms; the standard encoding by default.
    var parameterEncoding: ParameterEncoding { get }
    /// Replace the agent's of the same name, and the authorization. Empty by default.
    var headers: HTTPHeaders { get }
    /// None by default.
    var body: RequestBody { get }
    /// The agent's by default (nil); ``Authorization/omitted`` for none.
    var authorization: Authorization? { get }
    /// The longest inactivity in one attempt; the agent's by default (nil).
    var timeout: Duration? { get }
    /// The time for the whole call with its redirects, retries and waits; the agent's by default (nil).
    var deadline: Duration? { get }
    /// The priority of the task that sends it by default (nil).
    var priority: RequestPriority? { get }
    /// Which redirects are followed; the agent's rule by default (nil).
    var redirects: RedirectPolicy? { get }
    /// 200 to 299 by default. Checked before the content type.
    var acceptableStatuses: StatusCodes { get }
    /// `.json`, or what the decoder reads, for an `Output` that is decoded, `.any` for others.
    var acceptableContentTypes: ContentTypes { get }
    /// As a stream if `Output` is ``HTTPBody``, otherwise in memory.
    var delivery: BodyDelivery { get }
    /// A name for logs; the type's own by default (nil).
    var label: String? { get }
    /// Marks for filters, accessories and cancellation; none by default.
    var tags: Tags { get }
    /// Run after the agent's of the same stage; none by default.
    var filters: [any Filter] { get }
    /// Says by the body whether the service did what it was asked to, for services that report failures with status
    /// 200. Runs before `checks`. Filters consult it on each hop: a cache stores nothing that it refuses, and a session
    /// refreshes a credential where its error has ``RequestFailure/refusesCredential``. None by default (nil).
    var outcomeCheck: ResponseCheck? { get }
    /// Run once on the final response, after status and content type, before decoding; none by default.
    var checks: [ResponseCheck] { get }
    /// Notified after the agent's; none by default.
    var accessories: [any Accessory] { get }
    /// Decodes a `Decodable` output; the agent's by default (nil).
    var decoder: (any BodyDecoder)? { get }

    /// A complete request of one's own instead of all of the above that describes one; nil by default. Filters,
    /// checks, accessories, timeouts and decoding apply as always.
    func httpRequest() throws -> HTTPRequest?
    /// Decodes the response, off the caller's actor. Errors that it throws pass `mapError`, the agent's and then the
    /// request's, and are not wrapped.
    func decode(_ response: HTTPResponse) async throws -> Output
    /// Turns a failure into one of the request's own, for instance by decoding `error.response`; the second of the
    /// three layers that an error passes: agent, request, call site. Not called for a cancellation.
    func mapError(_ error: any Error) -> any Error
}

extension Request {
    /// GET.
    public var method: HTTPMethod { .get }
    /// Empty.
    public var path: String { "" }
    /// `.standard`
    public var base: BaseChoice { .standard }
    /// Empty.
    public var query: Parameters { [:] }
    /// Nil.
    public var parameters: Parameters? { nil }
    /// `.automatic`
    public var parameterPlacement: ParameterPlacement { .automatic }
    /// The standard encoding.
    public var parameterEncoding: ParameterEncoding { ParameterEncoding() }
    /// Empty.
    public var headers: HTTPHeaders { [:] }
    /// None.
    public var body: RequestBody { .none }
    /// Nil: the agent's.
    public var authorization: Authorization? { nil }
    /// Nil: the agent's.
    public var timeout: Duration? { nil }
    /// Nil: the agent's.
    public var deadline: Duration? { nil }
    /// Nil: that of the task.
    public var priority: RequestPriority? { nil }
    /// Nil: the agent's.
    public var redirects: RedirectPolicy? { nil }
    /// 200 to 299.
    public var acceptableStatuses: StatusCodes { .successful }
    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
    /// In memory.
    public var delivery: BodyDelivery { .data }
    /// Nil: the name of the type.
    public var label: String? { nil }
    /// None.
    public var tags: Tags { Tags() }
    /// None.
    public var filters: [any Filter] { [] }
    /// Nil: the status says it.
    public var outcomeCheck: ResponseCheck? { nil }
    /// None.
    public var checks: [ResponseCheck] { [] }
    /// None.
    public var accessories: [any Accessory] { [] }
    /// Nil: the agent's.
    public var decoder: (any BodyDecoder)? { nil }
    /// Nil: the request is built.
    public func httpRequest() throws -> HTTPRequest? { nil }
    /// The error as it is.
    public func mapError(_ error: any Error) -> any Error { error }
}

extension Request where Output == Data {
    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
    /// The bytes of the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension Request where Output == String {
    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
    /// The text of the body, by its charset.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.text() }
}

extension Request where Output == Void {
    /// Nothing: the status has said it.
    public func decode(_ response: HTTPResponse) async throws -> Output { return () }
}

extension Request where Output == HTTPResponse {
    /// The response as it is.
    public func decode(_ response: HTTPResponse) async throws -> Output { response }
}

extension Request where Output == URL {
    /// The file that the body was delivered into; see ``BodyDelivery/file(_:)``.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        guard let file = response.body.file else {
            throw ErrandError(
                .decodingFailed, "the body is not in a file: the request has another delivery than .file",
                response: response)
        }
        return file
    }

    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
}

extension Request where Output == HTTPBody {
    /// As a stream.
    public var delivery: BodyDelivery { .stream }
    /// The stream.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.body }
}

extension Request where Output: Decodable {
    /// The content types of the decoder; any for `Data?` and `String?`.
    public var acceptableContentTypes: ContentTypes {
        Output.self == Data?.self || Output.self == String?.self ? .any : .json
    }

    /// By `decoder`, or the agent's. An optional output is nil for an empty body; `Data?` and `String?` are not
    /// decoded.
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
    /// Says why there is no default for an output: it is not decodable, or only on the main actor.
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
