import ErrandEssentials

// Programs leave out fields that the format requires: a missing field gets the value that means "unknown". Some leave out
// the quotes of a text, so that a header field or a version is a number.

private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer where K == FieldName {
    fileprivate func value<Value: Decodable>(_ name: String, or missing: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: FieldName(name)) ?? missing
    }

    fileprivate func value<Value: Decodable>(_ name: String) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: FieldName(name))
    }

    fileprivate func value(_ name: String, or missing: String) throws -> String { try value(name) ?? missing }

    /// A text; a number or a Boolean in its place as text.
    fileprivate func value(_ name: String) throws -> String? {
        let key = FieldName(name)
        do { return try decodeIfPresent(String.self, forKey: key) } catch {
            if let number = try? decode(Int64.self, forKey: key) { return "\(number)" }
            if let number = try? decode(Double.self, forKey: key) { return "\(number)" }
            if let word = try? decode(Bool.self, forKey: key) { return "\(word)" }
            throw error
        }
    }
}

extension HARFile.Log {
    /// Reads the content of a file. Throws `DecodingError` where the entries are missing, or a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            creator: fields.value("creator", or: HARFile.Creator(name: "", version: "")),
            entries: fields.decode([HARFile.Entry].self, forKey: FieldName("entries")), comment: fields.value("comment")
        )
        version = try fields.value("version", or: "1.2")
    }
}

extension HARFile.Creator {
    /// Reads a creator. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(name: fields.value("name", or: ""), version: fields.value("version", or: ""))
    }
}

extension HARFile.Pair {
    /// Reads a pair. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(name: fields.value("name", or: ""), value: fields.value("value", or: ""))
    }
}

extension HARFile.Entry {
    /// Reads an entry. Throws `DecodingError` where request or response are missing, or a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            startedDateTime: fields.value("startedDateTime", or: ""), time: fields.value("time", or: 0),
            request: fields.decode(HARFile.Request.self, forKey: FieldName("request")),
            response: fields.decode(HARFile.Response.self, forKey: FieldName("response")),
            timings: fields.value("timings", or: HARFile.Timings()), serverIPAddress: fields.value("serverIPAddress"),
            comment: fields.value("comment"), error: fields.value("_error"))
        // Not of the format: another program may mean something else by them.
        resourceType = try? fields.value("_resourceType")
        webSocketMessages = try? fields.value("_webSocketMessages")
    }
}

extension HARFile.Request {
    /// Reads a request. Throws `DecodingError` where method or URL are missing, or a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            method: fields.decode(String.self, forKey: FieldName("method")),
            url: fields.decode(String.self, forKey: FieldName("url")), httpVersion: fields.value("httpVersion", or: ""),
            headers: fields.value("headers", or: []), queryString: fields.value("queryString", or: []),
            postData: fields.value("postData"), bodySize: fields.value("bodySize", or: -1))
        cookies = try fields.value("cookies", or: [])
        headersSize = try fields.value("headersSize", or: -1)
    }
}

extension HARFile.PostData {
    /// Reads a body. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            mimeType: fields.value("mimeType", or: ""), text: fields.value("text", or: ""),
            comment: fields.value("comment"), encoding: fields.value("_encoding"))
    }
}

extension HARFile.Response {
    /// Reads a response. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            status: fields.value("status", or: 0), httpVersion: fields.value("httpVersion", or: ""),
            headers: fields.value("headers", or: []),
            content: fields.value("content", or: HARFile.Content(size: -1, mimeType: "x-unknown")),
            redirectURL: fields.value("redirectURL", or: ""), bodySize: fields.value("bodySize", or: -1))
        statusText = try fields.value("statusText", or: "")
        cookies = try fields.value("cookies", or: [])
        headersSize = try fields.value("headersSize", or: -1)
    }
}

extension HARFile.Content {
    /// Reads a body. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            size: fields.value("size", or: -1), compression: fields.value("compression"),
            mimeType: fields.value("mimeType", or: "x-unknown"), text: fields.value("text"),
            encoding: fields.value("encoding"), comment: fields.value("comment"))
    }
}

extension HARFile.WebSocketMessage {
    /// Reads a message. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            type: fields.value("type", or: ""), time: fields.value("time", or: 0),
            opcode: fields.value("opcode", or: -1), data: fields.value("data", or: ""), size: fields.value("_size"))
    }
}

extension HARFile.Timings {
    /// Reads the phases. Throws `DecodingError` where a field has another type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            blocked: fields.value("blocked", or: -1), dns: fields.value("dns", or: -1),
            connect: fields.value("connect", or: -1), ssl: fields.value("ssl", or: -1),
            send: fields.value("send", or: 0), wait: fields.value("wait", or: 0),
            receive: fields.value("receive", or: 0))
    }
}
