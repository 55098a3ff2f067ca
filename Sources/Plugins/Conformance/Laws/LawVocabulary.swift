import Errand

/// Repeatable random numbers (SplitMix64).
struct LawRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns another sequence of numbers without advancing this one, so an addition to a generator doesn't change its
    /// earlier choices.
    var branch: LawRandom {
        var copy = self
        return LawRandom(seed: copy.next() ^ 0x6C61_7773)
    }

    mutating func isTrue(_ chance: Double = 0.5) -> Bool { Double.random(in: 0..<1, using: &self) < chance }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}

/// Names and values for random exchanges: some that HTTP defines, and others that no filter knows.
enum LawVocabulary {
    static let origin = FilterBench.origin
    static let foreignOrigins = [
        "https://other.example", "http://conformance.example", "https://conformance.example:8443",
    ]
    /// Origins whose text contains the agent's host.
    static let similarOrigins = ["https://conformance.example.law.example", "https://law-conformance.example"]
    /// Methods that a filter doesn't necessarily know.
    static let foreignMethods: [HTTPMethod] = ["REPORT", "QUERY", "PROPFIND", "get", "LAW"]
    /// Other forms of the agent's origin, and other hosts.
    static let forms = [
        "https://CONFORMANCE.example", "https://conformance.example:443", "https://conformance.example:8443",
        "https://[::1]:8080", "https://conformance.example.", "https://127.0.0.1", "https://xn--4ca.example",
    ]

    /// Whether an origin is the suite's own. Other origins are from samples, so the filter may know and trust them.
    static func isOwn(origin: String) -> Bool {
        let own = [Self.origin, "https://third.example"] + foreignOrigins + similarOrigins + forms
        func plain(_ text: String) -> String { text.lowercased().filter { $0 != "[" && $0 != "]" } }
        return own.contains { plain($0) == plain(origin) }
    }

    /// Whether a name is the suite's own, so no filter can know it.
    static func isForeign(_ name: HTTPHeaderName) -> Bool { name.rawName.lowercased().hasPrefix("x-law-") }

    static let foreignNames: [HTTPHeaderName] = ["X-Law-A", "X-Law-B", "X-Law-C"]
    static let requestNames: [HTTPHeaderName] = [
        .accept, .acceptLanguage, .acceptEncoding, .userAgent, .cacheControl, .ifMatch, .ifNoneMatch, .via, .range,
        .authorization, .cookie, .idempotencyKey, .te, "Prefer", "X-Request-ID", "traceparent", "Origin", "Forwarded",
    ]
    static let values = [
        "1", "a, b", "a;q=0.5", "\"quoted, text\"", "W/\"1\"", "ü", "x=1; y=2", "Mon, 01 Jan 2001 00:00:00 GMT", "0",
        "a  b", "100", "*/*",
    ]
    static let segments = [
        "a", "b", "A", "a%2Fb", "a%20b", "a+b", "%C3%A4", "a%25b", "a:b", "a@b", "~", "a%3Fb", "a;b", "a=b", "1", "%61",
        "a%23b", "'", "a,b", "(a)",
    ]
    static let queryItems = [
        "a=1", "a=2", "b", "b=", "c=x+y", "c=x%2By", "c=x%20y", "d=%26", "e=%3D", "f=a=b", "g=%C3%A4", "h=%25",
        "i=a/b?",
        "j[]=1", "k=%5B%5D", "l=12:30,4", "", "m=%23", "n=%2F", "o=%7E", "p=http://a.example/b",
        "q=https%3A%2F%2Fa.example%2F%3Fb%3D1", "r=//a.example:80/?b",
    ]
    static let texts = [
        "law", "a", "b", "{\"law\":1.0}", "ä\u{0}\r\n", "{\"law\":[1,{\"b\":null}]}", "a=1&b=%20", "<a/>",
    ]
    /// Texts that a careless copy of a body changes.
    static let fragileTexts = [
        "\u{FEFF}law", "{\"id\":12345678901234567890,\"a\":\"\\/\",\"b\":1.10}", "e\u{301}", "{\"b\":1,\"a\":2}",
        " {\"law\" : 1} \n", "law\n", "\"law\"", "{\"a\":\"\\ud83d\\ude00\",\"b\":\"\\u00e4\"}",
    ]
    /// Bytes that aren't UTF-8.
    static let bytes: [[UInt8]] = [[0xFF, 0xFE, 0x00, 0x61], [0x61, 0x80, 0x0A], [0xE4], [0x1F, 0x8B, 0x08, 0x00]]
    static let long = String(repeating: "a", count: 70_000)
    static let responseFields: [(HTTPHeaderName, String)] = [
        (.entityTag, "\"law\""), (.cacheControl, "max-age=60"), (.cacheControl, "no-store"),
        (.setCookie, "a=1; Path=/"),
        (.setCookie, "b=2, c"), (.lastModified, "Mon, 01 Jan 2001 00:00:00 GMT"), (.vary, "Accept"), (.vary, "X-Law-A"),
        (.link, "</law>; rel=next"), ("Date", "Sun, 09 Sep 2001 01:46:40 GMT"), (.server, "law"), (.age, "7"),
        (.wwwAuthenticate, "Basic realm=\"law\""), (.wwwAuthenticate, "Digest nonce=1"), (.contentLanguage, "de"),
        (.warning, "199 - law"), ("X-Request-ID", "law"), ("RateLimit", "\"law\";r=9;t=60"), (.retryAfter, "1"),
        (.acceptRanges, "bytes"), (.contentDisposition, "attachment; filename=\"law\""), (.allow, "GET"),
    ]
    static let statuses = [
        201, 202, 203, 204, 205, 206, 226, 300, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 418, 422, 425,
        429, 451, 500, 501, 502, 503, 504,
    ]
    static let decisiveStatuses = [
        200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 408, 409, 410, 412, 422, 425, 429, 500, 502, 503, 504,
    ]
    /// Second values of fields that are lists (RFC 9110, section 5.3).
    static let secondValues: [(HTTPHeaderName, String)] = [
        (.cacheControl, "private"), (.vary, "X-Law-B"), (.link, "</law/2>; rel=prev"), (.warning, "299 - law"),
        (.wwwAuthenticate, "Bearer realm=\"law\""), (.contentLanguage, "fr"), (.allow, "HEAD"), (.via, "1.1 a"),
        (.via, "1.1 b"), ("Server-Timing", "a"), ("Server-Timing", "b"), ("Preference-Applied", "a"),
        ("Preference-Applied", "b"), ("X-Law-A", "1"), ("X-Law-A", "2"), ("Deprecation", "@1"), ("Sunset", "law"),
        ("Cache-Status", "a"), ("Cache-Status", "b"), ("Alt-Svc", "clear"),
    ]
    static func type(of body: LawBody, _ random: inout LawRandom) -> String {
        if case .text(let text) = body, text.hasPrefix("{") { return random.pick(["application/json", "text/plain"]) }
        return random.pick(["text/plain", "application/x-law", "application/octet-stream"])
    }

    /// Response fields whose value a client may send back.
    static let remembered: [HTTPHeaderName] =
        [
            .setCookie, .entityTag, .lastModified, .location, .link, .wwwAuthenticate, "Authorization",
            "Authentication-Info", "Server-Timing", "traceparent", "tracestate", "X-Trace-ID", "X-Request-ID",
            "X-Correlation-ID", "X-Session-ID", "X-Session", "X-Device-ID", "X-Api-Key", "X-API-Version", "X-Tenant",
            "X-Amzn-Trace-Id", "Request-Id", "X-User", "X-User-ID", "X-Cursor", "X-Next-Page", "Next-Cursor",
            "Sync-Token",
            "DPoP-Nonce", "X-Nonce", "Nonce", "X-CSRFToken", "CSRF-Token", "XSRF-TOKEN", "Token", "X-Token",
        ]
        + [
            "CSRF", "XSRF", "Request", "Session", "Auth", "Access", "Refresh", "Device", "API", "User", "New",
            "Security",
        ]
        .flatMap { ["X-\($0)-Token" as String, "\($0)-Token"] }.map { HTTPHeaderName($0) }
    static let rememberedMembers = [
        "token", "access_token", "refresh_token", "csrf_token", "session", "session_id", "user", "user_id", "id",
        "next",
        "cursor", "nonce", "sync_token",
    ]
}

extension LawExchange {
    static func random(_ random: inout LawRandom) -> LawExchange {
        var exchange = LawExchange()
        exchange.method = random.pick([
            .get, .get, .get, .head, .post, .post, .put, .patch, .delete, .options, "REPORT",
        ])
        exchange.url = randomURL(&random)
        if random.isTrue(0.6) { exchange.headers = randomHeaders(&random) }
        if ![.get, .head, .options].contains(exchange.method) || random.isTrue(0.05) {
            exchange.body = randomBody(&random)
            if exchange.body != .none, random.isTrue(0.7) {
                exchange.headers[.contentType] = LawVocabulary.type(of: exchange.body, &random)
            }
        }
        exchange.isStreamed = random.isTrue(0.3)
        if random.isTrue(0.4) { exchange.timeout = random.pick([.seconds(5), .seconds(90), .seconds(600)]) }
        if random.isTrue(0.2) { exchange.deadline = random.pick([.seconds(20), .seconds(1_000)]) }
        if random.isTrue(0.3) { exchange.priority = random.pick([.low, .high]) }
        exchange.isTagged = random.isTrue(0.4)
        exchange.isRefused = random.isTrue(0.1)
        exchange.isStrict = random.isTrue(0.1)
        exchange.isDropped = exchange.isStreamed && random.isTrue(0.15)
        exchange.replies = [LawReply.random(to: exchange, &random)]
        var branch = random.branch
        exchange.enrich(&branch)
        return exchange
    }

    /// Adds variations that a filter's author easily forgets.
    private mutating func enrich(_ random: inout LawRandom) {
        if random.isTrue(0.3) { tags = [LawTag.random(for: self, &random)] }
        if random.isTrue(0.2) { headers = headers.spelled(&random) }
        if random.isTrue(0.1) { headers.add(random.pick(LawVocabulary.foreignNames), "") }
        if method == "REPORT" { method = random.pick(LawVocabulary.foreignMethods) }
        if random.isTrue(0.1) {
            url = url.replacing(LawVocabulary.origin, with: random.pick(LawVocabulary.forms), maxReplacements: 1)
        }
        if random.isTrue(0.05) { url += "#law" }
        if case .stream(let chunks, let isReplayable, _) = body, random.isTrue() {
            body = .stream(chunks, isReplayable: isReplayable, hasLength: true)
        }
        if case .text = body, random.isTrue(0.2) {
            let isText = random.isTrue()
            body = isText ? .text(random.pick(LawVocabulary.fragileTexts)) : .bytes(random.pick(LawVocabulary.bytes))
            headers[.contentType] = isText ? LawVocabulary.type(of: body, &random) : "application/octet-stream"
        }
        if replies[0].status != 200, random.isTrue(0.15) { replies[0].status = random.pick([207, 299, 499, 599, 999]) }
        if random.isTrue(0.2) { replies[0].headers = replies[0].headers.spelled(&random) }
        if random.isTrue(0.1) { replies[0].headers.add(random.pick(LawVocabulary.foreignNames), "") }
        if random.isTrue(0.1) { for number in 1...3 { replies[0].headers.add(.setCookie, "law\(number)=\(number)") } }
        if case .text = replies[0].body, !isStreamed, random.isTrue(0.2) {
            let isText = random.isTrue()
            let text = LawBody.text(random.pick(LawVocabulary.fragileTexts))
            replies[0].body = isText ? text : .bytes(random.pick(LawVocabulary.bytes))
            replies[0].headers.remove(.contentLength)
            replies[0].headers[.contentType] =
                isText ? LawVocabulary.type(of: text, &random) : "application/octet-stream"
        }
        isSaved = !isStreamed && random.isTrue(0.1)
    }

    /// Returns a call, sometimes after a successful call to the same URL.
    static func story(_ random: inout LawRandom) -> [LawExchange] {
        let exchange = Self.random(&random)
        if !random.isTrue(0.3) { return [exchange] }
        var first = exchange
        (first.replies, first.isDropped, first.isRefused) = ([LawReply()], false, false)
        (first.isStreamed, first.deadline, first.cancellation) = (false, nil, nil)
        var second = exchange
        if random.isTrue(0.2) {
            second.cancellation = .onTheWire
            second.deadline = nil
        }
        return [first, second]
    }

    /// Returns a call with one of these methods, and with a body if it's a POST, PUT or PATCH.
    static func random(_ methods: [HTTPMethod], _ random: inout LawRandom) -> LawExchange {
        let method = random.pick(methods)
        let hasBody = [.post, .put, .patch].contains(method)
        return LawExchange(method, randomURL(&random), body: hasBody ? .text("law") : .none)
    }

    static func randomURL(_ random: inout LawRandom) -> String {
        let segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.pick(LawVocabulary.segments) }
        let items = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(LawVocabulary.queryItems) }
        let path = segments.joined(separator: "/") + (random.isTrue(0.15) ? "/" : "")
        let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
        return "\(LawVocabulary.origin)/v1/\(path)\(query)"
    }

    private static func randomHeaders(_ random: inout LawRandom) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let isForeign = random.isTrue(0.7)
            let name = random.pick(isForeign ? LawVocabulary.foreignNames : LawVocabulary.requestNames)
            if !isForeign, headers.contains(name) { continue }
            headers.add(name, random.pick(LawVocabulary.values), sensitive: isForeign && random.isTrue(0.2))
        }
        return headers
    }

    private static func randomBody(_ random: inout LawRandom) -> LawBody {
        let text = random.isTrue(0.05) ? LawVocabulary.long : random.pick(LawVocabulary.texts)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .none
        case 1, 2: return .text(text)
        case 3: return .stream([text, "b"], isReplayable: false)
        default: return .stream([text, "b"], isReplayable: true)
        }
    }

    static func simpler(_ exchanges: [LawExchange], keepsCount: Bool) -> [[LawExchange]] {
        var results: [[LawExchange]] = []
        if !keepsCount, exchanges.count > 1 {
            for index in exchanges.indices {
                results.append(exchanges.enumerated().filter { $0.offset != index }.map(\.element))
            }
        }
        for index in exchanges.indices {
            for simpler in exchanges[index].simpler {
                var copy = exchanges
                copy[index] = simpler
                results.append(copy)
            }
        }
        return results
    }

    var simpler: [LawExchange] {
        let plain = LawExchange()
        var results: [LawExchange] = []
        func add(_ change: (inout LawExchange) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { results.append(copy) }
        }
        add { $0 = plain }
        add { $0.replies = plain.replies }
        add { $0.replies = [$0.replies[0]] }
        add { $0.headers = [:] }
        add { $0.body = .none }
        add { $0.url = plain.url }
        add { $0.method = .get }
        add { $0.isStreamed = false }
        add { $0.isSaved = false }
        add { $0.timeout = nil }
        add { $0.deadline = nil }
        add { $0.priority = nil }
        add { $0.isTagged = false }
        for index in tags.indices { add { $0.tags.remove(at: index) } }
        add { $0.isRefused = false }
        add { $0.isStrict = false }
        add { $0.isDropped = false }
        add { $0.isRepeated = false }
        add { $0.cancellation = nil }
        for index in headers.indices {
            add { $0.headers = HTTPHeaders($0.headers.enumerated().filter { $0.offset != index }.map(\.element)) }
        }
        for index in headers.indices where headers[index].value != "1" {
            add { exchange in
                var fields = Array(exchange.headers)
                fields[index].value = "1"
                exchange.headers = HTTPHeaders(fields)
            }
        }
        if case .stream(let chunks, let isReplayable, let hasLength) = body {
            add { $0.body = .text(body.text) }
            if hasLength { add { $0.body = .stream(chunks, isReplayable: isReplayable) } }
        }
        if !["", "a", "{}"].contains(body.text) {
            switch body {
            case .text: add { $0.body = .text(headers[.contentType] == "application/json" ? "{}" : "a") }
            case .stream(_, let isReplayable, let hasLength):
                add { $0.body = .stream(["a"], isReplayable: isReplayable, hasLength: hasLength) }
            default: break
            }
        }
        for url in simplerURLs { add { $0.url = url } }
        for (index, reply) in replies.enumerated() {
            for simpler in reply.simpler { add { $0.replies[index] = simpler } }
        }
        return results
    }

    private var simplerURLs: [String] {
        let simpler = LawTarget.simpler(url, fixed: 4)
        let (path, query) = LawTarget.parts(url)
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return simpler
            + segments.indices.dropFirst(4).filter { segments[$0] != "a" }.map { index in
                var rest = segments
                rest[index] = "a"
                return rest.joined(separator: "/") + query
            }
    }
}

extension HTTPHeaders {
    /// Returns the same fields with their names in another case.
    fileprivate func spelled(_ random: inout LawRandom) -> HTTPHeaders {
        let isLower = random.isTrue()
        return HTTPHeaders(
            map { field in
                let name = isLower ? field.name.rawName.lowercased() : field.name.rawName.uppercased()
                return Field(HTTPHeaderName(name), field.value, sensitive: field.isSensitive)
            })
    }
}

extension LawReply {
    fileprivate mutating func resemble(_ sample: LawReply, isStreamed: Bool, onlyFields: Bool) {
        for name in Set(sample.headers.map(\.name)) {
            headers.removeAll { $0.name == name }
            for value in sample.headers.values(of: name) { headers.add(name, value) }
        }
        if onlyFields { return }
        (status, body) = (sample.status, sample.body)
        if let failure = sample.failure { self.failure = failure }
        headers.removeAll { $0.name == .contentLength && !sample.headers.contains($0.name) }
        if isStreamed, case .text(let text) = sample.body {
            let half = text.index(text.startIndex, offsetBy: text.count / 2)
            body = .stream([String(text[..<half]), String(text[half...])].filter { !$0.isEmpty })
        }
    }

    static func random(to exchange: LawExchange, _ random: inout LawRandom) -> LawReply {
        var reply = LawReply()
        if random.isTrue(0.4) { reply.status = random.pick(LawVocabulary.statuses) }
        if random.isTrue(0.7) {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                reply.headers.add(random.pick(LawVocabulary.foreignNames), random.pick(LawVocabulary.values))
            }
        }
        if random.isTrue(0.4) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let (name, value) = random.pick(LawVocabulary.responseFields)
                reply.headers.add(name, value)
            }
        }
        let text = random.isTrue(0.05) ? LawVocabulary.long : random.pick(LawVocabulary.texts)
        if exchange.isStreamed {
            reply.body = random.isTrue(0.4) ? .awaitedStream([text, "b", "c"]) : .stream([text, "b"])
        } else {
            reply.body = random.isTrue(0.9) ? .text(text) : .none
        }
        if random.isTrue(0.5) { reply.headers[.contentType] = LawVocabulary.type(of: reply.body, &random) }
        if random.isTrue(0.3), case .text(let text) = reply.body {
            reply.headers[.contentLength] = "\(text.utf8.count)"
        }
        if exchange.method == .head {
            reply.body = .none
            if random.isTrue(0.5) { reply.headers[.contentLength] = "7" }
        }
        if random.isTrue(0.15) {
            reply.failure = random.pick([
                .connectionLost, .cannotConnect, .timedOut, .invalidResponse, .insecureConnection, .cancelled,
            ])
        }
        return reply
    }

    /// The status is one on which filters act. The fields are all of the vocabulary's, and list fields occur twice.
    static func full(_ random: inout LawRandom) -> LawReply {
        var reply = LawReply(random.pick(LawVocabulary.decisiveStatuses))
        for (name, value) in LawVocabulary.responseFields where value != "no-store" {
            if !reply.headers.contains(name) || name == .setCookie { reply.headers.add(name, value) }
        }
        for (name, value) in LawVocabulary.secondValues { reply.headers.add(name, value) }
        if [204, 304].contains(reply.status) { reply.body = .none }
        return reply
    }

    var simpler: [LawReply] {
        let plain = LawReply()
        var results: [LawReply] = []
        func add(_ change: (inout LawReply) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { results.append(copy) }
        }
        add { $0 = plain }
        add { $0.headers = [:] }
        add { $0.status = 200 }
        add { $0.failure = nil }
        add { $0.delay = .zero }
        if headers[.contentType] != "application/json" { add { $0.body = plain.body } }
        for index in headers.indices {
            add { $0.headers = HTTPHeaders($0.headers.enumerated().filter { $0.offset != index }.map(\.element)) }
        }
        if case .awaitedStream(let chunks) = body {
            add { $0.body = .stream(chunks) }
            add { $0.body = .awaitedStream(["a", "b"]) }
        }
        return results
    }
}

extension LawExchange {
    /// Takes over the parts of an author's sample to which a filter may react. `onlyFields` keeps URLs, methods and
    /// bodies, for laws that compare them.
    mutating func resemble(_ sample: LawExchange, onlyFields: Bool) {
        let plain = LawExchange()
        for field in sample.headers where !headers.contains(field.name) {
            headers.add(field.name, field.value, sensitive: field.isSensitive)
        }
        for tag in sample.tags {
            tags.removeAll { $0.name == tag.name }
            tags.append(tag)
        }
        if !onlyFields {
            if sample.method != plain.method || sample.body != .none {
                (method, body) = (sample.method, sample.body)
                if cancellation == .whileReading { cancellation = nil }
            }
            if sample.url != plain.url { url = sample.url }
            isStrict = isStrict || sample.isStrict
            isSaved = isSaved || sample.isSaved && !isStreamed
        }
        defer {
            // Without the filter, this body can't be sent again.
            let isSentAgain = isRepeated || replies.contains(where: \.isRedirect)
            if isSentAgain, case .stream(_, false, _) = body { body = .text(body.text) }
        }
        if sample.replies == plain.replies { return }
        for index in replies.indices where replies[index].failure == nil && !replies[index].isRedirect {
            replies[index].resemble(sample.reply(to: index + 1), isStreamed: isStreamed, onlyFields: onlyFields)
        }
    }

    /// Adds a reply after which filters repeat a request.
    mutating func fail(_ random: inout LawRandom) {
        (isRefused, isDropped, cancellation, deadline) = (false, false, nil, nil)
        if case .stream(_, false, _) = body { body = .text("law") }
        let failed = LawReply(random.pick([202, 401, 408, 425, 429, 500, 502, 503, 503, 503, 504]))
        replies = [failed, LawReply(body: isStreamed ? .stream(["law"]) : .text("law"))]
        if method == .head || method == .options { method = .get }
    }

    mutating func redirect(_ random: inout LawRandom) {
        let origin = random.pick([LawVocabulary.origin, LawVocabulary.foreignOrigins[0]])
        let location: HTTPHeaders = [.location: "\(origin)/v1/there"]
        replies = [LawReply(method == .get ? random.pick([302, 307]) : 307, headers: location), LawReply()]
        if case .stream(_, false, _) = body { body = .text("law") }
    }
}
