public import Errand
public import ErrandEssentials

/// A response that a ``TestServer`` sends. Create it with a factory method, and change it with modifiers.
///
/// ```swift
/// .json(#"{"id":7}"#)
/// .text("slow").delayed(by: .milliseconds(50))
/// .data(bytes).chunked(sizes: [1, 2, 3]).trailers(["X-Sum": "7"])
/// .text("lost").resetting(afterBytes: 12)
/// ```
public struct TestResponse: ScriptedResponse {
    /// The status code.
    public var status: Int
    /// The reason phrase in the status line. Defaults to `nil`, which sends the usual phrase for the status.
    public var reason: String?
    /// The header fields. If they contain `Content-Length` or `Transfer-Encoding`, the server sends this field instead
    /// of its own.
    public var headers: HTTPHeaders
    var content: Content
    var framing = Framing.length
    var trailers = HTTPHeaders()
    var informational: [(status: Int, headers: HTTPHeaders)] = []
    var delay = Duration.zero
    var gate: Gate?
    var bodyGate: (after: Int, gate: Gate)?
    var pace: Pace?
    var cut: Cut?
    var ending = Ending.keep
    /// The closure that computes the response. The modifiers also apply to the response that it returns.
    var resolver: (@Sendable (RecordedRequest) -> TestResponse)?

    enum Content: Sendable {
        case data(Data)
        case repeated(Data, count: Int)
        /// The bytes of the whole response, including the head.
        case raw(Data)

        var count: Int {
            switch self {
            case .data(let data), .raw(let data): data.count
            case .repeated(_, let count): count
            }
        }
    }

    enum Framing: Sendable {
        case length
        /// The sizes of the chunks. If bytes remain after these chunks, they are sent in another chunk.
        case chunked([Int])
        case untilClose
    }

    struct Pace: Sendable {
        let bytes: Int
        let interval: Duration
        let includesHead: Bool
    }

    struct Cut: Sendable {
        enum Action: Sendable { case close, reset, stall }
        let bytes: Int
        let countsHead: Bool
        let action: Action
    }

    enum Ending: Sendable {
        case keep
        /// The server closes the connection after the response, and announces this with `Connection: close`.
        case close
        case closeSilently
        /// The server closes the connection without a response when the next request arrives.
        case closeAtNextRequest
        /// The server passes the connection to the closure, and closes it when the closure returns.
        case conversation(@Sendable (TestConversation) throws -> Void)

        var isClose: Bool { if case .close = self { true } else { false } }
    }

    /// Creates a response. By default, the status is 200, and the response has neither headers nor a body.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        content = .data(body)
    }
}

extension TestResponse {
    /// Returns a response whose body repeats a block until it has `count` bytes. The body isn't in memory as a whole.
    public static func repeating(_ bytes: Data = Data(repeating: 0x2E, count: 1 << 16), count: Int) -> TestResponse {
        var response = TestResponse()
        response.content = bytes.isEmpty ? .data(Data()) : .repeated(bytes, count: max(0, count))
        return response
    }

    /// Returns a response that sends exactly these bytes, and then closes the connection. To keep the connection open,
    /// add `keepAlive(true)`.
    public static func raw(_ bytes: Data) -> TestResponse {
        var response = TestResponse()
        response.content = .raw(bytes)
        response.ending = .close
        return response
    }

    /// Returns a response that sends exactly this text, and then closes the connection.
    public static func raw(_ text: String) -> TestResponse { raw(Data(text.utf8)) }

    /// Returns a redirect to a URL. The URL may be relative.
    public static func redirect(to location: String, status: Int = 302) -> TestResponse {
        TestResponse(status: status, headers: [.location: location])
    }

    /// Returns a response that a closure computes for each request.
    public static func computed(_ resolver: @escaping @Sendable (RecordedRequest) -> TestResponse) -> TestResponse {
        var response = TestResponse()
        response.resolver = resolver
        return response
    }
}

extension TestResponse {
    /// A response that describes the request as JSON. Decode the JSON as ``EchoedRequest``.
    public static let echo = computed { request in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(EchoedRequest(request)) else { return .status(500) }
        return .data(data, contentType: "application/json")
    }

    /// A response that returns the request's body with its content type. The field `X-Method` contains the request's
    /// method.
    public static let echoBody = computed { request in
        .data(request.body, contentType: request.headers[.contentType]).header("X-Method", request.method.rawValue)
    }

    /// Returns a response for requests that contain this user name and this password. Other requests get a 401 with a
    /// Basic challenge (RFC 7617).
    public static func basicAuth(user: String, password: String, then response: TestResponse = .text("ok"))
        -> TestResponse
    {
        let expected = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        return computed { request in
            if request.headers.values(of: .authorization) == [expected] { return response }
            return .text("credentials, please", status: 401).header(
                .wwwAuthenticate, #"Basic realm="test", charset="UTF-8""#)
        }
    }

    /// Returns a response that serves a resource, or ranges of it. It supports Range with If-Range (RFC 9110, section
    /// 14), and If-Match, If-None-Match, and If-Modified-Since (section 13). If a request asks for several ranges, it
    /// gets the whole resource.
    public static func ranges(
        _ data: Data, etag: String? = nil, lastModified: String? = nil, contentType: String? = nil
    ) -> TestResponse {
        computed { request in
            var validators: HTTPHeaders = [.acceptRanges: "bytes"]
            if let etag { validators.add(.entityTag, etag) }
            if let lastModified { validators.add(.lastModified, lastModified) }
            if let wanted = request.headers[.ifMatch], !Self.lists(wanted, etag, weakly: false) {
                return .status(412, headers: validators)
            }
            if let known = request.headers[.ifNoneMatch] {
                if Self.lists(known, etag, weakly: true) { return .status(304, headers: validators) }
            } else if let lastModified, request.headers[.ifModifiedSince] == lastModified {
                return .status(304, headers: validators)
            }
            var response = TestResponse.data(data, contentType: contentType)
            response.headers.merge(validators)
            let condition = request.headers[.ifRange]
            let isCurrent =
                condition == nil || condition == lastModified
                || condition == etag && condition?.hasPrefix("W/") == false
            guard request.method == .get, isCurrent, let asked = request.headers[.range] else { return response }
            switch Self.range(asked, of: data.count) {
            case nil: return response
            case .some(let range) where range.isEmpty:
                validators.add(.contentRange, "bytes */\(data.count)")
                return .status(416, headers: validators)
            case .some(let range):
                response.status = 206
                let part = data.dropFirst(range.lowerBound).prefix(range.count)
                response.content = .data(Data(part))
                let last = range.upperBound - 1
                return response.header(.contentRange, "bytes \(range.lowerBound)-\(last)/\(data.count)")
            }
        }
    }

    /// Parses a `Range` field. Returns an empty range if the resource doesn't contain the range, and `nil` if the field
    /// must be ignored.
    private static func range(_ text: String, of count: Int) -> Range<Int>? {
        guard text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }) else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?):
            if last < first { return nil }
            return first < count ? first..<(min(last, count - 1) + 1) : 0..<0
        case (let first?, nil) where ends[1].isEmpty: return first < count ? first..<count : 0..<0
        case (nil, let last?) where ends[0].isEmpty: return max(0, count - last)..<count
        default: return nil
        }
    }

    private static func lists(_ list: String, _ etag: String?, weakly: Bool) -> Bool {
        guard let etag else { return false }
        func bare(_ tag: some StringProtocol) -> String {
            String(weakly && tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...])
        }
        let tags = list.split(separator: ",").map { $0.drop { $0 == " " } }
        if tags == ["*"] { return true }
        return (weakly || !etag.hasPrefix("W/")) && tags.contains { bare($0) == bare(etag) }
    }
}

/// The JSON body of the response ``TestResponse/echo``.
public struct EchoedRequest: Codable, Sendable, Hashable {
    /// The request's method.
    public var method: String
    /// The path and the query, as sent.
    public var target: String
    /// The request's fields. The keys are lowercase names. If a name occurs several times, its values are joined by ",
    /// ".
    public var headers: [String: String]
    /// The request's body as text, or `nil` if it isn't valid UTF-8.
    public var text: String?
    /// The request's body as bytes. JSON contains them in Base64.
    public var data: Data

    init(_ request: RecordedRequest) {
        method = request.method.rawValue
        target = request.target
        headers = Dictionary(request.headers.map { ($0.name.rawName.lowercased(), $0.value) }) { $0 + ", " + $1 }
        text = String(validating: request.body, as: UTF8.self)
        data = request.body
    }
}

extension TestResponse {
    /// Replaces the status code and the reason phrase.
    public func status(_ status: Int, reason: String? = nil) -> TestResponse {
        modified { ($0.status, $0.reason) = (status, reason) }
    }

    /// Adds a header field. If you add `Content-Type`, it replaces the existing field.
    public func header(_ name: HTTPHeaderName, _ value: String) -> TestResponse {
        modified { if name == .contentType { $0.headers.set(name, value) } else { $0.headers.add(name, value) } }
    }

    /// Announces this length as the `Content-Length`, although the body has another length. Sends the whole body.
    public func contentLength(_ length: Int) -> TestResponse {
        modified { $0.headers.set(.contentLength, "\(length)") }
    }

    /// Sends the body in chunks of these sizes (RFC 9112, section 7.1). The remaining bytes are sent in another chunk.
    public func chunked(sizes: [Int] = []) -> TestResponse { modified { $0.framing = .chunked(sizes) } }

    /// Sends the body without a length. The client finds the end of the body when the server closes the connection.
    public func untilClose() -> TestResponse {
        modified {
            $0.framing = .untilClose
            $0.ending = .close
        }
    }

    /// Sends the body in chunks, followed by trailer fields.
    public func trailers(_ trailers: HTTPHeaders) -> TestResponse {
        modified {
            $0.trailers = trailers
            if case .length = $0.framing { $0.framing = .chunked([]) }
        }
    }

    /// Sends a 1xx response before the response. It's sent in a separate write. You can add several.
    public func informational(_ status: Int, _ headers: HTTPHeaders = [:]) -> TestResponse {
        modified { $0.informational.append((status, headers)) }
    }

    /// Waits before responding. The wait ends early if the client closes the connection or the server stops.
    public func delayed(by delay: Duration) -> TestResponse { modified { $0.delay = delay } }

    /// Waits until the test opens a gate before responding.
    public func waiting(for gate: Gate) -> TestResponse { modified { $0.gate = gate } }

    /// Pauses after this many bytes of the body, until the test opens a gate.
    public func waiting(for gate: Gate, afterBodyBytes count: Int) -> TestResponse {
        modified { $0.bodyGate = (max(0, count), gate) }
    }

    /// Sends the response slowly. The server sends each piece in a separate write, and pauses between pieces. If the
    /// interval is `.zero`, the response is only split. The head is a single piece unless you pass `includingHead`.
    public func slowly(
        bytesPerChunk: Int, every interval: Duration, includingHead: Bool = false
    ) -> TestResponse {
        modified { $0.pace = Pace(bytes: max(1, bytesPerChunk), interval: interval, includesHead: includingHead) }
    }

    /// Closes the connection after this many bytes of the response. The head and 1xx responses count. If the response
    /// is shorter, the connection closes at its end.
    public func closing(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .close) }

    /// Closes the connection after this many bytes of the body, including its chunk framing.
    public func closing(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .close) }

    /// Resets the connection after this many bytes of the response. The head and 1xx responses count.
    public func resetting(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .reset) }

    /// Resets the connection after this many bytes of the body, including its chunk framing.
    public func resetting(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .reset) }

    /// Stops sending after this many bytes of the response. The head and 1xx responses count. The connection stays open
    /// until the client closes it or the server stops.
    public func stalled(afterBytes count: Int) -> TestResponse { cut(count, countsHead: true, .stall) }

    /// Stops sending after this many bytes of the body, including its chunk framing. The connection stays open until
    /// the client closes it or the server stops.
    public func stalled(afterBodyBytes count: Int) -> TestResponse { cut(count, countsHead: false, .stall) }

    /// Announces the length of the whole body, but closes the connection after `count` bytes of the body.
    public func truncated(to count: Int) -> TestResponse { closing(afterBodyBytes: count) }

    /// Determines whether the connection stays open after the response. If it's closed, the head announces this.
    public func keepAlive(_ keeps: Bool) -> TestResponse { modified { $0.ending = keeps ? .keep : .close } }

    /// Closes the connection without announcing this in the head. The server closes it after the response, or when the
    /// next request arrives. Real servers do this if a client keeps a connection for too long.
    public func closingSilently(atNextRequest: Bool = false) -> TestResponse {
        modified { $0.ending = atNextRequest ? .closeAtNextRequest : .closeSilently }
    }

    /// Passes the connection to a closure after the response, so the closure can use another protocol. The server
    /// closes the connection when the closure returns or throws.
    public func continuing(with body: @escaping @Sendable (TestConversation) throws -> Void) -> TestResponse {
        modified { $0.ending = .conversation(body) }
    }

    private func cut(_ count: Int, countsHead: Bool, _ action: Cut.Action) -> TestResponse {
        modified { $0.cut = Cut(bytes: max(0, count), countsHead: countsHead, action: action) }
    }

    func modified(_ change: @escaping @Sendable (inout TestResponse) -> Void) -> TestResponse {
        var copy = self
        guard let resolver else {
            change(&copy)
            return copy
        }
        copy.resolver = { request in
            var made = resolver(request).resolved(for: request)
            change(&made)
            return made
        }
        return copy
    }

    func resolved(for request: RecordedRequest) -> TestResponse {
        var response = self
        while let resolver = response.resolver { response = resolver(request) }
        return response
    }
}
