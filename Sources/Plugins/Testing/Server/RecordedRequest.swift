public import Errand
public import ErrandEssentials

/// A request as the server received it.
public struct RecordedRequest: Sendable {
    /// The method as it was sent.
    public let method: HTTPMethod
    /// The second word of the first line, as it was sent: "/users/7?page=2".
    public let target: String
    /// "1.1" or "1.0".
    public let version: String
    /// The fields in the order in which they arrived; credentials are masked when printed.
    public let headers: HTTPHeaders
    /// The body without its framing; empty if the route does not keep it.
    public internal(set) var body = Data()
    /// The number of received bytes of the body, also of one that was not kept.
    public internal(set) var bodyLength: Int64 = 0
    /// Fields after a chunked body.
    public internal(set) var trailers = HTTPHeaders()
    /// The number of the connection, from 1.
    public let connection: Int
    /// The number of the request on that connection, from 1.
    public let index: Int

    /// The path of the target without the query, percent-encoded as it was sent.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The names and values of the query, decoded; a name without `=` has no value.
    public var queryItems: [(name: String, value: String?)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return QueryItems.parse(target[target.index(after: mark)...])
    }

    /// The first value of a name in the query; nil if there is none.
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The body as UTF-8.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON. Throws the error of the decoder.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// Whether the body was sent in chunks.
    public var isChunked: Bool { headers.contains(.transferEncoding) }
}

extension RecordedRequest: CustomStringConvertible {
    /// The first line and the headers, credentials masked; no body.
    public var description: String { "\(method) \(target)\n\(headers)" }
}
