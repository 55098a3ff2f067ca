package import Errand
package import ErrandAuthentication

/// Gets a user's first token. Uses PUT, so it can be retried after a failure.
package struct SignIn: Request {
    package typealias Output = BearerToken
    package let user: String
    package let password: String
    package var method: HTTPMethod { .put }
    package var path: String { "token" }
    package var body: RequestBody {
        .form(["grant_type": "password", "username": user, "password": password])
    }

    package init(user: String, password: String) { (self.user, self.password) = (user, password) }
}

/// Exchanges a refresh token for a new token.
package struct RefreshToken: Request {
    package typealias Output = BearerToken
    package let token: String
    package var method: HTTPMethod { .put }
    package var path: String { "token" }
    package var body: RequestBody { .form(["grant_type": "refresh_token", "refresh_token": token]) }

    package init(_ token: String) { self.token = token }
}
