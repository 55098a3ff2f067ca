import Errand
import ErrandEssentials
import ErrandExampleShop
import ErrandOAuth
import ErrandSigning
import ErrandSystemTransport
import ErrandTesting
import Synchronization

/// Shows a sign-in with OAuth, a token that is renewed, and signed requests.
enum CredentialsChapter {
    static func run() async throws {
        Chapter.begin("Credentials: sign in with OAuth, renew, sign requests")
        let server = try authorizationServer()
        let client = OAuthClient(issuer: server.url, id: "tour", transport: .system)
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-tour-\(UUID())")
        let session = OAuthSession(client, store: FileTokenStore(folder.appending(path: "token.json"))) { client in
            // In a terminal, print the URL. Here, a request follows the page to the app's listener, as a browser does.
            let browser = LoopbackBrowser { page in
                _ = try await NetworkAgent(baseURL: "", transport: .system).send(Call<Data>(.get, page.absoluteString))
            }
            return try await client.signIn(scope: "profile", browser: browser)
        }
        let key = HMACKey("a secret that the server knows too".utf8)
        var signer = try HTTPMessageSigner(key: key, keyID: "tour")
        signer.components = [.method, .targetURI, "authorization"]
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.authentication(session), .signing(signer)])
        let name = try await agent.send(Call<String>(.get, "me")).value
        let shown = session.token.map { "\($0)" } ?? ""
        Chapter.line("the first request signed \(name) in; a log shows the token as \(shown)")
        session.authentication.expire()
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await agent.send(Call<String>(.get, "me")).value } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        let refreshes = server.received.filter { $0.text.contains("grant_type=refresh_token") }.count
        Chapter.line("20 requests met an expired token: \(refreshes) refresh, and each got \(names.joined())")
        if let last = server.received.last(where: { $0.path == "/me" }), let url = URL(string: server.url + last.target)
        {
            let verifier = HTTPMessageVerifier(
                keys: ["tour": VerificationKey(key)], requirements: SignatureRequirements(covering: signer.components))
            let verified = try await verifier.verify(
                SignableMessage(HTTPRequest(last.method, url, headers: last.headers)), at: Date())
            Chapter.line("the server verified a signature of \(verified[0].input.components.map(\.description))")
        }
        try await session.signOut()
        Chapter.line("signed out: the file is empty, and the server has revoked the token")
        Chapter.end()
        try FileManager.default.removeItem(at: folder)
    }

    /// Returns a server that signs everyone in as Ada.
    private static func authorizationServer() throws -> TestServer {
        let server = try TestServer()
        let url = server.url
        let number = Mutex(0)
        server.on(
            "/.well-known/oauth-authorization-server",
            .json(
                """
                {"issuer":"\(url)","authorization_endpoint":"\(url)/authorize","token_endpoint":"\(url)/token",
                "revocation_endpoint":"\(url)/revoke","code_challenge_methods_supported":["S256"]}
                """))
        server.on("/authorize") { request in
            let target = request.query("redirect_uri") ?? ""
            return .redirect(to: "\(target)?code=a-code&state=\(request.query("state") ?? "")&iss=\(url)")
        }
        server.on("/token") { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            return .json(
                #"{"access_token":"a\#(number)","token_type":"Bearer","expires_in":60,"refresh_token":"r\#(number)"}"#)
        }
        server.on("/revoke", .status(200))
        server.on("/me") { request in
            let current = number.withLock { "Bearer a\($0)" }
            return request.headers[.authorization] == current ? .text("Ada") : .status(401)
        }
        return server
    }
}
