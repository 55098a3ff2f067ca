package import Errand
package import ErrandExampleUsers

package struct NewUser: Codable, Sendable {
    let name: String
}

package struct CreateUser: Request {
    package typealias Output = User
    let name: String
    package var method: HTTPMethod { .post }
    package var path: String { "users" }
    package var body: RequestBody { .json(NewUser(name: name)) }

    package init(name: String) { self.name = name }
}

/// The text at a path.
package struct GetText: Request {
    package typealias Output = String
    package let path: String

    package init(path: String) { self.path = path }
}
