import Errand
import ErrandExampleRequests
import ErrandExampleUsers
import ErrandTesting
import Foundation
import Synchronization

/// Issues tokens to one user (name `ada`, password `secret`), and returns her profile for a valid token.
package final class AccountService: Sendable {
    private struct State {
        var number = 0
        var token = ""
        var refreshToken = ""
    }

    private let state = Mutex(State())

    init() {}

    /// Expires the token. Its refresh token stays valid.
    package func expireToken() { state.withLock { $0.token = "" } }

    /// Ends the session and invalidates all tokens.
    package func endSession() { state.withLock { ($0.token, $0.refreshToken) = ("", "") } }

    package var issuedTokens: Int { state.withLock { $0.number } }

    func token(_ request: RecordedRequest) -> TestResponse {
        let form = Set(request.text.split(separator: "&").map(String.init))
        let reply = state.withLock { state -> String? in
            let isSignIn = form.isSuperset(of: ["grant_type=password", "username=ada", "password=secret"])
            let isRefresh =
                !state.refreshToken.isEmpty
                && form.isSuperset(of: ["grant_type=refresh_token", "refresh_token=\(state.refreshToken)"])
            guard isSignIn || isRefresh else { return nil }
            state.number += 1
            (state.token, state.refreshToken) = ("access-\(state.number)", "refresh-\(state.number)")
            return """
                {"access_token":"\(state.token)","token_type":"Bearer","expires_in":3600,\
                "refresh_token":"\(state.refreshToken)"}
                """
        }
        return reply.map { .json($0) } ?? .json(#"{"error":"invalid_grant"}"#, status: 400)
    }

    func user(_ request: RecordedRequest) throws -> TestResponse {
        let token = state.withLock { $0.token }
        guard !token.isEmpty, request.headers[.authorization] == "Bearer \(token)" else { return .status(401) }
        return .data(try JSONEncoder().encode(User(id: 7, name: "Ada")), contentType: "application/json")
    }
}
