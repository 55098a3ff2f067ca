// The code that docs/tutorials/sign-in.md builds, step by step.
import Errand
import ErrandAuthentication
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

enum SignInTutorial {
    struct SignIn: Request {
        typealias Output = BearerToken
        let user: String
        let password: String
        var method: HTTPMethod { .post }
        var path: String { "oauth/token" }
        var body: RequestBody { .form(["grant_type": "password", "username": user, "password": password]) }
    }

    struct Refresh: Request {
        typealias Output = BearerToken
        let token: String
        var method: HTTPMethod { .post }
        var path: String { "oauth/token" }
        var body: RequestBody { .form(["grant_type": "refresh_token", "refresh_token": token]) }
    }

    struct GetName: CacheableRequest {
        typealias Output = String
        var path: String { "me/name" }
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    /// An app's keychain; elsewhere a service, or a file that only its owner can read.
    nonisolated protocol TokenVault: Sendable {
        var token: BearerToken? { get }
        func save(_ token: BearerToken?)
    }

    nonisolated final class Account: Sendable {
        let agent: NetworkAgent
        private let accounts: NetworkAgent
        private let session: AuthenticationSession<BearerToken>
        private let cache = ResponseCache(.memory())
        private let vault: any TokenVault

        init(_ url: String, over transport: any Transport, vault: any TokenVault) {
            let accounts = NetworkAgent(baseURL: url, transport: transport)
            let session = AuthenticationSession(vault.token) { token in
                guard let token, let refresh = token.refreshToken else { return nil }
                let new = try await accounts.send(Refresh(token: refresh)).value.renewing(token)
                vault.save(new)
                return new
            }
            agent = NetworkAgent(baseURL: url, transport: transport, filters: [.authentication(session), cache])
            (self.accounts, self.session, self.vault) = (accounts, session, vault)
        }

        func signIn(user: String, password: String) async throws {
            let token = try await accounts.send(SignIn(user: user, password: password)).value
            vault.save(token)
            session.signIn(token)
        }

        func signOut() async throws {
            session.signOut()
            agent.cancelAll()
            vault.save(nil)
            try await cache.remove(.all)
        }
    }

    @MainActor static func show(_ account: Account, ask: () async -> Void) async throws -> String? {
        do {
            return try await account.agent.send(GetName()).value
        } catch let error as AuthenticationError where error.code == .signedOut {
            await ask()  // the sign-in screen
            return nil
        }
    }
}

@Suite("The tutorial of signing in", .leakChecked) struct SignInTutorialTests {
    typealias Account = SignInTutorial.Account
    typealias GetName = SignInTutorial.GetName

    nonisolated private final class Vault: SignInTutorial.TokenVault {
        private let stored = Mutex<BearerToken?>(nil)
        var token: BearerToken? { stored.withLock { $0 } }
        func save(_ token: BearerToken?) { stored.withLock { $0 = token } }
    }

    @Test("a token is refreshed once for all requests, and signing out removes all data")
    func session() async throws {
        let stub = StubTransport { request in
            if request.url.path == "/oauth/token" {
                let form = String(decoding: request.body.data ?? Data(), as: UTF8.self)
                return .json(#"{"access_token":"\#(form.contains("r1") ? "a2" : "a1")","refresh_token":"r1"}"#)
            }
            return request.headers[.authorization] == "Bearer a2" ? .text("Ada") : .status(401)
        }
        let vault = Vault()
        let account = Account("https://api.example.com", over: stub, vault: vault)
        try await account.signIn(user: "ada", password: "secret")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 1...10 { group.addTask { try await account.agent.send(GetName()).value } }
            var names: [String] = []
            for try await name in group { names.append(name) }
            return names
        }
        #expect(names == Array(repeating: "Ada", count: 10))
        #expect(stub.received.filter { $0.url.path == "/oauth/token" }.count == 2)  // one sign-in, one refresh
        #expect(vault.token?.token == "a2")

        try await account.signOut()
        #expect(vault.token == nil)
        var asked = false
        #expect(try await SignInTutorial.show(account) { asked = true } == nil)
        #expect(asked)
    }
}
