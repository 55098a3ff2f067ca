import Errand
import ErrandCompression
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

@Suite("Parameters and signatures of compressed bodies", .endsInTime, .leakChecked)
struct CompressedParameterTests {
    /// Echoes each body in the coding it came in; the transport decodes it.
    private static func echo() throws -> TestServer {
        try TestServer { request in
            let response = TestResponse.data(request.body)
            return request.headers[.contentEncoding].map { response.header(.contentEncoding, $0) } ?? response
        }
    }

    private static let long = String(repeating: "line ", count: 400)
    private static let signer = Signer(key: "key", timestamp: nil)

    /// Returns the form or JSON that a server reads from a body, with its content coding removed.
    private func read(_ body: RequestBody, _ filters: [any Filter]) async throws -> (text: String, head: HTTPHeaders) {
        let server = try Self.echo()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: filters)
        let data = try await agent.send(Call<Data>(.post, "a", body: body)).value
        let request = try #require(server.received.last)
        #expect(request.headers[.contentLength].map { Int($0) == request.body.count } ?? request.isChunked)
        return (String(decoding: data, as: UTF8.self), request.headers)
    }

    private func orders(_ filters: [any Filter]) -> [[any Filter]] {
        if filters.count < 2 { return [filters] }
        return filters.indices.flatMap { index in
            var rest = filters
            let first = rest.remove(at: index)
            return orders(rest).map { [first] + $0 }
        }
    }

    @Test(
        "common parameters and a signature are added to compressed forms and JSON, in any order of the filters",
        arguments: [ContentCompression.gzip, .zstd])
    func anyOrder(compression: ContentCompression) async throws {
        try #require(compression.isAvailable)
        for filters in orders([.bodyCompression(compression), .body(["app": "shop"]), .body(signedBy: Self.signer)]) {
            let explanations = filters.map(\.explanation)
            let signature = explanations.firstIndex { $0.contains("sign") } ?? 0
            // A signature before the parameters doesn't cover them.
            if signature < (explanations.firstIndex { $0.contains("\"body\"") } ?? 0) { continue }
            let plain = filters.filter { !($0 is BodyCompressionFilter) }
            let json = RequestBody.json(["text": Self.long])
            for body in [RequestBody.form(["text": .string(Self.long)]), json] {
                let (text, head) = try await read(body, filters)
                #expect(head[.contentEncoding] == compression.description, "\(explanations)")
                #expect(text.contains("shop") && text.contains("sign"), "\(explanations): \(text.suffix(120))")
                #expect(try await text == read(body, plain).text)
            }
            let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub, filters: filters)
            #expect(agent.explain(Call<Void>(.post, "a")).problems.isEmpty, "\(explanations)")
        }
    }

    @Test("a signature in the URL or a header covers the parameters of a compressed form")
    func covered() async throws {
        let compressing: any Filter = .bodyCompression(.gzip)
        let body = RequestBody.form(["text": .string(Self.long)])
        let server = try Self.echo()
        func signature(_ filters: [any Filter]) async throws -> (url: String?, header: String?) {
            let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: filters)
            try await agent.send(Call<Void>(.post, "a", body: body))
            let request = try #require(server.received.last)
            return (request.target.split(separator: "sign=").last.map(String.init), request.headers["X-Sign"])
        }
        let inURL: any Filter = .urls(.sign(Self.signer))
        let inHeader: any Filter = .headers(signedBy: Signer(key: "key", signature: "X-Sign", timestamp: nil))
        let (url, header) = (try await signature([inURL]).url, try await signature([inHeader]).header)
        #expect(url?.count == 64 && header?.count == 64)
        for filters in orders([compressing, inURL]) { #expect(try await signature(filters).url == url) }
        for filters in orders([compressing, inHeader]) { #expect(try await signature(filters).header == header) }
    }

    @Test("a signature of the whole request covers the bytes that are sent if it follows the compression")
    func whole() async throws {
        let server = try Self.echo()
        let seen = Mutex<Data?>(nil)
        let signer = Signer(key: "key", signature: "X-Sign", timestamp: nil) { try $0.wholeRequest() }
        let looking = ClosureFilter { exchange, next in
            seen.withLock { $0 = exchange.http.body.data }
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [.bodyCompression(.gzip), looking, .headers(signedBy: signer)])
        try await agent.send(Call<Void>(.post, "a", body: .form(["text": .string(Self.long)])))
        let request = try #require(server.received.last)
        #expect(seen.withLock { $0 } == request.body && request.headers["X-Sign"]?.count == 64)
    }

    @Test("a large form, which is compressed while it is sent, gets the parameters as well")
    func large() async throws {
        let text = String(repeating: "0123456789", count: 150_000)
        for filters in orders([.bodyCompression(.gzip), .body(["app": "shop"])]) {
            let (form, head) = try await read(.form(["text": .string(text)]), filters)
            #expect(head[.contentEncoding] == "gzip" && form.hasSuffix("&app=shop") && form.count == text.count + 14)
        }
    }

    @Test("a server that refuses the coding gets the parameters and the signature in the plain body")
    func refused() async throws {
        let server = try TestServer { request in
            if request.headers[.contentEncoding] == nil { return .data(request.body) }
            return TestResponse.status(415).header("Accept-Encoding", "identity")
        }
        for filters in orders([.bodyCompression(.gzip), .body(["app": "shop"]), .body(signedBy: Self.signer)]) {
            let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: filters)
            let text = try await agent.send(
                Call<String>(.post, "a", body: .form(["text": .string(Self.long)]))
            ).value
            #expect(text.contains("app=shop") && text.contains("sign="))
        }
    }

    @Test("parameters and signatures aren't added to a body that already has a coding, and a note reports that")
    func foreign() async throws {
        let recording = RecordingAccessory()
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [.body(["app": "shop"]), .body(signedBy: Self.signer)], accessories: [recording])
        let coded = RequestBody.data(Data([1, 2, 3]), contentType: "application/x-www-form-urlencoded")
        try await agent.send(Call<Void>(.post, "a", body: coded) { $0.headers[.contentEncoding] = "br" })
        #expect(stub.received.last?.body.data == Data([1, 2, 3]))
        let notes = recording.records().compactMap { record in
            if case .note(let note) = record.event { note.message } else { nil }
        }
        #expect(notes.count == 2 && notes.allSatisfy { $0.contains("content coding") })
    }
}
