public import Errand
public import ErrandEssentials

/// A request that a ``TestServer`` received.
public struct RecordedRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target, such as "/users/7?page=2".
    public let target: String
    /// The HTTP version: "1.1" or "1.0".
    public let version: String
    /// The header fields in the order of their arrival. The description of this value masks credentials.
    public let headers: HTTPHeaders
    /// The bytes of the body. They're empty if the route doesn't keep the body.
    public internal(set) var body = Data()
    /// The number of body bytes that were received, even if they weren't kept.
    public internal(set) var bodyLength: Int64 = 0
    /// The trailer fields after a chunked body.
    public internal(set) var trailers = HTTPHeaders()
    /// The number of the connection on this server, from 1.
    public let connection: Int
    /// The number of the request on its connection, from 1.
    public let index: Int

    /// The target's path, percent-encoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query items, decoded. A value is `nil` if the item doesn't contain `=`.
    public var queryItems: [(name: String, value: String?)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return QueryItems.parse(target[target.index(after: mark)...])
    }

    /// Returns the value of the first query item with this name, or `nil` if the query doesn't contain the name.
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The body as UTF-8 text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body as JSON. Throws the decoder's error.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// Whether the body was sent in chunks.
    public var isChunked: Bool { headers.contains(.transferEncoding) }
}

extension RecordedRequest: CustomStringConvertible {
    /// The method, the target, and the headers. Credentials in them are masked.
    public var description: String { "\(method) \(target)\n\(headers)" }
}

/// Decodes query items: percent-encoding, and `+` as a space.
enum QueryItems {
    static func parse(_ query: some StringProtocol) -> [(name: String, value: String?)] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : nil)
        }
    }

    private static func decode(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = digit(rest.first), let low = digit(rest.dropFirst().first) {
                rest = rest.dropFirst(2)
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { UInt8(exactly: Character(Unicode.Scalar($0)).hexDigitValue ?? 256) }
    }
}
