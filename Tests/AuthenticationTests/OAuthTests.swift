import Errand
import ErrandAuthentication
import ErrandTesting
import Foundation
import Testing

@Suite("Replies of an OAuth server", .endsInTime, .leakChecked) struct OAuthTests {
    private func token(_ text: String, _ decoder: JSONDecoder = JSONDecoder()) throws -> BearerToken {
        try decoder.decode(BearerToken.self, from: Data(text.utf8))
    }

    @Test("a reply of a token endpoint is decoded with any key strategy of the decoder", arguments: [true, false])
    func reply(isConverted: Bool) throws {
        let decoder = JSONDecoder()
        if isConverted { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        let before = Date()
        for seconds in ["3600", "3600.0", #""3600""#] {
            let token = try token(
                #"{"access_token":"a","token_type":"bearer","expires_in":\#(seconds),"refresh_token":"r","scope":"x y"}"#,
                decoder)
            #expect(token.token == "a" && token.refreshToken == "r" && token.scope == "x y" && token.owner == nil)
            let expiry = try #require(token.expiry)
            #expect(expiry >= before + 3600 && expiry <= Date() + 3600)
        }
        let bare = try token(#"{"access_token":"a","expires_in":null,"refresh_token":null,"more":[1]}"#, decoder)
        #expect(bare == BearerToken("a"))
        #expect(try token(#"{"access_token":"a","scope":["x","y"]}"#, decoder).scope == "x y")
    }

    @Test("a reply with an invalid number, another token type or no token is refused, and doesn't crash")
    func hostile() throws {
        for text in [
            #"{"access_token":"a","expires_in":"soon"}"#, #"{"access_token":"a","expires_in":"nan"}"#,
            #"{"access_token":"a","expires_in":[]}"#, #"{"access_token":"a","token_type":"mac"}"#,
            #"{"access_token":1}"#, #"{"error":"invalid_grant"}"#, "[]", "1",
        ] { #expect(throws: DecodingError.self, "\(text)") { try token(text) } }
        for number in ["1e300", "1e-300", "5", #""1e99""#] {
            let expiry = try token(#"{"access_token":"a","expires_in":\#(number)}"#).expiry
            #expect(try JSONEncoder().encode(#require(expiry)).isEmpty == false)
        }
    }

    @Test("an empty member counts as missing: the working refresh token is kept, and an empty access token is refused")
    func empty() throws {
        let old = BearerToken("a", refreshToken: "r", owner: "ada", scope: "x")
        for blank in ["", " ", "  ", #"\t"#, #"\n"#] {
            let reply = try token(#"{"access_token":"b","refresh_token":"\#(blank)","scope":"\#(blank)"}"#)
            #expect(reply == BearerToken("b"))
            #expect(reply.renewing(old) == BearerToken("b", refreshToken: "r", owner: "ada", scope: "x"))
            #expect(throws: DecodingError.self) { try token(#"{"token":"\#(blank)"}"#) }
            #expect(try token(#"{"access_token":"b","token_type":"\#(blank)"}"#) == BearerToken("b"))
            let unescaped = blank.replacing(#"\t"#, with: "\t").replacing(#"\n"#, with: "\n")
            let own = BearerToken("b", refreshToken: unescaped, owner: unescaped, scope: unescaped)
            #expect(own.renewing(old) == BearerToken("b", refreshToken: "r", owner: "ada", scope: "x"))
            let error = #expect(throws: DecodingError.self) {
                try token(#"{"access_token":"\#(blank)","token_type":"Bearer","refresh_token":"r"}"#)
            }
            #expect(error.map { "\($0)".contains("access_token") } == true)
        }
        for list in ["[]", #"[""]"#, #"["",""]"#] {
            #expect(try token(#"{"access_token":"b","scope":\#(list)}"#).scope == nil)
        }
        #expect(try token(#"{"access_token":"b","scope":["x","","y"]}"#).scope == "x y")
    }

    @Test("a response with a token under two names, as registries of images send it, has the lifetime of the response")
    func twoNames() throws {
        let token = try token(#"{"token":"a","access_token":"a","expires_in":300}"#)
        #expect(token.token == "a" && token.expiry != nil)
    }

    @Test("a response has everything that a credential of another type needs, and its description hides the tokens")
    func response() throws {
        let text =
            #"{"access_token":"canary","token_type":"DPoP","expires_in":60,"refresh_token":"canary","id_token":"canary"}"#
        let response = try JSONDecoder().decode(TokenResponse.self, from: Data(text.utf8))
        #expect(response.accessToken == "canary" && response.tokenType == "DPoP" && response.lifetime == .seconds(60))
        #expect(response.refreshToken == "canary" && response.idToken == "canary" && response.scope == nil)
        var dumped = "\(response) \(String(reflecting: response))"
        dump(response, to: &dumped)
        #expect(!dumped.contains("canary"))
        for token in ["a\\nb", "\u{E9}", String(repeating: "a", count: 262_145)] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(TokenResponse.self, from: Data(#"{"access_token":"\#(token)"}"#.utf8))
            }
        }
    }

    @Test("a saved token can be read again, even from a version before scopes existed")
    func saved() throws {
        let token = BearerToken(
            "a", expiry: Date(timeIntervalSinceReferenceDate: 7), refreshToken: "r", owner: "ada", scope: "x")
        let data = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(BearerToken.self, from: data) == token)
        let old = try self.token(#"{"token":"a","expiry":7,"refreshToken":"r","owner":"ada"}"#)
        #expect(old == BearerToken("a", expiry: token.expiry, refreshToken: "r", owner: "ada"))
    }

    @Test("values that a reply leaves out are kept from the token that it renews")
    func renewing() {
        let old = BearerToken("a", expiry: .distantPast, refreshToken: "r", owner: "ada", scope: "x")
        #expect(BearerToken("b").renewing(old) == BearerToken("b", refreshToken: "r", owner: "ada", scope: "x"))
        let new = BearerToken("b", expiry: .distantFuture, refreshToken: "s", owner: "bo", scope: "y")
        #expect(new.renewing(old) == new)
    }

    enum End: CaseIterable { case thrown, refusedGrant, refusedWithStatus200, otherError, unreachable }

    @Test(
        "an invalid refresh token signs the user out and waiting requests throw the cause; other failures don't",
        arguments: End.allCases)
    func deadToken(end: End) async throws {
        let accounts = NetworkAgent(
            StubTransport { _ in
                switch end {
                case .thrown: .status(403)
                case .refusedGrant: .json(#"{"error":"invalid_grant","error_description":"revoked"}"#, status: 400)
                case .refusedWithStatus200: .json(#"{"error":"invalid_grant"}"#)
                case .otherError: .json(#"{"error":"invalid_client"}"#, status: 400)
                case .unreachable: .status(503)
                }
            })
        let gate = Gate()
        let session = AuthenticationSession(BearerToken("old", refreshToken: "r")) { _ in
            do { return try await accounts.send(Call<BearerToken>(.post, "token")).value } catch {
                if end == .thrown { throw SessionEnded(error) }
                throw error
            }
        }
        let service = Service(waitingFor: gate)
        let agent = NetworkAgent(service.transport, .authentication(session))
        let calls = (0..<5).map { number in Task { await agent.failure("x\(number)") } }
        try await gate.reached(by: 5)
        gate.open()
        let isOver = end != .otherError && end != .unreachable
        for call in calls {
            let error = try #require(await call.value as? AuthenticationError)
            #expect(error.code == (isOver ? .signedOut : .refreshFailed))
            #expect(!isOver || !error.isRetryable)
        }
        #expect(session.isSignedIn == !isOver)
        let waited = AuthenticationSession(BearerToken("old")) { _ in throw SessionEnded(Broken()) }
        let alone = NetworkAgent(Service().transport, .authentication(waited))
        let error = try #require(await alone.failure() as? AuthenticationError)
        #expect(error.code == .signedOut && error.underlying is Broken && error.response?.status == 401)
        #expect(!waited.isSignedIn)
    }

    @Test("isRejection adds to status 401, or decides alone if the app specifies so", arguments: [true, false])
    func rejections(is401Rejection: Bool) async throws {
        let refreshes = Counter()
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            let isNew = request.headers[.authorization] == "Bearer new"
            if request.url.path == "/status" { return isNew ? .text("fine") : .status(401) }
            return .text(isNew ? "fine" : "refused")
        }
        for (path, isRefused) in [("status", is401Rejection), ("body", true)] {
            let session = AuthenticationSession(
                BearerToken("old"), isRejection: { $0.data == Data("refused".utf8) }, is401Rejection: is401Rejection,
                refresh: { _ in
                    refreshes.up()
                    return BearerToken("new")
                })
            let agent = NetworkAgent(transport, .authentication(session))
            let before = refreshes.value
            if isRefused {
                #expect(try await agent.text(path) == "fine")
            } else {
                #expect((await agent.failure(path) as? ErrandError)?.response?.status == 401)
            }
            #expect(refreshes.value == before + (isRefused ? 1 : 0))
        }
    }
}
