public import Errand
public import ErrandEssentials

/// A rule of a ``StubTransport``. It specifies which requests it matches, and which responses they get. A rule without
/// conditions matches all requests.
public struct StubRule: Sendable {
    enum Responses: Sendable {
        /// The responses in turn. The last response is used again for all further requests.
        case inTurn([StubReply])
        case handler(StubTransport.Handler)
    }

    let method: HTTPMethod?
    let path: PathPattern
    let query: [String: String]
    let headers: HTTPHeaders
    let body: Data?
    let responses: Responses

    /// Creates a rule for a method and a path.
    ///
    /// - Parameters:
    ///   - method: The method. `nil` matches any method.
    ///   - path: The whole path, such as `/v1/users/7`. It may follow an origin, such as `https://host`. A `*` at its
    ///     start or end is a wildcard.
    ///   - query: Items that the request must have, with decoded values. The request may have other items too.
    ///   - headers: Fields that the request must have. The request may have other fields too.
    ///   - body: The exact body. `nil` matches any body.
    ///   - responses: The responses to consecutive requests. The last response is used again for all further requests.
    ///     Defaults to a 200 with an empty body.
    public init(
        _ method: HTTPMethod?, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, response responses: StubResponse...
    ) {
        self.init(
            method, path, query: query, headers: headers, body: body, responses: .inTurn(responses.map(StubReply.init)))
    }

    init(
        _ method: HTTPMethod?, _ path: String, query: [String: String], headers: HTTPHeaders, body: Data?,
        responses: Responses
    ) {
        (self.method, self.path, self.query) = (method, PathPattern(path), query)
        (self.headers, self.body, self.responses) = (headers, body, responses)
    }

    func differences(from request: StubbedRequest) -> [String] {
        var found: [String] = []
        if let method, method != request.http.method {
            found.append("method: expected \(method), got \(request.http.method)")
        }
        let actual = path.isAbsolute ? request.origin + request.path : request.path
        if !path.matches(actual) { found.append("path: expected \(path), got \(actual)") }
        for (name, value) in query.sorted(by: { $0.key < $1.key }) {
            let values = request.queryItems.filter { $0.name == name }.map { $0.value ?? "" }
            if !values.contains(value) { found.append("query \(name): expected \(value), got \(Self.list(values))") }
        }
        for field in headers {
            let values = request.http.headers.filter { $0.name == field.name }
            if values.contains(where: { $0.value == field.value }) { continue }
            let got = values.isEmpty ? "none" : values.map(\.description).joined(separator: ", ")
            found.append("header: expected \(field), got \(got)")
        }
        if let body, let sent = request.http.body.data, body != sent {
            let offset = zip(body, sent).enumerated().first { $1.0 != $1.1 }?.offset ?? min(body.count, sent.count)
            found.append("body: expected \(body.count) bytes, got \(sent.count), different from byte \(offset)")
        }
        return found
    }

    private static func list(_ values: [String]) -> String { values.isEmpty ? "none" : values.joined(separator: ", ") }
}

extension StubRule: CustomStringConvertible {
    /// The method and the path, such as "GET /users/7".
    public var description: String { "\(method?.rawValue ?? "*") \(path)" }
}

/// A request with the parts of its URL. The URL is split once for all rules.
struct StubbedRequest {
    let http: HTTPRequest
    let origin: String
    let path: String
    let queryItems: [(name: String, value: String?)]

    init(_ http: HTTPRequest) {
        self.http = http
        // This doesn't create a `URL`, because it runs for every request to a transport with rules.
        let text = http.urlText
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let mark = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let scheme = text.utf8[..<mark].firstIndex(of: UInt8(ascii: ":")) ?? text.startIndex
        let authority = text.utf8[scheme..<mark].dropFirst(3).startIndex
        let start = text.utf8[authority..<mark].firstIndex(of: UInt8(ascii: "/")) ?? mark
        origin = String(text[..<start])
        path = start == mark ? "/" : String(text[start..<mark])
        queryItems = mark == end ? [] : QueryItems.parse(text[mark..<end].dropFirst())
    }
}

/// The error of a request that doesn't match any rule of a ``StubTransport``. It describes the closest rule and the
/// differences. Sensitive headers are masked, and bodies are left out.
public struct UnmatchedRequest: DescribedError, Sendable {
    /// The request that doesn't match any rule.
    public let request: HTTPRequest
    /// The rule with the fewest differences, such as "GET /users/7". It's `nil` if the transport doesn't have rules.
    public let nearest: String?
    /// The differences between the request and the closest rule. Each text is a single line.
    public let differences: [String]

    /// The request, the closest rule, and the differences, as several lines of text for test logs.
    public var description: String {
        guard let nearest else { return "\(request) has no response: the stub transport has no rules" }
        return "\(request) has no response. The nearest rule is \(nearest):\n  " + differences.joined(separator: "\n  ")
    }

    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}
