public import Errand

/// A request whose response is XML: an ``XMLTree`` by default, a type that is ``XMLReadable``, or ``XMLEvents``, a stream.
///
/// ```swift
/// struct GetFeed: XMLRequest {
///     var path: String { "feed.xml" }
/// }
/// let feed = try await agent.send(GetFeed()).value
/// ```
///
/// It accepts `application/xml`, `text/xml` and every `…+xml`. A document that cannot be read throws an `ErrandError`
/// with the code `decodingFailed` and an ``XMLError`` as `underlying`; a stream throws the ``XMLError`` itself. The charset
/// is that of a byte order mark, of `Content-Type` or of the XML declaration, in this order (RFC 7303, section 3.2),
/// otherwise UTF-8.
public protocol XMLRequest: Request {
    /// ``XMLTree`` by default.
    associatedtype Output = XMLTree

    /// The limits of the document; ``XMLLimits/standard`` by default, ``XMLLimits/streaming`` for a stream.
    var xmlLimits: XMLLimits { get }
}

extension XMLRequest {
    /// The standard limits.
    public var xmlLimits: XMLLimits { .standard }
    /// Types of XML.
    public var acceptableContentTypes: ContentTypes { .xml }
}

extension XMLRequest where Output: XMLReadable {
    /// Reads the tree, and the output from it.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try Output(xml: response.xml(limits: xmlLimits))
    }
}

extension XMLRequest where Output: XMLReadable & Decodable {
    /// Types of XML.
    public var acceptableContentTypes: ContentTypes { .xml }
    /// Reads the tree, and the output from it.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        try Output(xml: response.xml(limits: xmlLimits))
    }
}

extension XMLRequest where Output == XMLEvents {
    /// The limits of a stream.
    public var xmlLimits: XMLLimits { .streaming }
    /// As a stream.
    public var delivery: BodyDelivery { .stream }
    /// The events of the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.xmlEvents(limits: xmlLimits) }
}

extension Call where Output: XMLReadable {
    /// A call for XML, within the standard limits: `Call<XMLTree>(.get, "feed.xml")`.
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
    /// A call for a stream of XML: `Call<XMLEvents>(.get, "export.xml")`.
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

/// A value that is read from XML, so that it can be the output of a request.
///
/// ```swift
/// struct Feed: XMLReadable {
///     let titles: [String]
///     init(xml: XMLTree) throws { titles = xml["channel"]?.all("item").compactMap { $0["title"]?.text } ?? [] }
/// }
/// let feed = try await agent.send(Call<Feed>(.get, "feed.xml")).value
/// ```
public protocol XMLReadable: Sendable {
    /// Reads the value from the root element. Its error reaches the caller as it is.
    init(xml: XMLTree) throws
}

extension XMLTree: XMLReadable {
    /// The tree itself.
    public init(xml: XMLTree) { self = xml }
}
