public import Errand

/// A request for XML. `Output` is ``XMLTree`` by default. It can also be an ``XMLReadable`` type, or ``XMLEvents`` for
/// a stream.
///
/// ```swift
/// struct GetFeed: XMLRequest {
///     var path: String { "feed.xml" }
/// }
/// let feed = try await agent.send(GetFeed()).value
/// ```
///
/// The request accepts `application/xml`, `text/xml` and every `…+xml` type. If the document can't be read, the request
/// throws an `ErrandError` with the code `decodingFailed` and an ``XMLError`` as `underlying`. A stream throws the
/// ``XMLError`` directly.
///
/// The charset comes from the byte order mark, otherwise from `Content-Type`, otherwise from the XML declaration (RFC
/// 7303, section 3.2). Without any of these, the charset is UTF-8.
public protocol XMLRequest: Request {
    /// The type of the decoded response. Defaults to ``XMLTree``.
    associatedtype Output = XMLTree

    /// The limits for the document. Defaults to ``XMLLimits/standard``, or ``XMLLimits/streaming`` for a stream.
    var xmlLimits: XMLLimits { get }
}

extension XMLRequest {
    /// Returns ``XMLLimits/standard``.
    public var xmlLimits: XMLLimits { .standard }
    /// Accepts XML content types.
    public var acceptableContentTypes: ContentTypes { .xml }
}

extension XMLRequest where Output: XMLReadable {
    /// Creates the output from the body's root element.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try Output(xml: response.xml(limits: xmlLimits))
    }
}

extension XMLRequest where Output: XMLReadable & Decodable {
    /// Accepts XML content types.
    public var acceptableContentTypes: ContentTypes { .xml }
    /// Creates the output from the body's root element.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try Output(xml: response.xml(limits: xmlLimits))
    }
}

extension XMLRequest where Output == XMLEvents {
    /// Returns ``XMLLimits/streaming``.
    public var xmlLimits: XMLLimits { .streaming }
    /// Returns `.stream`.
    public var delivery: BodyDelivery { .stream }
    /// Returns the body as a stream of events.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.xmlEvents(limits: xmlLimits) }
}

extension Call where Output: XMLReadable {
    /// Creates a call for XML within the standard limits: `Call<XMLTree>(.get, "feed.xml")`.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { try Output(xml: $0.xml()) }) { call in
            call.acceptableContentTypes = .xml
            configure(&call)
        }
    }
}

extension Call where Output == XMLEvents {
    /// Creates a call for a stream of XML: `Call<XMLEvents>(.get, "export.xml")`.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { $0.xmlEvents() }) { call in
            call.acceptableContentTypes = .xml
            call.delivery = .stream
            configure(&call)
        }
    }
}

/// A type that can be created from XML, so you can use it as a request's `Output`.
///
/// ```swift
/// struct Feed: XMLReadable {
///     let titles: [String]
///     init(xml: XMLTree) throws { titles = xml["channel"]?.all("item").compactMap { $0["title"]?.text } ?? [] }
/// }
/// let feed = try await agent.send(Call<Feed>(.get, "feed.xml")).value
/// ```
public protocol XMLReadable: Sendable {
    /// Creates the value from the root element. The caller of the request receives your error unchanged.
    init(xml: XMLTree) throws
}

extension XMLTree: XMLReadable {
    /// Returns the tree itself.
    public init(xml: XMLTree) { self = xml }
}
