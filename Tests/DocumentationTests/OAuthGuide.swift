// The code of docs/oauth.md.
import Errand
import ErrandOAuth
import ErrandOAuthTesting
import ErrandSystemTransport
import Foundation
import Testing

#if os(Linux) || os(macOS)
private func everywhere(_ file: URL) {
    let client = OAuthClient(issuer: "https://id.example.com", id: "app-1", transport: .system)
    let session = OAuthSession(client, store: FileTokenStore(file)) { client in
        try await client.signIn(scope: "openid profile", browser: LoopbackBrowser())
    }
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system, filters: [.authentication(session)])
    _ = agent
}
#endif

private func browsers(_ client: OAuthClient) async throws {
    var browser = LoopbackBrowser { url in print("Open \(url)") }
    browser.path = "/signed-in"
    browser.timeout = .seconds(120)
    let token = try await client.signIn(scope: "openid", browser: browser, parameters: ["prompt": "login"])
    _ = token
}

private func devices(_ client: OAuthClient) async throws {
    let token = try await client.signInOnDevice(scope: "profile") { device in
        print("Open \(device.page) and enter \(device.userCode)")
    }
    _ = token
}

private func programs(_ secret: String) {
    let reports = OAuthClient(
        issuer: "https://id.example.com", id: "reports", authentication: .basic(secret: secret), transport: .system)
    let session = OAuthSession(reports) { try await $0.clientToken(scope: "reports:read") }
    _ = session
}

private func sessions(_ session: OAuthSession, _ token: OAuthToken, showHome: () -> Void) async throws {
    if try await session.restore() { showHome() }  // at launch
    await session.signIn(token)  // such as after a sign-in screen
    try await session.signOut()  // here, in the store, and at the server
}

private final class Folder: Sendable {
    let store = MemoryTokenStore()
}

private struct MyStore: TokenStore {
    private let place: Folder

    init(_ place: Folder) { self.place = place }

    func load() async throws -> OAuthToken? { place.store.load() }
    func save(_ token: OAuthToken) async throws { place.store.save(token) }
    func remove() async throws { place.store.remove() }
}

@Suite("A store of tokens as in the guide") struct OwnTokenStoreTests {
    @Test(arguments: TokenStoreSuite.cases) func conforms(_ test: TokenStoreSuite.Case) async throws {
        let place = Folder()
        try await test.run { MyStore(place) }
    }
}

private func proofs() throws {
    let dpop = try DPoP(key: .generate(.p256))
    let client = OAuthClient(issuer: "https://id.example.com", id: "app-1", dpop: dpop, transport: .system)
    _ = client
}

private func servers() {
    var server = OAuthServer(issuer: "https://github.com")
    server.authorizationEndpoint = URL(string: "https://github.com/login/oauth/authorize")
    server.tokenEndpoint = URL(string: "https://github.com/login/oauth/access_token")
    let github = OAuthClient(server: server, id: "app-1", transport: .system)
    _ = github
}
