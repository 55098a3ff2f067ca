import Errand
import ErrandAuthentication
import ErrandExampleRequests
import ErrandExampleUsers
import ErrandRetry
import ErrandSystemTransport
import Observation

/// An account: signs in, silently refreshes an expired token, and signs out.
@Observable package final class AccountModel {
    package var user = "ada"
    package var password = ""
    package private(set) var isSignedIn = false
    /// The user's name, as returned by the server.
    package private(set) var name: String?
    /// How many times the server refused a token and it was refreshed.
    package private(set) var refusals = 0
    /// Whether a request is running.
    package private(set) var isBusy = false
    /// A message about the last failure.
    package private(set) var failure: String?
    /// Sends refreshes. It has no session filter, so a refresh doesn't wait for itself.
    @ObservationIgnored private let accounts: NetworkAgent
    @ObservationIgnored private let session: AuthenticationSession<BearerToken>
    @ObservationIgnored private let agent: NetworkAgent

    package init(_ url: String) {
        let accounts = NetworkAgent(baseURL: url, transport: .system, filters: [.retry])
        // An app keeps the token in its keychain: return the stored token here, and save each new one.
        session = AuthenticationSession { old in
            guard let old, let refresh = old.refreshToken else { return nil }
            return try await accounts.send(RefreshToken(refresh)).value.renewing(old)
        }
        agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry, .authentication(session)])
        self.accounts = accounts
    }

    package func signIn() async {
        await run {
            session.signIn(try await accounts.send(SignIn(user: user, password: password)).value)
            (password, isSignedIn) = ("", true)
            try await show()
        }
    }

    /// Asks the server for the user. The token may have expired.
    package func load() async {
        await run { try await show() }
    }

    /// Signs out. A running request ends, and is never resent as another user.
    package func signOut() {
        session.signOut()
        agent.cancelAll()
        (isSignedIn, name, refusals, failure) = (false, nil, 0, nil)
    }

    private func show() async throws {
        let listener = MainActorAccessory { [weak self] _, event in
            if case .received(let response, _) = event, response.status == 401 { self?.refusals += 1 }
        }
        name = try await agent.send(GetUser(id: 7), options: CallOptions(accessories: [listener])).value.name
    }

    private func run(_ work: () async throws -> Void) async {
        if isBusy { return }
        (isBusy, failure) = (true, nil)
        do {
            try await work()
        } catch let error as AuthenticationError where error.code == .signedOut {
            signOut()
            failure = "You have been signed out. Please sign in again."
        } catch let error as ErrandError where !isSignedIn && error.response?.status == 400 {
            failure = "The name or the password is wrong."
        } catch {
            failure = error.sentence
        }
        isBusy = false
    }
}
