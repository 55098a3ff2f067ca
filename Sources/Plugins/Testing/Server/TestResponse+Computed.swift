import Errand
public import ErrandEssentials

extension TestResponse {
    /// The request, returned as JSON; decode it as ``EchoedRequest``.
    public static let echo = computed { request in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(EchoedRequest(request)) else { return .status(500) }
        return .data(data, contentType: "application/json")
    }

    /// The request's body as it was received, with its type; `X-Method` has the method.
    public static let echoBody = computed { request in
        .data(request.body, contentType: request.headers[.contentType]).header("X-Method", request.method.rawValue)
    }

    /// The response to requests with this name and password, 401 with a challenge for others (RFC 7617).
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

    /// A resource that can be requested in parts and conditionally: Range with If-Range (RFC 9110, section 14),
    /// If-Match, If-None-Match and If-Modified-Since (section 13). A request for several ranges gets the whole.
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

    /// The requested range; an empty one cannot be satisfied, nil is to be ignored.
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

/// The JSON body of ``TestResponse/echo``.
public struct EchoedRequest: Codable, Sendable, Hashable {
    /// The method as it was sent.
    public var method: String
    /// Path and query as they were sent.
    public var target: String
    /// Values by name in lower case; several of one name are joined by ", ".
    public var headers: [String: String]
    /// The body if it is UTF-8.
    public var text: String?
    /// The body as base64.
    public var data: Data

    init(_ request: RecordedRequest) {
        method = request.method.rawValue
        target = request.target
        headers = Dictionary(request.headers.map { ($0.name.rawName.lowercased(), $0.value) }) { $0 + ", " + $1 }
        text = String(validating: request.body, as: UTF8.self)
        data = request.body
    }
}
