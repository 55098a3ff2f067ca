import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Refreshes in daily use", .endsInTime, .leakChecked) struct RefreshLessonsTests {
    private static let epoch = Date(timeIntervalSince1970: 1_700_000_000)

    @Test("each refresh receives the refresh token that the last one returned")
    func rotation() async throws {
        let service = Service()
        service.valid = "none"
        let used = Log<String>()
        let session = AuthenticationSession(BearerToken("old", refreshToken: "r0")) { token in
            used.add(token?.refreshToken ?? "none")
            let new = service.refresh()
            return BearerToken(new, refreshToken: "r\(service.refreshes)")
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        for _ in 0..<3 {
            #expect(try await agent.text() == "/x")
            service.valid = "none"
        }
        #expect(used.all == ["r0", "r1", "r2"] && service.refreshes == 3)
    }

    @Test("a token that expires again later is refreshed again, by requests that are sent together as well")
    func secondExpiry() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("t1")) { _ in BearerToken(service.refresh()) }
        let agent = NetworkAgent(service.transport, .authentication(session))
        for round in 1...3 {
            service.valid = "gone"
            async let one = agent.text("one")
            async let two = agent.text("two")
            let texts = try await [one, two]
            #expect(texts == ["/one", "/two"])
            // The second request may have begun after the first refresh, with the new token.
            #expect(service.refreshes == round)
        }
    }

    @Test("a request is repeated with its method, its fields and its body; only the credential differs")
    func sameRequest() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let agent = NetworkAgent(service.transport, .authentication(session))
        for method in [HTTPMethod.get, .post, .patch, .delete] {
            session.signIn(BearerToken("old"))
            let call = Call<String>(method, "orders") {
                $0.headers = ["X-Trace": "7", "Accept-Language": "de"]
                if method != .get { $0.body = .data(Data("a=1".utf8), contentType: "text/plain") }
            }
            _ = try await agent.send(call)
            let sent = service.calls.suffix(2)
            let (first, second) = (try #require(sent.first), try #require(sent.last))
            #expect(first.method == method && second.method == method && first.urlText == second.urlText)
            #expect(first.body.data == second.body.data && first.body.contentType == second.body.contentType)
            #expect(first.headers[.authorization] == "Bearer old")
            #expect(second.headers[.authorization] == "Bearer \(service.valid)")
            var (one, two) = (first.headers, second.headers)
            one.remove(.authorization)
            two.remove(.authorization)
            #expect(one == two)
        }
    }

    @Test("a token that expires in transit is refused once and repeated, and the next call doesn't refresh")
    func expiryOnTheWay() async throws {
        let time = ManualTimeSource(date: Self.epoch)
        let service = Service()
        service.valid = "t1"
        let expiring = BearerToken("t1", expiry: Self.epoch + 1)
        let session = AuthenticationSession(expiring) { _ in BearerToken(service.refresh()) }
        let inner = service.transport
        let transport = StubTransport { request in
            // The server's clock is ahead: the token is still valid here when the request is sent.
            if request.headers[.authorization] == "Bearer t1" { service.valid = "another" }
            let response = try await inner.send(request, options: TransportOptions())
            return StubResponse(status: response.status, headers: response.headers, body: response.data)
        }
        let agent = NetworkAgent(transport, time: time, .authentication(session))
        #expect(try await agent.text() == "/x")
        #expect(try await agent.text() == "/x")
        #expect(service.refreshes == 1 && service.calls.count == 3)
    }

    @Test("if a credential can't be refreshed, the caller gets the 401 after one request")
    func fixedCredential() async throws {
        let service = Service()
        let agent = NetworkAgent(service.transport, .authentication(.basic(user: "ada", password: "wrong")))
        let error = try #require(await agent.failure() as? ErrandError)
        #expect(error.code == .unacceptableStatus && error.response?.status == 401)
        #expect(error.response?.data == Data("refused".utf8) && service.calls.count == 1)
    }

    @Test("users stay signed in if the server sends a blank lifetime, or a lifetime of zero or less")
    func endlessTokens() async throws {
        let service = Service()
        for lifetime in ["0", "-1", #""0""#, "0.0", "-1e300", #""""#, #"" ""#] {
            let reply = Data(#"{"access_token":"t1","token_type":"Bearer","expires_in":\#(lifetime)}"#.utf8)
            let token = try JSONDecoder().decode(BearerToken.self, from: reply)
            #expect(token.expiry == nil, "\(lifetime)")
            let session = AuthenticationSession<BearerToken> { _ in nil }
            session.signIn(token)
            let agent = NetworkAgent(service.transport, time: ManualTimeSource(date: Date()), .authentication(session))
            #expect(try await agent.text() == "/x")
            #expect(session.isSignedIn)
        }
    }

    @Test(
        "a lifetime must be a whole decimal number: trailing text, blanks and hexadecimal digits are refused",
        arguments: ["3600abc", "0x10", " 3600", "3600 ", "1:00", "inf", "١٢"])
    func lifetimes(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                BearerToken.self, from: Data(#"{"access_token":"a","expires_in":"\#(text)"}"#.utf8))
        }
    }

    @Test("a reply whose token type is missing or empty is a bearer token")
    func missingType() throws {
        for type in [
            "", #""token_type":null,"#, #""token_type":"","#, #""token_type":" ","#, #""token_type":"BEARER","#,
        ] {
            let token = try JSONDecoder().decode(
                BearerToken.self, from: Data("{\(type)\"access_token\":\"a\",\"user_id\":7}".utf8))
            #expect(token == BearerToken("a"), "\(type)")
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                BearerToken.self, from: Data(#"{"token_type":"BearerToken","access_token":"a"}"#.utf8))
        }
    }

    @Test("two agents that share a session refresh once for both")
    func sharedSession() async throws {
        let gate = Gate()
        let service = Service(waitingFor: gate)
        service.valid = "none"
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let agents = (0..<2).map { _ in NetworkAgent(service.transport, .authentication(session)) }
        let calls = agents.map { agent in Task { try await agent.text() } }
        try await gate.reached(by: 2)
        gate.open()
        for call in calls { #expect(try await call.value == "/x") }
        #expect(service.refreshes == 1 && service.calls.count == 4)
    }

    @Test(
        "a token with a line break is refused before anything is sent, without the token in the error",
        arguments: ["canary\n", "canary\r\nX-Admin: 1", "can\u{0}ary"])
    func lineBreaks(token: String) async throws {
        let stub = StubTransport(.text("ok"))
        let filtered = NetworkAgent(stub, .authentication(AuthenticationSession(BearerToken(token))))
        let plain = NetworkAgent(stub)
        plain.configure { $0.authorization = .bearer(token) }
        for agent in [filtered, plain] {
            let error = try #require(await agent.failure() as? ErrandError)
            #expect(error.code == .invalidRequest && !error.description.contains("canary"))
            #expect(error.description.lowercased().contains("authorization"))
        }
        #expect(stub.received.isEmpty)
    }

    @Test("Basic credentials are UTF-8, and a colon in the password is part of it")
    func basicCredentials() async throws {
        let stub = StubTransport(.text("ok"))
        for (user, password) in [("user", "àéïòù"), ("jörg", "pa:ss:w\u{F6}rd"), ("ada", "😀"), ("", "")] {
            let agent = NetworkAgent(stub, .authentication(.basic(user: user, password: password)))
            _ = try await agent.text()
            let value = try #require(stub.received.last?.headers[.authorization])
            let decoded = try #require(Data(base64Encoded: String(value.dropFirst(6))))
            #expect(value.hasPrefix("Basic ") && decoded == Data("\(user):\(password)".utf8))
        }
    }

    @Test("if a refresh fails permanently, all waiting requests fail once and aren't sent again")
    func nothingAfterTheEnd() async throws {
        let gate = Gate()
        let service = Service(waitingFor: gate)
        service.valid = "none"
        let session = AuthenticationSession(BearerToken("old", refreshToken: "r")) { _ in
            service.countRefresh()
            throw SessionEnded(Broken())
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let calls = (0..<3).map { number in Task { await agent.failure("x\(number)") } }
        try await gate.reached(by: 3)
        gate.open()
        for call in calls { #expect((await call.value as? AuthenticationError)?.code == .signedOut) }
        #expect(service.refreshes == 1 && service.calls.count == 3)
        // A request that begins afterwards isn't sent without a credential.
        #expect((await agent.failure() as? AuthenticationError)?.code == .signedOut)
        #expect(service.calls.count == 3)
    }

    @Test("requests without a credential pass while others wait for a refresh")
    func openEndpoints() async throws {
        let (reached, proceed) = (Gate(), Gate())
        let service = Service()
        let transport = StubTransport { request in
            let isOpen = request.headers[.authorization] == nil || request.headers[.authorization] == "Bearer t2"
            return isOpen ? .text(request.url.path) : .text("refused", status: 401)
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in
            reached.open()
            try await proceed.wait()
            return BearerToken(service.refresh())
        }
        let agent = NetworkAgent(transport, .authentication(session))
        let waiting = Task { try await agent.text("private") }
        try await reached.wait()
        #expect(try await agent.text("public", options: .authentication(.off)) == "/public")
        proceed.open()
        #expect(try await waiting.value == "/private")
    }

    @Test("a token that expired while the machine slept is refreshed before the next request")
    func sleepingMachine() async throws {
        let (service, time) = (Service(), ManualTimeSource(date: Self.epoch))
        let session = AuthenticationSession(BearerToken("t1", expiry: Self.epoch + 3600)) { _ in
            BearerToken(service.refresh(), expiry: time.date + 3600)
        }
        let agent = NetworkAgent(service.transport, time: time, .authentication(session))
        _ = try await agent.text()
        // Some systems' monotonic clocks stand still meanwhile.
        time.date += 8 * 3600
        for _ in 0..<2 { _ = try await agent.text() }
        #expect(service.tokens == ["t1", "t2", "t2"].map { "Bearer \($0)" })
    }

    @Test("a challenge for a scheme that no credential has reaches the caller with its response, after one request")
    func foreignChallenge() async throws {
        let challenge = #"Digest realm="a", qop="auth,auth-int", nonce="n", stale=true, algorithm=SHA-256"#
        let stub = StubTransport(.text("sign in", status: 401).header("WWW-Authenticate", challenge))
        let agent = NetworkAgent(stub)
        let error = try #require(await agent.failure() as? ErrandError)
        #expect(error.code == .unacceptableStatus && error.response?.headers[.wwwAuthenticate] == challenge)
        #expect(stub.received.count == 1)
    }
}
