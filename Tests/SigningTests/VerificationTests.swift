import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandKeys
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandSigning

@Suite("Verifying signatures", .endsInTime, .leakChecked) struct VerificationTests {
    private static let key = HMACKey("server".utf8)
    private static let now = Date(timeIntervalSince1970: 1_000_000_000)

    private static func signer() throws -> HTTPMessageSigner {
        var signer = try HTTPMessageSigner(key: key, keyID: "server")
        signer.components = [.status, "content-type", "content-digest", .method.ofRequest, .targetURI.ofRequest]
        return signer
    }

    private static func verifier(_ change: (inout SignatureRequirements) -> Void = { _ in }) -> HTTPMessageVerifier {
        var requirements = SignatureRequirements(covering: [.status, .method.ofRequest, .targetURI.ofRequest])
        change(&requirements)
        return HTTPMessageVerifier(keys: ["server": VerificationKey(key)], requirements: requirements)
    }

    /// A server that signs its responses, and then changes them.
    private static func server(
        _ body: String = "hello",
        change: @escaping @Sendable (inout StubResponse, inout HTTPHeaders) -> Void = { _, _ in }
    ) -> StubTransport {
        StubTransport { request in
            var headers: HTTPHeaders = ["Content-Type": "text/plain"]
            headers[.contentDigest] = try ContentDigest(of: Data(body.utf8), [.sha256, .sha512]).fieldValue
            let response = HTTPResponse(
                url: request.url, status: 200, headers: headers, body: HTTPBody(Data(body.utf8)))
            try await signer().sign(&headers, of: SignableMessage(response, to: request), at: now)
            var made = StubResponse(status: 200, body: Data(body.utf8))
            change(&made, &headers)
            return headers.reduce(made) { $0.header($1.name, $1.value) }
        }
    }

    private static func agent(
        _ transport: StubTransport, _ change: (inout SignatureRequirements) -> Void = { _ in }
    ) throws -> NetworkAgent {
        let client = try HTTPMessageSigner(key: HMACKey("client".utf8), keyID: "client")
        let wanted = try AcceptSignature([
            .init(label: "sig", components: [.status, "content-digest"], keyID: "server")
        ])
        return NetworkAgent(transport, .signing(client), .verifyingSignatures(by: verifier(change), accepting: wanted))
    }

    @Test("a signed response is delivered as data, as a stream and as a file") func valid() async throws {
        let stub = Self.server()
        let agent = try Self.agent(stub)
        #expect(try await agent.send(Call<String>(.get, "a")).value == "hello")
        let streamed = try await agent.send(Call<HTTPBody>(.get, "a")).value
        #expect(try await streamed.collect(upTo: 100) == Data("hello".utf8))
        let request = try #require(stub.received.first)
        #expect(request.headers[.acceptSignature] == #"sig=("@status" "content-digest");created;keyid="server""#)
        #expect(request.headers[.acceptEncoding] == "identity")
        #expect(request.headers.contains(.signature))
    }

    @Test("a response that was modified in transit throws, with the response in the error") func changed()
        async throws
    {
        @Sendable func append(_ parameter: String, _ headers: inout HTTPHeaders) {
            headers[.signatureInput] = (headers[.signatureInput] ?? "") + parameter
        }
        let changes: [(SigningError.Code, @Sendable (inout StubResponse, inout HTTPHeaders) -> Void)] = [
            (.digestMismatch, { response, _ in response = StubResponse(status: 200, body: Data("hellO".utf8)) }),
            (.invalidSignature, { response, _ in response = response.status(201) }),
            (.invalidSignature, { _, headers in headers[.contentType] = "text/html" }),
            (.missingSignature, { _, headers in headers.remove(.signature) }),
            (.missingSignature, { _, headers in headers.remove(.signatureInput) }),
            (.malformedSignature, { _, headers in headers[.signature] = "sig=:AA" }),
            (.malformedSignature, { _, headers in headers[.signature] = "sig=AA" }),
            (.malformedSignature, { _, headers in headers[.signature] = "other=:AAAA:" }),
            (.invalidSignature, { _, headers in headers[.signature] = "sig=:AAAA:" }),
            (.invalidSignature, { _, headers in headers[.signature] = "sig=::" }),
            (
                .unknownKey,
                { _, headers in
                    headers[.signatureInput] = headers[.signatureInput]?.replacing(
                        #"keyid="server""#, with: #"keyid="../x""#)
                }
            ),
            (
                .algorithmMismatch,
                { _, headers in append(#";alg="ed25519""#, &headers) }
            ),
            (.algorithmMismatch, { _, headers in append(#";alg="none""#, &headers) }),
            (.malformedSignature, { _, headers in append(";tag=1", &headers) }),
            (.invalidSignature, { _, headers in append(";unknown=1", &headers) }),
        ]
        for (index, (code, change)) in changes.enumerated() {
            let agent = try Self.agent(Self.server(change: change))
            do {
                _ = try await agent.send(Call<String>(.get, "a"))
                Issue.record("\(index) was accepted")
            } catch let error as SigningError {
                #expect(error.code == code, "\(index): \(error)")
                #expect(error.response != nil)
            }
        }
    }

    @Test("a stream with a wrong digest fails at its end, and a file isn't moved to its destination")
    func streams() async throws {
        let server = Self.server { response, _ in
            response = StubResponse.chunks([Data("hel".utf8), Data("lO".utf8)])
        }
        let agent = try Self.agent(server)
        let body = try await agent.send(Call<HTTPBody>(.get, "a")).value
        #expect(await failure { _ = try await body.collect(upTo: 100) } == .digestMismatch)
        let folder = try Folder()
        #expect(
            await failure {
                _ = try await agent.send(Download(file: folder.file("f")))
            } == .digestMismatch)
        #expect(!FileManager.default.fileExists(atPath: folder.path("f")))
    }

    private static func signed(_ change: (inout HTTPMessageSigner) throws -> Void = { _ in }) async throws
        -> HTTPRequest
    {
        var signer = try HTTPMessageSigner(key: key, keyID: "server")
        try change(&signer)
        var request = Examples.request
        try await signer.sign(&request, at: now)
        return request
    }

    private static func check(
        _ request: HTTPRequest, at date: Date = now, _ change: (inout SignatureRequirements) -> Void = { _ in }
    ) async -> SigningError.Code? {
        await failure {
            let verifier = verifier {
                $0.components = [.method, .targetURI]
                change(&$0)
            }
            _ = try await verifier.verify(SignableMessage(request), at: date)
        }
    }

    @Test("dates are checked with the clock and the tolerance") func dates() async throws {
        let request = try await Self.signed { $0.lifetime = .seconds(60) }
        #expect(await Self.check(request) == nil)
        #expect(await Self.check(request, at: Self.now.addingTimeInterval(-5)) == nil)
        #expect(await Self.check(request, at: Self.now.addingTimeInterval(-6)) == .outdated)
        #expect(await Self.check(request, at: Self.now.addingTimeInterval(65)) == nil)
        #expect(await Self.check(request, at: Self.now.addingTimeInterval(66)) == .outdated)
        let endless = try await Self.signed()
        #expect(await Self.check(endless, at: Self.now.addingTimeInterval(300)) == nil)
        #expect(await Self.check(endless, at: Self.now.addingTimeInterval(301)) == .outdated)
        #expect(await Self.check(endless, at: Self.now.addingTimeInterval(1e9)) { $0.maximumAge = nil } == nil)
        var undated = endless
        undated.headers[.signatureInput] = undated.headers[.signatureInput]?.replacing("created=1000000000;", with: "")
        #expect(await Self.check(undated) == .outdated)
        var huge = endless
        huge.headers[.signatureInput] = huge.headers[.signatureInput]?.replacing("1000000000", with: "999999999999999")
        #expect(await Self.check(huge) == .outdated)
    }

    @Test("required components must be covered, with the same parameters") func coverage() async throws {
        let request = try await Self.signed { $0.components = [.method, .field("content-type").binary] }
        #expect(await Self.check(request) == .insufficientCoverage)
        #expect(await Self.check(request) { $0.components = [.method] } == nil)
        #expect(await Self.check(request) { $0.components = ["content-length"] } == .insufficientCoverage)
        let bare = try await Self.signed { $0.optionalComponents = [] }
        #expect(await Self.check(bare) == .insufficientCoverage)
        #expect(await Self.check(bare) { $0.coversContent = false } == nil)
        #expect(await Self.check(request) { ($0.components, $0.tag) = ([], "t") } == .missingSignature)
        #expect(await Self.check(request) { ($0.components, $0.label) = ([], "l") } == .missingSignature)
        // If a signature covered only one member of the digest field, anyone could change the other members.
        let member = try await Self.signed { $0.optionalComponents = [.field(.contentDigest).member("sha-512")] }
        #expect(await Self.check(member) == .insufficientCoverage)
    }

    @Test("a nonce is accepted once, and only from a key's holder") func nonces() async throws {
        let nonces = MemoryNonces(limit: 2)
        func check(_ request: HTTPRequest, at date: Date = Self.now) async -> SigningError.Code? {
            await Self.check(request, at: date) { $0.nonces = nonces }
        }
        let (one, two, three) = (try await Self.signed(), try await Self.signed(), try await Self.signed())
        var forged = one
        forged.headers[.signature] = "sig=:AAAA:"
        #expect(await check(forged) == .invalidSignature)
        #expect(await check(one) == nil)
        #expect(await check(one) == .replayed)
        #expect(await check(two) == nil)
        #expect(await check(three) == .replayed, "a full store must not forget")
        #expect(await check(try await Self.signed { $0.usesNonce = false }) == .replayed)
        // After the longest age the nonces are forgotten, and the signatures are too old.
        let later = Self.now.addingTimeInterval(301)
        #expect(await check(one, at: later) == .outdated)
        var signer = try HTTPMessageSigner(key: Self.key, keyID: "server")
        signer.components = [.method, .targetURI]
        var fresh = Examples.request
        try await signer.sign(&fresh, at: later)
        #expect(await check(fresh, at: later) == nil)
    }

    @Test(
        "identifiers in the wrong case, with unknown parameters, or repeated are refused",
        arguments: [
            #"("@Method")"#, #"("Content-Type")"#, #"("@method";x)"#, #"("content-type";sf;bs)"#,
            #"("content-type";bs;key="a")"#,
            #"("@method" "@method")"#, #"("date";sf;tr "date";tr;sf)"#, #"("@signature-params")"#, #"("@unknown")"#,
            #"("@query-param")"#, #"("@path";name="a")"#, #"("date";req=?0)"#, #"("date";key=1)"#, #"("")"#,
            #"("a b")"#,
            #"(date)"#, #"(1)"#, #"("@status";req)"#, #"("date";name="x")"#,
        ])
    func identifiers(list: String) async throws {
        var request = try await Self.signed()
        request.headers[.signatureInput] = "sig=\(list);created=1000000000;keyid=\"server\""
        let code = await Self.check(request) { ($0.components, $0.coversContent) = ([], false) }
        #expect(code == .invalidComponent || code == .malformedSignature, "\(list): \(String(describing: code))")
    }

    @Test("values that could start a line of the base, or that aren't ASCII, can't be signed") func injection() throws {
        let url = address("https://a/")
        for value in ["x\n\"@method\": DELETE", "x\r", "a\u{0}", "café"] {
            let message = SignableMessage(HTTPRequest(.get, url, headers: HTTPHeaders([.init("x", value)])))
            #expect(throws: SigningError.self) { try message.value(of: "x") }
            #expect((try? message.value(of: .field("x").binary)) != nil)
        }
        let method = SignableMessage(HTTPRequest("GET\n", url))
        #expect(throws: SigningError.self) { try method.value(of: .method) }
        var cookies: HTTPHeaders = ["Set-Cookie": "a=1"]
        cookies.add(.setCookie, "b=2")
        let response = SignableMessage(HTTPResponse(url: url, status: 200, headers: cookies), to: nil)
        #expect(throws: SigningError.self) { try response.value(of: "set-cookie") }
        #expect(try response.value(of: .field(.setCookie).binary) == ":YT0x:, :Yj0y:")
        #expect(throws: SigningError.self) { try response.value(of: .method) }
        let repeated = SignableMessage(HTTPRequest(.get, address("https://a/?x=1&%78=2")))
        #expect(throws: SigningError.self) { try repeated.value(of: .queryParameter("x")) }
    }

    @Test("a Host field that differs from the URL's host, or several hosts, are refused") func hosts() async throws {
        var request = try await Self.signed()
        #expect(await Self.check(request) == nil)
        request.headers[.host] = "EXAMPLE.com:443"
        #expect(await Self.check(request) == nil)
        request.url = address("https://other.example.com/foo?param=Value&Pet=dog")
        #expect(await Self.check(request) == .invalidValue)
        request = try await Self.signed()
        request.headers.add(.host, "example.com")
        #expect(await Self.check(request) == .invalidValue)
    }

    @Test("10,000 signatures or components are refused before any is verified") func floods() async throws {
        let counter = CountingKey()
        var requirements = SignatureRequirements(covering: [])
        requirements.coversContent = false
        let verifier = HTTPMessageVerifier(keys: ["k": VerificationKey(counter)], requirements: requirements)
        func check(_ input: String, _ signature: String) async -> SigningError.Code? {
            var message = SignableMessage(Examples.request)
            (message.headers[.signatureInput], message.headers[.signature]) = (input, signature)
            return await failure { _ = try await verifier.verify(message, at: Self.now) }
        }
        for count in [17, 4000, 10_000] {
            let inputs = (0..<count).map { #"s\#($0)=("@method");created=1000000000;keyid="k""# }.joined(
                separator: ", ")
            let signatures = (0..<count).map { "s\($0)=:AAAA:" }.joined(separator: ", ")
            let code = await check(inputs, signatures)
            #expect(code == (count > 4096 ? .malformedSignature : .tooManySignatures))
        }
        let many = (0..<10_000).map { #""x\#($0)""# }.joined(separator: " ")
        #expect(await check("s=(\(many));created=1000000000;keyid=\"k\"", "s=:AAAA:") == .malformedSignature)
        let some = (0..<1000).map { #""x\#($0)""# }.joined(separator: " ")
        #expect(await check("s=(\(some));created=1000000000;keyid=\"k\"", "s=:AAAA:") == .malformedSignature)
        #expect(counter.count.withLock { $0 } == 0)
        let sixteen = (0..<16).map { #"s\#($0)=("@method");created=1000000000;keyid="k""# }.joined(separator: ", ")
        #expect(await check(sixteen, (0..<16).map { "s\($0)=:AAAA:" }.joined(separator: ", ")) == .invalidSignature)
        #expect(counter.count.withLock { $0 } == 16)
    }

    private final class CountingKey: KeyVerifier {
        let count = Mutex(0)
        var algorithms: [KeyAlgorithm] { [.ed25519] }
        func isValid(_ signature: Data, of message: Data, by algorithm: KeyAlgorithm) -> Bool {
            count.withLock { $0 += 1 }
            return false
        }
    }

    @Test("adding a field of the same name as a signed field invalidates the signature") func duplicates() async throws
    {
        for name in [HTTPHeaderName.contentType, .contentDigest] {
            var request = try await Self.signed()
            request.headers.add(name, try #require(request.headers[name]))
            #expect(await Self.check(request) == .invalidSignature)
        }
    }

    @Test("if a label repeats, both fields use its last member") func repeatedLabels() async throws {
        let request = try await Self.signed()
        var doubled = request
        doubled.headers.add(.signature, "sig=:AAAA:")
        #expect(await Self.check(doubled) == .invalidSignature)
        doubled = request
        doubled.headers.add(.signature, try #require(request.headers[.signature]))
        doubled.headers.add(.signatureInput, try #require(request.headers[.signatureInput]))
        #expect(await Self.check(doubled) == nil)
    }
}
