// The second base class in docs/coming-from-ytknetwork.md.
import Errand
import ErrandAuthentication
import ErrandSystemTransport
import ErrandURLFilters

private struct LoginScreen: Sendable { func show() async -> AppToken? { nil } }

private struct AppToken: Credential, Codable {
    let user: String
    let token: String
    var owner: String? { user }

    func authorize(_ request: inout HTTPRequest) { request.headers["token"] = token }
}

private func session(_ saved: AppToken?, _ loginScreen: LoginScreen, version: String) {
    let session = AuthenticationSession(saved, refreshTimeout: .seconds(600)) { _ in
        await loginScreen.show()  // an AppToken, or nil if it was closed
    }
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.authentication(session), .headers(["platform": "ios", "version": version])])
    _ = agent
}
