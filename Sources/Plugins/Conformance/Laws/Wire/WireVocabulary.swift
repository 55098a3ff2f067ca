import Errand

extension WireExchange {
    private static let segments = LawVocabulary.segments + ["", "a.b", "a%2fb", "%7E"]
    private static let values =
        LawVocabulary.values + ["", "A", "a\tb", "\u{E4}\u{20AC}", "\"", "a=b; c", "=?utf-8?q?a?=", ",", "a,,b"]
    private static let statuses =
        LawVocabulary.statuses.filter { $0 != 205 } + [200, 200, 200, 301, 302, 303, 307, 308]
    private static let texts = LawVocabulary.texts + ["HTTP/1.1 200 OK\r\n\r\n", "\u{FEFF}a\r\n", "0\r\n\r\n"]

    // MARK: Requests

    static func upload(_ random: inout LawRandom) -> [WireExchange] {
        var exchange = WireExchange()
        exchange.method = random.pick([
            .get, .get, .head, .post, .post, .put, .patch, .delete, .options, "REPORT", "report", "M-SEARCH",
        ])
        exchange.target = randomTarget(&random)
        exchange.headers = randomHeaders(&random)
        if ![.get, .head].contains(exchange.method) { exchange.body = randomBody(&random) }
        exchange.isStreamed = random.isTrue(0.3)
        return [exchange]
    }

    private static func randomTarget(_ random: inout LawRandom) -> String {
        let path = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.pick(segments) }
        let items = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            random.pick(LawVocabulary.queryItems.filter { !$0.contains("[") })
        }
        return "/a/" + path.joined(separator: "/") + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func randomHeaders(_ random: inout LawRandom) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            headers.add(random.pick(LawVocabulary.foreignNames), random.pick(values))
        }
        let names: [HTTPHeaderName] = [
            .accept, .acceptLanguage, .userAgent, .authorization, .cookie, .cacheControl, .ifNoneMatch, .range,
            .contentType, "Referer", "Prefer", "Origin", "DNT", .acceptEncoding, .ifModifiedSince,
        ]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let name = random.pick(names)
            if !headers.contains(name) { headers.add(name, random.pick(["law/1", "a, b", "a;q=0.5", "\"1\""])) }
        }
        return headers
    }

    private static func randomBody(_ random: inout LawRandom) -> WireBody {
        let count = random.pick([0, 1, 2, 5, 1_000, 16_384, 70_000, 300_000])
        let sizes = random.pick([[count], [1, count], [count, 0, 3], [10, count, 1], []])
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .none
        case 1: return .data(count)
        case 2: return .file(max(1, count))
        case 3: return .stream([7, count], isKnown: true, isReplayable: random.isTrue())
        default: return .stream(sizes, isReplayable: random.isTrue())
        }
    }

    // MARK: Responses

    static func download(_ random: inout LawRandom) -> [WireExchange] {
        var exchange = WireExchange()
        exchange.method = random.pick([.get, .get, .get, .get, .head, .post, .options])
        exchange.isStreamed = random.isTrue()
        exchange.reply = randomReply(&random)
        if exchange.method == .head { exchange.reply.body = .text("law") }
        if [204, 304].contains(exchange.reply.status) || exchange.method == .head { exchange.reply.framing = .length }
        return [exchange]
    }

    private static func randomReply(_ random: inout LawRandom) -> WireReply {
        var reply = WireReply(random.pick(statuses))
        reply.headers = randomFields(&random)
        if let (name, value) = companion(of: reply.status), random.isTrue(0.7) {
            var further = random.branch
            let other = name == .location ? Self.elsewhere : name == .retryAfter ? "3600" : value
            reply.headers.set(name, further.isTrue(0.3) ? other : value)
        }
        reply.body = randomContent(&random)
        if random.isTrue(0.15) { reply.informational = random.pick([[103], [100], [102, 103], [103, 103]]) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1: break
        case 2: reply.framing = .chunked(random.pick([[], [1], [2, 1, 100], [16, 5_000]]))
        default: reply.framing = .untilClose
        }
        if case .chunked = reply.framing, random.isTrue(0.3) { reply.trailers = ["X-Law-T": random.pick(["1", ""])] }
        if random.isTrue(0.3) { reply.pieces = random.pick([1, 2, 7, 100]) }
        if reply.body.data.count > 2_000, let pieces = reply.pieces, pieces < 100 { reply.pieces = 4_096 }
        return reply
    }

    /// Returns the field that makes a client act on a status.
    private static func companion(of status: Int) -> (HTTPHeaderName, String)? {
        switch status {
        case 301, 302, 303, 307, 308: (.location, "/b")
        case 401: (.wwwAuthenticate, "Basic realm=\"law\"")
        case 408, 425, 429, 503: (.retryAfter, "0")
        default: nil
        }
    }

    private static func randomFields(_ random: inout LawRandom) -> HTTPHeaders {
        var fields: [HTTPHeaders.Field] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            fields.append(.init(random.pick(LawVocabulary.foreignNames), random.pick(values)))
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let (name, value) = random.pick(LawVocabulary.responseFields)
            fields.append(.init(name, value))
        }
        if random.isTrue(0.15) { fields += [.init(.setCookie, "a=1"), .init(.setCookie, "b=2; Secure")] }
        if random.isTrue(0.2) { fields.append(.latin1("X-Law-L", random.pick(["\u{E4}", "caf\u{E9}", "\u{FF}a"]))) }
        if random.isTrue(0.2) { fields.append(.init(.location, random.pick(["/b", "", "http://[", "//x/"]))) }
        if random.isTrue(0.3) {
            fields.append(.init(.contentType, random.pick(["text/plain", "text/html;charset=x", ""])))
        }
        var further = random.branch
        if further.isTrue(0.1) {
            let (name, value) = further.pick(instructions)
            fields.append(.init(name, value))
        }
        if random.isTrue(0.05) { fields.append(.init("X-Law-Long", String(repeating: "a", count: 9_000))) }
        if random.isTrue(0.05) {
            for index in 0..<120 { fields.append(.init("X-Law-A", "\(index)")) }
        }
        return HTTPHeaders(fields)
    }

    /// A URL that no server listens to, so a client that follows it fails.
    private static let elsewhere = "http://127.0.0.1:1/b"

    /// Fields on which a browser acts by itself.
    private static let instructions: [(HTTPHeaderName, String)] = [
        ("Refresh", "0; url=/b"), ("Content-Location", elsewhere), ("Alt-Svc", "h2=\":1\"; ma=60"),
        ("Strict-Transport-Security", "max-age=60"), ("Clear-Site-Data", "\"*\""),
    ]

    private static func randomContent(_ random: inout LawRandom) -> WireContent {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .gzip
        case 1, 2: .bytes(random.pick([1, 2, 511, 512, 4_097, 16_384, 65_537]))
        case 3: .bytes(random.pick([300_001, 1_000_000]))
        case 4: .text("")
        default: .text(random.pick(texts))
        }
    }

    // MARK: Faults

    static func fault(_ random: inout LawRandom) -> [WireExchange] {
        var exchange = download(&random)[0]
        (exchange.reply.pieces, exchange.reply.informational) = (nil, random.isTrue(0.1) ? [103] : [])
        if random.isTrue(0.1) {
            exchange = WireExchange(.post)
            exchange.body = .failing(random.pick([[], [1], [1_000, 5], [100_000]]))
            return [exchange]
        }
        if random.isTrue(0.1) {
            exchange = upload(&random)[0]
            if exchange.body.count > 0 {
                exchange.reply.fault = .resetUpload(Int.random(in: 0..<exchange.body.count, using: &random))
            }
            return [exchange]
        }
        if case .bytes(let count) = exchange.reply.body, count > 100_000 { exchange.reply.body = .bytes(20_000) }
        if random.isTrue(0.2) {
            exchange.reply.fault = .malformed(random.pick(WireFault.Malformation.allCases))
            exchange.reply.status = 200
            if exchange.method == .head { exchange.method = .get }
            if exchange.reply.body.data.isEmpty || exchange.reply.body == .gzip { exchange.reply.body = .text("law") }
            exchange.reply.framing =
                switch exchange.reply.fault {
                case .malformed(.chunkSize), .malformed(.chunkEnd): .chunked([2])
                default: .length
                }
            return [exchange]
        }
        if random.isTrue(0.3) { exchange.makeResumable() }
        let image = WireImage(exchange)
        let isInHead = random.isTrue(0.4)
        let range = isInHead ? 0..<image.headEnd : image.headEnd..<(image.bytes.count + 1)
        let position = Int.random(in: range, using: &random)
        exchange.reply.fault = random.pick([.close(position), .reset(position), .stall(position)])
        return [exchange]
    }

    /// Adds the fields with which a client could resume a truncated body.
    mutating func makeResumable() {
        method = .get
        body = .none
        headers.remove(.range)
        if [204, 304].contains(reply.status) || reply.status >= 300 { reply.status = 200 }
        reply.headers.set(.acceptRanges, "bytes")
        reply.headers.set(.entityTag, "\"law\"")
        reply.headers.set(.lastModified, "Mon, 01 Jan 2001 00:00:00 GMT")
        if reply.body == .gzip || reply.body.data.count < 10 { reply.body = .bytes(5_000) }
    }

    static func withStop(_ random: inout LawRandom) -> WireExchange {
        var exchange = download(&random)[0]
        (exchange.method, exchange.reply.pieces) = (.get, nil)
        exchange.reply.informational = []
        if [204, 304].contains(exchange.reply.status) { exchange.reply.status = 200 }
        exchange.reply.body = .bytes(random.pick([100, 5_000, 70_000]))
        let image = WireImage(exchange)
        let end = image.completion.map { $0 - 1 } ?? image.bytes.count
        exchange.reply.fault = .stall(Int.random(in: 0..<end, using: &random))
        return exchange
    }

    func stopInBody(_ random: inout LawRandom) -> Int {
        let image = WireImage(self)
        let end = image.completion.map { $0 - 1 } ?? image.bytes.count
        return Int.random(in: (image.headEnd + 20)..<end, using: &random)
    }

    // MARK: Stories

    /// The exchanges' values or bytes could leak into the next one.
    static func story(_ random: inout LawRandom) -> [WireExchange] {
        var first = download(&random)[0]
        var second = download(&random)[0]
        second.target = random.isTrue() ? "/a" : "/b"
        second.isElsewhere = random.isTrue(0.2)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            first.headers = [.authorization: "Bearer law", .cookie: "law=1"]
            second.target = "/a"
        case 1:
            if random.isTrue(0.7) {
                (first.method, first.isStreamed, first.reply.status) = (.get, false, 200)
                if first.reply.body == .text("law") { first.reply.body = .text("first") }
            }
            first.reply.headers.add(.setCookie, "law=1; Path=/")
            first.reply.headers.add(.entityTag, "\"law\"")
            first.reply.headers.set(.cacheControl, "max-age=60")
            (second.method, second.target) = (first.method, "/a")
        case 2:
            first = fault(&random)[0]
        case 3:
            first = withStop(&random)
            first.isCancelled = true
        default:
            first.reply.fault = .malformed(.excess)
            first.reply.framing = .length
            if first.method == .head { first.method = .get }
            if [204, 304].contains(first.reply.status) { first.reply.status = 200 }
        }
        return random.isTrue(0.3) ? [first, first, second] : [first, second]
    }
}
