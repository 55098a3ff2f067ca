import Errand
import ErrandAuthentication
import ErrandCache
import ErrandEssentials
import ErrandKeys
import ErrandLoadingIndicatorLog
import ErrandMessageSyntax
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandSigning

@Suite("Signing requests on the wire", .endsInTime, .leakChecked) struct SigningFilterTests {
    private static let secret = "canary-of-the-shared-secret"

    private static func signer(_ keyID: String = "app") throws -> HTTPMessageSigner {
        try HTTPMessageSigner(key: HMACKey(secret.utf8), keyID: keyID)
    }

    private static func verifier(_ components: [SignatureComponent] = [.method, .targetURI]) -> HTTPMessageVerifier {
        let key = VerificationKey(HMACKey(secret.utf8))
        return HTTPMessageVerifier(
            keys: ["app": key, "other": key], requirements: SignatureRequirements(covering: components))
    }

    @Test("a server receives the signed request: method, URL, fields and body") func wire()
        async throws
    {
        let server = try TestServer { _ in .status(200) }
        let time = ManualTimeSource()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.signing(try Self.signer())], time: time)
        let calls: [Call<Void>] = [
            Call(.get, "a/b%20c?x=1&y=%C3%BC+z"),
            Call(.post, "form", body: .form(["a": "1"])), Call(.put, "json", body: .json(["a": 1])),
            Call(.delete, "", body: .none),
        ]
        for call in calls {
            try await agent.send(call)
            let received = try await server.nextRequest()
            let url = try #require(URL(string: server.url.trimmingSuffix("/") + received.target))
            let body: RequestBody = received.body.isEmpty ? .none : .data(received.body, contentType: nil)
            var seen = HTTPRequest(received.method, url, headers: received.headers, body: body)
            seen.headers.remove(.host)
            let verified = try await Self.verifier().verify(SignableMessage(seen), at: time.date)
            #expect(verified[0].input.created == Date(timeIntervalSince1970: 1_000_000_000))
            #expect(verified[0].input.components.contains("content-digest") == !received.body.isEmpty)
        }
    }

    @Test("each attempt and each hop is signed again, with its own date and nonce") func attempts() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { request in
            time.advance(by: .seconds(60))
            switch request.url.path {
            case "/moved": return .redirect(to: "/target", status: 307)
            default: return .status(request.headers["X-Attempt"] == nil ? 200 : 503)
            }
        }
        let again = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(stub, time: time, again, .signing(try Self.signer()))
        try await agent.send(Call<Void>(.post, "moved", body: .text("x")))
        #expect(stub.received.map(\.url.path) == ["/moved", "/target", "/moved", "/target"])
        var nonces: Set<String> = []
        for (index, request) in stub.received.enumerated() {
            let date = Date(timeIntervalSince1970: 1_000_000_000 + Double(index) * 60)
            let input = try #require(try await Self.verifier().verify(SignableMessage(request), at: date).first?.input)
            #expect(input.created == date)
            nonces.insert(try #require(input.nonce))
        }
        #expect(nonces.count == 4)
    }

    @Test("a request to another origin isn't signed, or isn't sent") func origins() async throws {
        let stub = StubTransport { request in
            request.url.path == "/go" ? .redirect(to: "https://elsewhere.example.com/", status: 307) : .status(200)
        }
        let unsigned = NetworkAgent(stub, .signing(try Self.signer()))
        try await unsigned.send(Call<Void>(.get, "go"))
        #expect(stub.received.map { $0.headers.contains(.signature) } == [true, false])
        let failing = NetworkAgent(stub, .signing(try Self.signer(), untrusted: .fails))
        #expect(await failure { try await failing.send(Call<Void>(.get, "go")) } == .untrustedOrigin)
        #expect(stub.received.count == 3)
        let listed = NetworkAgent(stub, .signing(try Self.signer(), origins: ["https://elsewhere.example.com"]))
        try await listed.send(Call<Void>(.get, "go"))
        #expect(stub.received.suffix(2).map { $0.headers.contains(.signature) } == [false, true])
        try await unsigned.send(Call<Void>(.get, "x"), options: CallOptions().signing(.off))
        #expect(stub.received.last?.headers.contains(.signature) == false)
    }

    @Test("a refusal with another date corrects the clock for its origin, for this and later requests")
    func skew() async throws {
        let time = ManualTimeSource()
        let refusals = Mutex(0)
        let stub = StubTransport { request in
            let now = time.date.addingTimeInterval(3600)
            do { _ = try await Self.verifier().verify(SignableMessage(request), at: now) } catch {
                refusals.withLock { $0 += 1 }
                return StubResponse(status: 401, headers: [.date: HTTPDate.format(now)])
            }
            return .status(200)
        }
        let agent = NetworkAgent(stub, time: time, .signing(try Self.signer()))
        for _ in 0..<3 { try await agent.send(Call<Void>(.post, "a", body: .text("x"))) }
        #expect(refusals.withLock { $0 } == 1)
        #expect(stub.received.count == 4)
        let fixed = NetworkAgent(stub, time: time, .signing(try Self.signer(), correctsClock: false))
        await #expect(throws: ErrandError.self) { try await fixed.send(Call<Void>(.get, "a")) }
        #expect(stub.received.count == 5)
    }

    @Test(
        "AWS: if the service's clock differs, its date signs the same body again, and all later requests",
        arguments: [-3600.0, 34_560_000.0], [false, true])
    func skewOfService(offset: Double, isChunked: Bool) async throws {
        let time = ManualTimeSource()
        let server = try TestServer { request in
            let now = time.date.addingTimeInterval(offset)
            let text = AWSTimestamp(now).text
            // AWS accepts a difference of fifteen minutes. This server accepts only the same minute.
            if request.headers["X-Amz-Date"]?.prefix(13) == text.prefix(13) { return .text(request.text) }
            return .text("<Error><Code>RequestTimeTooSkewed</Code></Error>", status: 403).header(
                .date, HTTPDate.format(now))
        }
        let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: Self.secret)
        let signer = AWSRequestSigner(
            region: "us-east-1", service: isChunked ? "s3" : "execute-api", credentials: credentials)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.signing(signer)], time: time)
        let body: RequestBody =
            isChunked
            ? .stream(length: 7) { HTTPBody(length: 7, source: Pieces(Data("payload".utf8), size: 3)) }
            : .text("payload")
        for count in [2, 3, 4] {
            let echo = try await agent.send(Call<String>(.put, "a", body: body)).value
            #expect(echo.contains("payload") && server.received.count == count)
        }
        let dates = server.received.compactMap { $0.headers["X-Amz-Date"] }
        #expect(dates.count == 4 && dates[0] != dates[1] && dates[1].prefix(13) == dates[3].prefix(13))
        #expect(Set(server.received.compactMap { $0.headers[.authorization] }).count >= 2)
    }

    @Test(
        "a refusal for another reason isn't repeated",
        arguments: [
            StubResponse(status: 401), StubResponse(status: 403, headers: [.date: "Sun, 09 Sep 2001 01:46:42 GMT"]),
            StubResponse(status: 401, headers: [.date: "Mon, 10 Sep 2001 01:46:42 GMT", .age: "10"]),
            StubResponse(status: 401, headers: [.date: "nonsense"]),
            StubResponse(status: 500, headers: [.date: "Mon, 10 Sep 2001 01:46:42 GMT"]),
            StubResponse(status: 401, headers: [.date: "Mon, 10 Sep 2301 01:46:42 GMT"]),
        ])
    func otherRefusals(response: StubResponse) async throws {
        let stub = StubTransport(response)
        let agent = NetworkAgent(stub, .signing(try Self.signer()))
        await #expect(throws: ErrandError.self) { try await agent.send(Call<Void>(.get, "a")) }
        #expect(stub.received.count == 1)
    }

    @Test(
        "if several requests are refused because of the clock, each of them is signed again",
        arguments: [-3600.0, 3600])
    func concurrentSkew(difference: Double) async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let stub = StubTransport { request in
            let now = time.date.addingTimeInterval(difference)
            let verified = try? await Self.verifier().verify(SignableMessage(request), at: now)
            if verified != nil { return .status(200) }
            try await gate.wait()
            return StubResponse(status: 401, headers: [.date: HTTPDate.format(now)])
        }
        let agent = NetworkAgent(stub, time: time, .signing(try Self.signer()))
        let tasks = (0..<5).map { _ in Task { try await agent.send(Call<Void>(.post, "a", body: .text("x"))) } }
        try await gate.reached(by: 5)
        time.advance(by: .seconds(2))
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(stub.received.count == 10)
    }

    @Test("a slow refusal isn't a difference of clocks after the clock was learned")
    func slowRefusal() async throws {
        let url = address("https://api.example.com/")
        let (clocks, start) = (ServerClocks(), Date(timeIntervalSince1970: 1_000_000_000))
        func refusal(_ date: Date) -> HTTPResponse {
            HTTPResponse(url: url, status: 401, headers: [.date: HTTPDate.format(date)])
        }
        #expect(clocks.learn(from: refusal(start + 3600), to: url, signedAt: start, now: start))
        let signed = clocks.date(of: url, now: start + 1)
        #expect(!clocks.learn(from: refusal(start + 3660), to: url, signedAt: signed, now: start + 60))
        #expect(clocks.learn(from: refusal(start + 3660), to: url, signedAt: start, now: start + 60))
    }

    @Test("a server that always refuses with another date gets only two requests") func endlessSkew() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { _ in
            time.advance(by: .seconds(100))
            return StubResponse(status: 401, headers: [.date: HTTPDate.format(time.date.addingTimeInterval(9000))])
        }
        var signer = try Self.signer()
        signer.streamedBody = .isUnsigned
        let agent = NetworkAgent(stub, time: time, .signing(signer))
        await #expect(throws: ErrandError.self) { try await agent.send(Call<Void>(.get, "a")) }
        #expect(stub.received.count == 2)
        await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.post, "a", body: .stream(HTTPBody(Data("x".utf8)))))
        }
    }

    @Test(
        "the signer adds components that a refusal requests, unless for another key or missing in the request"
    )
    func acceptSignature() async throws {
        let wanted = Mutex(#"sig2=("@method" "@authority" "content-type");created;keyid="app";nonce="n1";tag="t""#)
        let stub = StubTransport { request in
            if let text = request.headers[.signatureInput], text.contains(#"nonce="n1""#) { return .status(200) }
            return StubResponse(status: 401, headers: [.acceptSignature: wanted.withLock { $0 }])
        }
        let agent = NetworkAgent(stub, .signing(try Self.signer()))
        try await agent.send(Call<Void>(.post, "a", body: .text("x")))
        #expect(stub.received.count == 2)
        let input = try #require(stub.received.last?.headers[.signatureInput])
        #expect(
            input.hasPrefix(#"sig2=("@method" "@target-uri" "content-type" "content-digest" "@authority");created="#))
        #expect(input.contains(#";tag="t""#))
        for text in [
            #"s=("@method");keyid="other""#, #"s=("@status")"#, #"s=("@method");alg="rsa-pss-sha512""#,
            #"s=("@method""#,
            #"s=("X")"#, #"s=("@method" "@method")"#,
        ] {
            wanted.withLock { $0 = text }
            await #expect(throws: ErrandError.self) { try await agent.send(Call<Void>(.get, "a")) }
        }
        #expect(stub.received.count == 8)
    }

    @Test("logs, recordings, errors, descriptions and caches don't contain the key or a signature")
    func canaries() async throws {
        let lines = Mutex<[String]>([])
        let log = RequestLog(
            .bodies(upTo: 10_000), to: ClosureSink { record in lines.withLock { $0.append("\(record)") } })
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000)
        let aws = AWSRequestSigner(
            region: "eu-central-1", service: "execute-api",
            credentials: AWSCredentials(
                accessKeyID: "AKIDEXAMPLE", secretAccessKey: "canary-of-aws", sessionToken: "canary-of-the-session"))
        let key = try PrivateKey(pem: TestKeys.ed25519Private)
        var second = try HTTPMessageSigner(key: key, keyID: "ed")
        second.label = "second"
        let stub = StubTransport { request in
            // An error page that echoes the request.
            .text(request.headers.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n"), status: 418)
        }
        let filter = SigningFilter.signing(try Self.signer(), second, aws)
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [filter], accessories: [log, recorder])
        var texts = [
            agent.explain(Call<Void>(.get, "a")).description, String(reflecting: filter), "\(aws)", "\(second)",
        ]
        dump(filter, to: &texts[1])
        dump(aws, to: &texts[2])
        dump([second], to: &texts[3])
        let secretURL = address("https://api.example.com/?token=canary")
        let seen = SignableMessage(HTTPRequest(.post, secretURL, headers: ["X": "canary"], body: .text("canary")))
        texts += ["\(seen)", String(reflecting: seen)]
        dump(seen, to: &texts[4])
        do { try await agent.send(Call<Void>(.post, "a", body: .text("x"))) } catch {
            texts += ["\(error)", String(reflecting: error), (error as? any LocalizedError)?.errorDescription ?? ""]
            var dumped = ""
            dump((error as? ErrandError)?.request as Any, to: &dumped)
            texts.append(dumped)
        }
        let sent = try #require(stub.received.first)
        texts += ["\(sent)", "\(sent.headers)", String(reflecting: sent.headers)]
        texts.append(String(decoding: try recorder.harFile().encoded(), as: UTF8.self))
        texts.append(recorder.waterfallPage(title: "t").html)
        await log.flush()
        texts += lines.withLock { $0 }
        var secrets = ["canary", "n4Ni"]
        for name in [HTTPHeaderName.signature, .signatureInput, .authorization, "X-Amz-Security-Token"] {
            let value = try #require(sent.headers[name])
            secrets.append(value)
            secrets += value.split { " =:,;".contains($0) }.map(String.init).filter { $0.utf8.count > 40 }
        }
        #expect(secrets.count > 7)
        #expect(lines.withLock { $0.count } > 0)
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret), "\(secret) is in \(text.prefix(2000))") }
        }
    }

    @Test("no type that holds a key shows it") func types() throws {
        let shared = HMACKey(Self.secret.utf8)
        let key = VerificationKey(shared)
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "canary-of-aws", sessionToken: "canary-of-the-session")
        let requirements = SignatureRequirements(covering: [.method])
        let filter = SignatureVerificationFilter.verifyingSignatures(by: Self.verifier())
        let group = SigningFilter.signing(try Self.signer())
        let values: [Any] = [
            shared, key, ["app": key], try Self.signer(), [try Self.signer()], Self.verifier(), credentials,
            [credentials], AWSRequestSigner(region: "r", service: "s3", credentials: credentials),
            HTTPMessageVerifier(keys: ["app": key], requirements: requirements), filter, group, group.filters,
            ServerClocks(), MemoryNonces(),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("canary"), "\(text.prefix(300))")
                // The bytes of "canary" as numbers.
                #expect(!text.contains("99, 97, 110") && !text.contains("- 99\n"), "\(text.prefix(300))")
            }
        }
    }

    private struct Careless: RequestSigner {
        var explanation: String { "a signer that masks nothing" }
        var plainFields: Set<HTTPHeaderName> { ["X-Date"] }
        func sign(_ request: inout HTTPRequest, at date: Date) {
            request.headers["X-Signature"] = "canary"
            request.headers["X-Date"] = "today"
        }
    }

    @Test("a signer's values are masked, even if it doesn't mark them") func careless() async throws {
        let stub = StubTransport(.status(200))
        try await NetworkAgent(stub, .signing(Careless())).send(
            Call<Void>(.get, "a") { $0.headers["X-Own"] = "own" })
        let headers = try #require(stub.received.first?.headers)
        #expect(headers.filter(\.isSensitive).map(\.name) == ["X-Signature"])
        #expect(headers.contains("X-Date") && headers.contains("X-Own"))
    }

    @Test("users with different keys don't share cached responses, and the same key finds its own") func caches()
        async throws
    {
        let stub = StubTransport { request in .text(request.headers[.signatureInput] ?? "") }
        let (keyID, store) = (Box("app"), MemoryStore())
        let filter = SigningFilter.signing(Changing { keyID.value })
        let agent = NetworkAgent(
            stub, .cache(store, policy: .timed(.seconds(100))), filter)
        let first = try await agent.send(Call<String>(.get, "a")).value
        #expect(agent.explain(Call<Void>(.get, "a")).problems.count == 1)
        // From here on, the cache comes after the filter that declares the signature's owner.
        let ordered = NetworkAgent(stub, filter, .cache(store, policy: .timed(.seconds(100))))
        #expect(ordered.explain(Call<Void>(.get, "a")).problems == [])
        let second = try await ordered.send(Call<String>(.get, "a")).value
        #expect(second != first)
        #expect(try await ordered.send(Call<String>(.get, "a")).value == second)
        keyID.value = "other"
        #expect(try await ordered.send(Call<String>(.get, "a")).value.contains("other"))
        keyID.value = "app"
        #expect(try await ordered.send(Call<String>(.get, "a")).value == second)
    }

    /// A signer whose key belongs to another user from time to time.
    private struct Changing: RequestSigner {
        let keyID: @Sendable () -> String
        var explanation: String { "changing" }
        func owner() async throws -> String? { keyID() }
        func sign(_ request: inout HTTPRequest, at date: Date) async throws {
            try await SigningFilterTests.signer(keyID()).sign(&request, at: date)
        }
    }

    @Test("a call isn't sent with another owner's key if the owner changes after it began") func owners() async throws {
        let keyID = Box("app")
        let stub = StubTransport { _ in
            keyID.value = "other"
            return .status(503)
        }
        let again = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(stub, .signing(Changing { keyID.value }), again)
        #expect(await failure { try await agent.send(Call<Void>(.get, "a")) } == .ownerChanged)
        #expect(stub.received.count == 1)
    }

    private struct Late: Filter {
        var stages: FilterStages { .wire }
        var traits: FilterTraits { .changesRequest }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    @Test("a filter that would change the signed request is reported before it's sent") func order() async throws {
        let stub = StubTransport(.status(200))
        let wrong = NetworkAgent(stub, .signing(try Self.signer()), Late())
        #expect(await failure { try await wrong.send(Call<Void>(.get, "a")) } == .notLast)
        let right = NetworkAgent(stub, Late(), .signing(try Self.signer()))
        try await right.send(Call<Void>(.get, "a"))
        #expect(stub.received.count == 1)
    }

    @Test("a refreshed token and a retry are signed as they are sent") func others() async throws {
        let stub = StubTransport { request in
            request.headers[.authorization] == "Bearer new" ? .status(200) : .status(401)
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken("new") }
        var signer = try Self.signer()
        signer.components.append("authorization")
        let time = ManualTimeSource()
        let agent = NetworkAgent(stub, time: time, .authentication(session), .signing(signer))
        try await agent.send(Call<Void>(.get, "a"))
        #expect(stub.received.count == 2)
        for request in stub.received {
            let verifier = Self.verifier([.method, .targetURI, "authorization"])
            #expect(try await verifier.verify(SignableMessage(request), at: time.date).count == 1)
        }
    }

    @Test("a streamed body is refused, read first, or left out, as the signer specifies") func streams() async throws {
        let stub = StubTransport(.status(200))
        var signer = try Self.signer()
        let body = RequestBody.stream { HTTPBody(next: Pieces(Data("streamed".utf8), size: 3).nextChunk) }
        #expect(
            await failure { try await NetworkAgent(stub, .signing(signer)).send(Call<Void>(.put, "a", body: body)) }
                == .unknownDigest)
        signer.streamedBody = .isReadTwice
        let once = RequestBody.stream(HTTPBody(next: Pieces(Data("once".utf8), size: 3).nextChunk))
        #expect(
            await failure { try await NetworkAgent(stub, .signing(signer)).send(Call<Void>(.put, "a", body: once)) }
                == .unknownDigest)
        try await NetworkAgent(stub, .signing(signer)).send(Call<Void>(.put, "a", body: body))
        #expect(
            try stub.received.last?.headers[.contentDigest]
                == ContentDigest(of: Data("streamed".utf8), [.sha256]).fieldValue)
        signer.streamedBody = .isUnsigned
        try await NetworkAgent(stub, .signing(signer)).send(Call<Void>(.put, "a", body: body))
        #expect(stub.received.last?.headers.contains(.contentDigest) == false)
        #expect(stub.received.count == 2)
    }
}

private final class Box: Sendable {
    private let state: Mutex<String>
    init(_ value: String) { state = Mutex(value) }
    var value: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
