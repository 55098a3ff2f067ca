// The code of docs/authentication.md.
import Errand
import ErrandAuthentication
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

private struct Refresh: Request {
    typealias Output = BearerToken
    let token: String
    var path: String { "token" }
}

private nonisolated struct Keychain: Sendable { func save(_ token: BearerToken) {} }
private nonisolated struct Envelope: Decodable { let code: Int }
private struct SignInScreen: Sendable { func show() async -> BearerToken? { nil } }

private func firstSession(_ saved: BearerToken?, _ accounts: NetworkAgent, _ keychain: Keychain) {
    let session = AuthenticationSession(saved) { token in
        guard let token, let refresh = token.refreshToken else { return nil }
        let new = try await accounts.send(Refresh(token: refresh)).value.renewing(token)
        keychain.save(new)
        return new
    }
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system, filters: [.authentication(session)])
    _ = agent
}

private func sameAgent(_ saved: BearerToken?) {
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system)
    let session = AuthenticationSession(saved) { [weak agent] token in
        guard let agent, let token, let refresh = token.refreshToken else { return nil }
        return try await agent.send(Refresh(token: refresh)).value.renewing(token)
    }
    agent.configure { $0.filters = [.authentication(session)] }
}

private func basic(_ password: String) {
    let reports = NetworkAgent(
        baseURL: "https://reports.example.com", transport: .system,
        filters: [.authentication(.basic(user: "ada", password: password))])
    _ = reports
}

private func ends(_ saved: BearerToken?, renew: @escaping @Sendable (BearerToken?) async throws -> BearerToken?) {
    let strict = AuthenticationSession(saved) { token in
        do { return try await renew(token) } catch let error as ErrandError where error.response?.status == 403 {
            throw SessionEnded(error)
        }
    }
    _ = strict
}

private func refusals(_ saved: BearerToken?, renew: @escaping @Sendable (BearerToken?) async throws -> BearerToken?) {
    let ours = AuthenticationSession(
        saved, isRejection: { response in (try? response.json(Envelope.self))?.code == 40_100 },
        refresh: { token in try await renew(token) })
    _ = ours
}

private func changes(_ session: AuthenticationSession<BearerToken>, _ token: BearerToken) {
    session.signIn(token)  // such as after a sign-in screen
    session.signOut()
    session.renew(with: token)  // another token of the same user, such as from another process
    session.expire()  // the next request refreshes first
}

private func parking(_ signInScreen: SignInScreen) {
    let screens = AuthenticationSession<BearerToken>(refreshTimeout: .seconds(600)) { _ in
        await signInScreen.show()  // a BearerToken, or nil if it was closed
    }
    _ = screens
}

private struct GetWeather: Request { var path: String { "weather" } }

private struct GetForecast: Request {
    var path: String { "forecast" }
    var tags: Tags { Tags().with(AuthenticationMode.self, .ifSignedIn) }
}

private func modes(_ agent: NetworkAgent) async throws {
    let weather = try await agent.send(GetWeather(), options: .authentication(.ifSignedIn))
    _ = weather
}

private func recipe(
    _ agent: NetworkAgent, _ saved: BearerToken?, renew: @escaping @Sendable (BearerToken?) async throws -> BearerToken?
) {
    let session = AuthenticationSession(saved) { token in try await renew(token) }
    agent.configure { $0.filters.append(.authentication(session)) }
}

struct StationToken: Credential {
    let access: String
    let refresh: String

    func authorize(_ request: inout HTTPRequest) { request.headers["X-Token"] = access }
    func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
}

struct DeviceKey: Credential {
    let id: String
    let key: String

    func authorize(_ request: inout HTTPRequest) {
        request.headers["X-Device"] = id
        request.headers["X-Device-Key"] = key
    }
}

@Suite("The examples on the page about authentication", .endsInTime, .leakChecked) struct AuthenticationGuideTests {
    @Test("a request type can be sent without a credential if there is no credential")
    func optional() async throws {
        let stub = StubTransport(.text("ok"))
        let session = AuthenticationSession<BearerToken> { _ in nil }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.authentication(session)])
        _ = try await agent.send(GetForecast())
        session.signIn(BearerToken("a"))
        _ = try await agent.send(GetForecast())
        #expect(stub.received.map { $0.headers[.authorization] } == [nil, "Bearer a"])
        #expect(session.isSignedIn && session.credential?.token == "a")
    }

    @Test("a handler's request from another task is recognized by the refresh token it carries")
    func renewal() throws {
        let token = StationToken(access: "a", refresh: "canary")
        let url = try #require(URL(string: "https://accounts.example.com/token"))
        let refresh = HTTPRequest(.post, url, body: .data(Data(#"{"refresh_token":"canary"}"#.utf8)))
        #expect(token.isRenewed(by: refresh) && !token.isRenewed(by: HTTPRequest(.get, url)))
    }

    @Test("one agent has a user session and a device session, and both credentials are masked")
    func two() async throws {
        let stub = StubTransport(.text("ok"))
        let user = AuthenticationSession(BearerToken("canary")) { $0 }
        let device = AuthenticationSession(DeviceKey(id: "7", key: "canary"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [.authentication(user), .authentication(device)])
        _ = try await agent.send(GetWeather())
        let headers = try #require(stub.received.last).headers
        #expect(headers[.authorization] == "Bearer canary" && headers["X-Device-Key"] == "canary")
        #expect(headers["X-Device"] == "7" && !headers.description.contains("canary"))
    }
}
