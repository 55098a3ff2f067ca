import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandOAuth
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandOAuth

@Suite("Proofs of possession", .endsInTime, .leakChecked) struct DPoPTests {
    @Test("the examples of RFC 9449: a token's hash, a key's thumbprint, and two proofs") func examples() throws {
        #expect(
            DPoP.hash("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU") == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        let key = try PublicKey(jwk: Data(Self.key.utf8))
        #expect(try key.thumbprint() == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        for (text, url, hasHash) in [
            (Self.tokenProof, "https://server.example.com/token", false),
            (Self.resourceProof, "https://resource.example.org/protectedresource", true),
        ] {
            let proof = try #require(JSONToken(text))
            #expect(try proof.isSigned(by: key))
            #expect(proof.claims["htu"] == .text(url))
            #expect(
                proof.claims["ath"] == (hasHash ? .text("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo") : nil))
        }
    }

    @Test("a proof covers the method, the URL without query, the token, the time and the nonce") func proof()
        async throws
    {
        let key = try PrivateKey.generate(.p256)
        let dpop = try DPoP(key: key)
        let url = try #require(URL(string: "https://api.example.com:8443/a%20b/?x=1#f"))
        let date = Date(timeIntervalSince1970: 1_000.9)
        let texts = [
            try await dpop.proof(for: HTTPRequest(.put, url), token: "t", at: date),
            try await dpop.proof(for: HTTPRequest(.put, url), token: "t", at: date),
        ]
        var identifiers: Set<JSON> = []
        for text in texts {
            let proof = try #require(JSONToken(text))
            #expect(try proof.isSigned(by: key.publicKey))
            #expect(proof.header["typ"] == .text("dpop+jwt") && proof.header["alg"] == .text("ES256"))
            guard case .object(let members)? = proof.header["jwk"] else { throw RobotFailed(status: 0) }
            #expect(Set(members.keys) == ["kty", "crv", "x", "y"])
            #expect(proof.claims["htm"] == .text("PUT"))
            #expect(proof.claims["htu"] == .text("https://api.example.com:8443/a%20b/"))
            #expect(proof.claims["iat"] == .number(1000) && proof.claims["ath"] == .text(DPoP.hash("t")))
            #expect(proof.claims["nonce"] == nil)
            identifiers.insert(try #require(proof.claims["jti"]))
        }
        #expect(identifiers.count == 2)
        #expect(throws: KeyError.self) { try DPoP(signer: key, publicKey: key.publicKey, algorithm: .ed25519) }
    }

    @Test("a proof names an IPv6 address as it's sent: in its usual form, and without its zone")
    func addresses() {
        #expect(DPoP.target("http://[FE80:0::1%25eth0]:81/a?x#y") == "http://[fe80::1]:81/a")
        #expect(DPoP.target("https://[0:0:0:0:0:0:0:1]/") == "https://[::1]/")
        #expect(DPoP.target("https://example.com/[a]?x") == "https://example.com/[a]")
    }

    @Test("tokens are bound to the key, and each request has its own proof", arguments: [KeyType.p256, .ed25519])
    func bound(type: KeyType) async throws {
        let server = try AuthorizationServer()
        let dpop = try DPoP(key: .generate(type))
        let session = try await server.session(server.client(dpop: dpop), scope: "profile")
        #expect(session.token?.kind == .dpop)
        #expect(server.received("/authorize").first?.query("dpop_jkt") == (try dpop.thumbprint()))
        let agent = server.agent(session)
        for path in ["api/1", "api/2?x=%20y", "api/1"] {
            _ = try await agent.send(Call<String>(.get, path))
        }
        _ = try await agent.send(Call<String>(.post, "api", body: .text("x")))
        let requests = server.received.filter { $0.path.hasPrefix("/api") }
        #expect(requests.count == 4 && Set(requests.map { $0.headers["DPoP"] }).count == 4)
        #expect(requests.allSatisfy { $0.headers[.authorization]?.hasPrefix("DPoP ") == true })
        // The token is renewed with the same key.
        server.expireAccessTokens()
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(server.refreshes == 1)
    }

    @Test("a stolen token is useless, because requests with another key don't get a token or a resource") func stolen()
        async throws
    {
        let server = try AuthorizationServer()
        let session = try await server.session(server.client(dpop: try DPoP(key: .generate(.p256))))
        let token = try #require(session.token)
        let thief = server.client(dpop: try DPoP(key: .generate(.p256)))
        #expect(await failure { _ = try await thief.refresh(token) }?.code == .invalidGrant)
        let theirs = OAuthSession(thief)
        await theirs.signIn(token)
        await #expect(throws: (any Error).self) { try await server.agent(theirs).send(Call<String>(.get, "api")) }
        let bare = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [.authentication(.bearer(token.accessToken))])
        await #expect(throws: ErrandError.self) { try await bare.send(Call<String>(.get, "api")) }
    }

    @Test("the server's nonces are used, at the token endpoint and the resource, and replaced after each change")
    func nonces() async throws {
        let server = try AuthorizationServer()
        server.behave { ($0.nonce, $0.resourceNonce) = ("nonce-1", "resource-1") }
        let client = server.client(dpop: try DPoP(key: .generate(.p256)))
        let session = try await server.session(client)
        #expect(server.received("/token").count == 2)
        let agent = server.agent(session)
        for count in [2, 3, 4] {
            #expect(try await agent.send(Call<String>(.post, "api", body: .text("x"))).value == "/api")
            #expect(server.received("/api").count == count)
        }
        server.behave { $0.resourceNonce = "resource-2" }
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(server.received("/api").count == 6 && server.refreshes == 0)
        server.behave { $0.nonce = "nonce-2" }
        server.expireAccessTokens()
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(server.refreshes == 1 && server.received("/token").count == 4)
    }

    @Test("a nonce that changes with each response is requested once per request, without a loop") func restless()
        async throws
    {
        let number = Mutex(0)
        let stub = StubTransport { _ in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return StubResponse(
                status: 401,
                headers: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "nonce-\(next)"])
        }
        let dpop = try DPoP(key: .generate(.p256))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [.authentication(.custom(scheme: "DPoP", credentials: "token")), DPoPFilter(dpop: dpop)])
        await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, "api")) }
        #expect(stub.received.count == 2)
        // A body that can be read only once isn't sent again.
        await #expect(throws: ErrandError.self) {
            try await agent.send(Call<String>(.post, "api", body: .stream(HTTPBody(Data("x".utf8)))))
        }
        #expect(stub.received.count == 3)
        for nonce in ["", "a b", "\"", String(repeating: "x", count: 2000)] {
            let hostile = StubTransport { _ in
                StubResponse(
                    status: 401,
                    headers: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": nonce])
            }
            let agent = NetworkAgent(
                baseURL: "https://api.example.com", transport: hostile,
                filters: [.authentication(.custom(scheme: "DPoP", credentials: "token")), DPoPFilter(dpop: dpop)])
            await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, "api")) }
            #expect(hostile.received.count == 1, "\(nonce)")
        }
    }

    @Test("a replayed proof is refused, even with the right token") func replayed() async throws {
        let server = try AuthorizationServer()
        let session = try await server.session(server.client(dpop: try DPoP(key: .generate(.p256))))
        _ = try await server.agent(session).send(Call<String>(.get, "api"))
        let seen = try #require(server.received("/api").first)
        var call = Call<HTTPResponse>(.get, "api")
        call.acceptableStatuses = .any
        call.headers = ["DPoP": seen.headers["DPoP"] ?? "", .authorization: seen.headers[.authorization] ?? ""]
        let response = try await NetworkAgent(baseURL: server.url, transport: .system).send(call).value
        #expect(response.status == 401)
        #expect(response.headers[.wwwAuthenticate]?.contains("invalid_dpop_proof") == true)
    }

    @Test("after a refusal by a resource server with another clock, proofs use that server's time") func clock()
        async throws
    {
        let server = try AuthorizationServer()
        let session = try await server.session(server.client(dpop: try DPoP(key: .generate(.p256))))
        server.behave { $0.clockOffset = 3600 }
        let agent = server.agent(session)
        for count in [2, 3] {
            #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
            #expect(server.received("/api").count == count)
        }
    }

    @Test(
        "if the server's clock differs, the token endpoint's date is used once, for proofs and for assertions",
        arguments: [3600.0, -3600], [true, false])
    func clockOfTokens(offset: Double, isProof: Bool) async throws {
        let server = try AuthorizationServer()
        let key = try PrivateKey.generate(.p256)
        if !isProof { server.behave { $0.registration = .key(key.publicKey) } }
        let client = server.client(
            isProof ? .none : try .privateKey(key), dpop: isProof ? try DPoP(key: .generate(.p256)) : nil)
        server.behave { $0.clockOffset = offset }
        let session = try await server.session(client)
        // The refused code is redeemed with the second request.
        #expect(session.token != nil && server.received("/token").count == 2)
        let agent = server.agent(session)
        server.expireAccessTokens()
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        // From here on, the client knows the difference between the clocks.
        #expect(server.refreshes == 1 && server.received("/token").count == 3)
        // The time can't be the reason anymore, so nothing is repeated.
        server.behave { $0.registration = .basic("canary-other") }
        #expect(await failure { _ = try await client.clientToken() }?.serverCode == "invalid_client")
        #expect(server.received("/token").count == 4)
    }

    @Test("a refusal whose date differs is repeated once, and not if nothing in the request has a date")
    func clockOnce() async throws {
        for (error, isSigned, count) in [
            ("invalid_client", true, 2), ("invalid_client", false, 1), ("invalid_grant", true, 1),
            ("invalid_dpop_proof", true, 1),
        ] {
            let server = try AuthorizationServer()
            let client = server.client(isSigned ? try .privateKey(PrivateKey.generate(.p256)) : .none)
            // A clock that runs away: each refusal has another date.
            let number = Mutex(0.0)
            server.behave {
                $0.errorOfToken = .computed { _ in
                    let next = number.withLock { number in
                        number += 1
                        return number
                    }
                    return .json(#"{"error":"\#(error)"}"#, status: 400).header(
                        .date, HTTPDate.format(Date(timeIntervalSince1970: 1_000_000_000 + next * 9000)))
                }
            }
            #expect(await failure { _ = try await client.clientToken() }?.serverCode == error)
            #expect(server.received("/token").count == count, "\(error)")
        }
    }

    @Test("a server that ignores the proof, or sends a DPoP token without one, is refused") func types() async throws {
        let server = try AuthorizationServer()
        server.behave { $0.tokenType = "Bearer" }
        let client = server.client(dpop: try DPoP(key: .generate(.p256)))
        #expect(await failure { _ = try await client.clientToken() }?.code == .tokenTypeMismatch)
        server.behave { $0.tokenType = "DPoP" }
        #expect(await failure { _ = try await server.client().clientToken() }?.code == .tokenTypeMismatch)
    }

    @Test("a key that can't sign is an error with its cause") func keys() async throws {
        struct Locked: Error {}
        struct LockedKey: KeySigner {
            let algorithms: [KeyAlgorithm] = [.ecdsaP256SHA256]
            func signature(of message: Data, by algorithm: KeyAlgorithm) async throws -> Data { throw Locked() }
        }
        let server = try AuthorizationServer()
        let dpop = try DPoP(signer: LockedKey(), publicKey: PrivateKey.generate(.p256).publicKey)
        let error = await failure { _ = try await server.client(dpop: dpop).clientToken() }
        #expect(error?.code == .keyFailed && error?.underlying is Locked)
        let other = await failure { _ = try await server.client(.privateKey(LockedKey())).clientToken() }
        #expect(other?.code == .keyFailed && other?.underlying is Locked)
    }

    // RFC 9449, sections 4.1, 7.1 and 6.1.
    private static let key =
        #"{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256"}"#
    private static let tokenProof = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZ\
        OXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIs\
        ImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmV\
        yLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4Pt\
        FLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg
        """
    private static let resourceProof = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZ\
        OXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIs\
        ImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJ\
        jZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05\
        yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmc\
        w6Fy1dqd-jfxSYoMxhAJpLjA
        """
}
