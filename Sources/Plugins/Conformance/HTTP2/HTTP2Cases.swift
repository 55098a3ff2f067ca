public import Errand
import ErrandEssentials
import ErrandTesting

extension TransportConformance {
    /// Returns the cases for a transport that uses HTTP/2 (RFC 9113).
    ///
    /// ```swift
    /// TransportConformance.http2Cases(for: { MyTransport() }, through: { port in try MyRelay(to: port) })
    /// ```
    ///
    /// The server of these cases speaks HTTP/2 without TLS, and expects that the client knows this beforehand. If your
    /// transport negotiates HTTP/2 with TLS, pass a relay that accepts TLS, selects the protocol `h2`, and passes on
    /// bytes.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport that trusts the relay.
    ///   - relay: Creates a relay to the server at this port of 127.0.0.1. Defaults to `nil`, for transports that use
    ///     HTTP/2 without TLS.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func http2Cases(
        for make: @escaping @Sendable () throws -> any Transport,
        through relay: (@Sendable (_ port: Int) throws -> any WireRelay)? = nil,
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        let cases = HTTP2Cases.all.map { draft in
            ConformanceCase(name: draft.name, feature: .http2, limitation: nil, limit: limit) {
                try await HTTP2Scene.play(make, relay, draft)
            }
        }
        return excused(cases, limitations, limit)
    }
}

enum HTTP2Cases {
    typealias Step = HTTP2Peer.Step

    struct Draft: Sendable {
        let name: String
        let settings: HTTP2Peer.Settings
        let react: HTTP2Peer.React
        let body: @Sendable (HTTP2Scene) async throws -> Void

        init(
            _ name: String, settings: HTTP2Peer.Settings = HTTP2Peer.Settings(),
            react: @escaping HTTP2Peer.React = { _ in nil },
            _ body: @escaping @Sendable (HTTP2Scene) async throws -> Void
        ) {
            (self.name, self.settings, self.react, self.body) = (name, settings, react, body)
        }
    }

    static let all: [Draft] = requests + responses + endings + company

    private static let status = HTTP2Field(":status", "200")

    // MARK: Requests

    private static let requests: [Draft] = [
        Draft("an HTTP/2 request has pseudo-header fields and lowercase names") { scene in
            let headers: HTTPHeaders = [
                "X-Upper": "A", "X-Two": "1", "X-Two": "2", .cookie: "a=1; b=2; c=3", "X-Empty": "",
                .userAgent: "Conformance/1",
            ]
            for (method, target) in [(.get, "/a%2Fb?c=d&e="), (.delete, "/"), ("REPORT", "/a")]
                as [(HTTPMethod, String)]
            {
                _ = try await scene.exchange(method, target, headers: headers)
                guard let came = scene.peer.state.read({ $0.requests.last }) else { continue }
                try scene.bench.equal(came.method, method.rawValue, ":method")
                try scene.bench.equal(came.path, target, ":path")
                let hosts = came.values(of: ":authority") + came.values(of: "host")
                try scene.bench.equal(Set(hosts), [scene.authority], ":authority")
                for name in ["X-Upper", "X-Empty", .userAgent] as [HTTPHeaderName] {
                    try scene.bench.equal(
                        came.values(of: name.rawName.lowercased()), headers.values(of: name), "\(name)")
                }
                let two = came.values(of: "x-two").joined(separator: ",").filter { $0 != " " }
                try scene.bench.equal(two, "1,2", "X-Two")
                // Cookie is split for compression (RFC 9113, section 8.2.3).
                try scene.bench.equal(came.values(of: "cookie").joined(separator: "; "), "a=1; b=2; c=3", "Cookie")
            }
        },
        Draft("the fields of a connection aren't sent over HTTP/2") { scene in
            let fields: [HTTPHeaders] = [
                [.connection: "keep-alive"], ["Keep-Alive": "timeout=5"], [.upgrade: "a"], [.te: "gzip"],
                ["Proxy-Connection": "keep-alive"],
            ]
            for headers in fields {
                _ = try await scene.bench.receivedOrFailure(of: "a field of a connection") {
                    try await scene.exchange(.get, "/a", headers: headers)
                }
            }
            try await scene.expectWorking(after: "fields of a connection")
        },
        Draft("long fields of a request arrive over HTTP/2") { scene in
            let value = String(repeating: "v", count: 20_000)
            for _ in 0..<2 { _ = try await scene.exchange(.get, "/long", headers: ["X-Long": value, "X-Short": "1"]) }
            for came in scene.peer.requests("/long") {
                try scene.bench.equal(came.values(of: "x-long").first?.count, 20_000, "the length of X-Long")
                try scene.bench.equal(came.values(of: "x-short"), ["1"], "X-Short")
            }
        },
        Draft(
            "a request body keeps within the server's window", settings: HTTP2Peer.Settings(initialWindow: 1_000)
        ) { scene in
            try await upload(scene) { .data($0) }
        },
        Draft(
            "a streamed request body is sent over HTTP/2, within the server's window",
            settings: HTTP2Peer.Settings(initialWindow: 1_000)
        ) { scene in
            try await upload(scene) { body in
                .stream { HTTPBody(source: PiecesSource(body, [7, 10_000, 9_993])) }
            }
        },
        Draft(
            "there are no more concurrent streams than the server permits",
            settings: HTTP2Peer.Settings(maximumStreams: 2), react: { _ in [.ping] + Step.text("ok") }
        ) { scene in
            try await scene.expectWorking(after: "no request")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 { group.addTask { try await scene.expectWorking(after: "a limit of two streams") } }
                try await group.waitForAll()
            }
        },
    ]

    private static func upload(_ scene: HTTP2Scene, _ make: (Data) -> RequestBody) async throws {
        // The server's settings are known after a response.
        try await scene.expectWorking(after: "no request")
        let body = ConformanceBench.pattern(20_000)
        _ = try await scene.exchange(.put, "/up", body: make(body))
        let came = scene.peer.requests("/up")
        try scene.bench.equal(came.count, 1, "requests at the server")
        for each in came { try scene.bench.equal(each.body, body, "the body that the server received") }
    }

    // MARK: Responses

    private static let whole = ConformanceBench.pattern(40_000)

    private static let responses: [Draft] = [
        Draft(
            "an HTTP/2 response is returned with its fields, its body and its end",
            react: { request in
                let long = HTTP2Field("x-long", String(repeating: "l", count: 20_000))
                let head = [
                    status, HTTP2Field("set-cookie", "a=1"), HTTP2Field("x-two", "1"), HTTP2Field("x-empty", ""),
                    HTTP2Field("set-cookie", "b=2"), HTTP2Field("x-two", "2"), long,
                ]
                let rest = Data(whole.dropFirst(20))
                switch request.path {
                case "/head": return [.fields(head, ends: true)]
                case "/data":
                    let unknown = Step.frame(0x42, flags: 0xFF, [1, 2, 3])
                    let padded = Step.data(whole.prefix(20), padding: 9)
                    return [.fields(head), unknown, .data(Data()), padded, .ping, .data(rest, ends: true)]
                case "/empty": return [.fields(head), .data(whole), .data(Data(), ends: true)]
                default: return nil
                }
            }
        ) { scene in
            for (path, body) in [("/head", Data()), ("/data", whole), ("/empty", whole)] {
                for delivery in FramingCases.deliveries {
                    let came = try await scene.exchange(.get, path, delivery: delivery)
                    try scene.bench.equal(came.status, 200, "the status")
                    try scene.bench.equal(came.data, body, "the body of \(path), as \(delivery)")
                    try scene.bench.equal(came.headers.values(of: .setCookie), ["a=1", "b=2"], "Set-Cookie")
                    try scene.bench.equal(came.headers["X-Two"]?.filter { $0 != " " }, "1,2", "X-Two")
                    try scene.bench.equal(came.headers["X-Empty"], "", "X-Empty")
                    try scene.bench.equal(came.headers["x-long"]?.count, 20_000, "the length of X-Long")
                    let pseudo = came.headers.first { $0.name.rawName.hasPrefix(":") }
                    try scene.bench.equal(pseudo?.name.rawName, nil, "a pseudo-header field among the fields")
                }
            }
        },
        Draft(
            "HTTP/2 responses to HEAD and with 204, 304 and 421 end as they should",
            react: { request in
                let status = HTTP2Field(":status", String(request.path.dropFirst()))
                if request.path == "/421" { return [.fields([status]), .data(Data("other".utf8), ends: true)] }
                let length = HTTP2Field("content-length", "5000")
                return [.fields(request.path == "/204" ? [status] : [status, length], ends: true)]
            }
        ) { scene in
            for (method, status) in [(.head, 200), (.get, 204), (.get, 304)] as [(HTTPMethod, Int)] {
                for delivery in FramingCases.deliveries {
                    let came = try await scene.exchange(method, "/\(status)", delivery: delivery)
                    try scene.bench.equal(came.status, status, "the status")
                    try scene.bench.equal(came.data.count, 0, "bytes of the body of \(status)")
                    let length = status == 204 ? nil : "5000"
                    try scene.bench.equal(came.headers[.contentLength], length, "Content-Length")
                }
            }
            let misdirected = try await scene.exchange(.get, "/421")
            try scene.bench.equal(misdirected.status, 421, "the status")
            try scene.bench.equal(misdirected.text, "other", "the body of 421")
        },
        Draft(
            "1xx responses and trailers of HTTP/2 are reported",
            react: { _ in
                [
                    .fields([HTTP2Field(":status", "103"), HTTP2Field("link", "</a>")]),
                    .fields([HTTP2Field(":status", "103"), HTTP2Field("link", "</b>")]),
                    .fields([status]), .data(Data("body".utf8)), .fields([HTTP2Field("x-sum", "7")], ends: true),
                ]
            }
        ) { scene in
            for delivery in FramingCases.deliveries {
                let recording = RecordingAccessory()
                let came = try await scene.bench.viaAgent(
                    scene.request(.get, "/a"), delivery: delivery, accessories: [recording])
                try scene.bench.equal(came.status, 200, "the status")
                try scene.bench.equal(came.data, Data("body".utf8), "the body")
                try scene.bench.equal(came.headers[.link], nil, "Link of the final response")
                try scene.bench.equal(came.headers["X-Sum"], nil, "the trailer, not among the fields")
                if delivery == .stream { continue }
                try await recording.waitUntilQuiet()
                var (links, sums): ([String?], [String?]) = ([], [])
                for record in recording.records() {
                    guard case .transport(let event) = record.event else { continue }
                    if case .informational(_, let fields) = event { links.append(fields[.link]) }
                    if case .trailers(let fields) = event { sums.append(fields["X-Sum"]) }
                }
                try scene.bench.equal(links, ["</a>", "</b>"], "Link of the 1xx responses")
                try scene.bench.equal(sums, ["7"], "the trailer")
            }
        },
    ]

    // MARK: Ends

    private static let malformed: [String: [Step]] = [
        "/name": [.fields([status, HTTP2Field("X-Upper", "1")], ends: true)],
        "/none": [.fields([HTTP2Field("x-a", "1")], ends: true)],
        "/statuses": [.fields([status, status], ends: true)],
        "/late": [.fields([HTTP2Field("x-a", "1"), status], ends: true)],
        "/connection": [.fields([status, HTTP2Field("connection", "close")]), .data(Data("ok".utf8), ends: true)],
        "/short": [.fields([status, HTTP2Field("content-length", "9")]), .data(Data("ok".utf8), ends: true)],
        "/long": [.fields([status, HTTP2Field("content-length", "1")]), .data(Data("ok".utf8), ends: true)],
        "/head": [.data(Data("ok".utf8), ends: true)],
        "/block": [.block([0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], ends: true)],
    ]

    private static let endings: [Draft] = [
        Draft("an HTTP/2 response that is malformed is an error", react: { malformed[$0.path] }) { scene in
            for path in malformed.keys.sorted() {
                for delivery in FramingCases.deliveries {
                    let error = try await scene.bench.failure(of: "the response to \(path)") {
                        try await scene.bench.viaAgent(scene.request(.post, path), delivery: delivery)
                    }
                    try scene.bench.expectNotOwn(error, "an error of the response")
                }
                try scene.bench.equal(scene.peer.requests(path).count, 2, "requests at the server")
                try await scene.expectWorking(after: "a malformed response")
            }
        },
        early("a complete HTTP/2 response counts, even if its stream is reset with NO_ERROR", body: .none),
        early(
            "a complete HTTP/2 response counts, even if the server doesn't read the request's body",
            body: .data(ConformanceBench.pattern(3_000))),
        Draft(
            "an HTTP/2 body that ends early is an error, and other streams continue",
            react: { request in
                let half: [Step] = [.fields([status]), .data(Data("half".utf8))]
                switch request.path {
                case "/held": return half + [.hold, .data(Data("whole".utf8), ends: true)]
                case "/reset": return half + [.ping, .reset(.internalError)]
                case "/close": return half + [.ping, .close]
                default: return nil
                }
            }
        ) { scene in
            let held = try await scene.stream("/held")
            for delivery in FramingCases.deliveries {
                try await scene.bench.failure(of: "a stream that is reset") {
                    try await scene.bench.viaAgent(scene.request(.get, "/reset"), delivery: delivery)
                }
            }
            try await scene.expectRelease(of: held)
            for delivery in FramingCases.deliveries {
                try await scene.bench.failure(of: "a connection that closes") {
                    try await scene.bench.viaAgent(scene.request(.get, "/close"), delivery: delivery)
                }
            }
            try await scene.expectWorking(after: "a connection that closed")
        },
        Draft(
            "an HTTP/2 body that ends early is an error, even with NO_ERROR",
            react: { request in
                guard request.path == "/none" else { return nil }
                return [.fields([status]), .data(Data("half".utf8)), .ping, .reset(.noError)]
            }
        ) { scene in
            for delivery in FramingCases.deliveries {
                try await scene.bench.failure(of: "a stream that is reset before its end") {
                    try await scene.bench.viaAgent(scene.request(.get, "/none"), delivery: delivery)
                }
            }
            try await scene.expectWorking(after: "streams that were reset")
        },
        Draft(
            "a request whose HTTP/2 stream was refused is sent again unchanged, or fails",
            react: { request in
                switch request.path {
                case "/refused": [.reset(.refusedStream)]
                case "/away": [.goAway(excludesStream: true), .close]
                default: nil
                }
            }
        ) { scene in
            let body = ConformanceBench.pattern(3_000)
            for path in ["/refused", "/away"] {
                for (method, count) in [(.get, 0), (.post, 3_000)] as [(HTTPMethod, Int)] {
                    let before = scene.peer.requests(path).count
                    let error = try await scene.bench.failure(of: "a refused stream") {
                        try await scene.exchange(method, path, body: count == 0 ? .none : .data(body))
                    }
                    try scene.bench.expectNotOwn(error, "an error of the connection")
                    let came = scene.peer.requests(path).dropFirst(before)
                    try scene.bench.expect(came.count <= 10, "at most 10 attempts", came: "\(came.count)")
                    for each in came { try scene.bench.equal(each.body, body.prefix(count), "the body") }
                }
            }
            try await scene.expectWorking(after: "refused streams")
        },
        Draft(
            "a POST that the server may have processed is sent once over HTTP/2",
            react: { request in
                switch request.path {
                case "/reset": [.reset(.internalError)]
                case "/cancel": [.reset(.cancel)]
                case "/away": [.goAway(), .close]
                case "/error": [.goAway(.internalError), .close]
                case "/close": [.close]
                default: nil
                }
            }
        ) { scene in
            for path in ["/reset", "/cancel", "/away", "/error", "/close"] {
                try await scene.expectWorking(after: "no POST, or a POST that failed")
                try await scene.bench.failure(of: "the end of the stream of \(path)") {
                    try await scene.exchange(.post, path, body: .text("payload"))
                }
                try scene.bench.equal(scene.peer.requests(path).count, 1, "requests at the server for \(path)")
            }
        },
        Draft(
            "a response that GOAWAY interrupts arrives, and the next request uses another connection",
            react: { request in
                guard request.path == "/last" else { return nil }
                return [
                    .fields([status]), .data(Data("la".utf8)), .goAway(), .ping, .data(Data("st".utf8), ends: true),
                ]
            }
        ) { scene in
            for delivery in FramingCases.deliveries {
                try scene.bench.equal(
                    try await scene.exchange(.get, "/last", delivery: delivery).text, "last", "the body")
                try await scene.expectWorking(after: "GOAWAY")
            }
            let connections = scene.peer.state.read { $0.requests.map(\.connection) }
            try scene.bench.expect(
                connections[1] > connections[0], "another connection after GOAWAY", came: "\(connections)")
        },
    ]

    /// A response that is complete before the server has read the request's body.
    private static func early(_ name: String, body: RequestBody) -> Draft {
        Draft(
            name, settings: HTTP2Peer.Settings(reactsToHead: true),
            react: { $0.path == "/early" ? Step.text("early") + [.reset(.noError)] : nil }
        ) { scene in
            for delivery in FramingCases.deliveries {
                let came = try await scene.exchange(.post, "/early", body: body, delivery: delivery)
                try scene.bench.equal(came.status, 200, "the status")
                try scene.bench.equal(came.text, "early", "the body")
            }
            try await scene.expectWorking(after: "streams that were reset")
        }
    }

    // MARK: Company

    private static let long = ConformanceBench.pattern(1 << 20)

    private static func react(_ request: HTTP2Peer.Request) -> [Step]? {
        switch request.path {
        case "/held": [.fields([status]), .data(Data("half".utf8)), .hold, .data(Data("whole".utf8), ends: true)]
        case "/half": [.fields([status]), .data(Data("half".utf8)), .hold]
        case "/silent": [.hold]
        case "/long": [.fields([status]), .data(long, ends: true)]
        default: nil
        }
    }

    private static let company: [Draft] = [
        Draft("a cancellation or a timeout ends only its own HTTP/2 stream", react: { react($0) }) { scene in
            let held = try await scene.stream("/held")
            for path in ["/silent", "/half"] {
                let task = Task { try await scene.exchange(.get, path) }
                try await scene.arrival(of: path)
                task.cancel()
                try await scene.bench.failure(of: "a cancelled request", .cancelled) { try await task.value }
            }
            var dropped: HTTPResponse? = try await scene.stream("/half")
            dropped?.body.cancel()
            dropped = nil
            try await scene.bench.failure(of: "silence", .timedOut) {
                let options = TransportOptions(timeout: .milliseconds(200))
                let response = try await scene.send(scene.request(.get, "/silent"), options: options)
                return ConformanceBench.Received(status: response.status, headers: [:], data: Data())
            }
            try await scene.expectRelease(of: held)
            _ = try await scene.peer.state.wait(for: "the end of four streams", within: .seconds(8)) { state in
                state.abandoned.count >= 4 ? true : nil
            }
        },
        Draft("an HTTP/2 body that isn't read to its end doesn't stall later requests", react: { react($0) }) { scene in
            for index in 0..<30 {
                let response = try await scene.stream("/long")
                var iterator = response.body.makeAsyncIterator()
                if index % 3 > 0 { _ = try await iterator.nextPromptly() }
                if index % 3 > 1 { response.body.cancel() }
            }
            let came = try await scene.exchange(.get, "/long").data
            try scene.bench.equal(came, long, "the body after bodies that weren't read to their end")
        },
        Draft("a slow reader doesn't stall other HTTP/2 streams", react: { react($0) }) { scene in
            let slow = try await scene.stream("/long")
            var iterator = slow.body.makeAsyncIterator()
            var body = try await iterator.nextPromptly() ?? Data()
            for _ in 0..<3 {
                try scene.bench.equal(try await scene.exchange(.get, "/long").data, long, "the body of another stream")
            }
            while let chunk = try await iterator.nextPromptly() { body.append(chunk) }
            try scene.bench.equal(body, long, "the body of the slow reader")
        },
        Draft("concurrent HTTP/2 requests each get their own response", react: { react($0) ?? Step.text($0.path) }) {
            scene in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        if index % 10 == 0 {
                            return try scene.bench.equal(
                                try await scene.exchange(.get, "/long").data, long, "the body")
                        }
                        try scene.bench.equal(try await scene.exchange(.get, "/\(index)").text, "/\(index)", "the body")
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}

extension HTTP2Scene {
    /// Expects that a stream which the server holds can still be read.
    fileprivate func expectRelease(of held: HTTPResponse) async throws {
        _ = try await exchange(.get, "/release")
        let data: Data
        do { data = try await held.body.collect(upTo: 100) } catch {
            throw ConformanceFailure(expected: "the rest of another stream", came: "\(error)")
        }
        try bench.equal(data, Data("halfwhole".utf8), "the body of another stream")
    }
}
