import Errand

package struct User: Codable, Sendable {
    package let id: Int
    package let name: String

    package init(id: Int, name: String) { (self.id, self.name) = (id, name) }
}

package struct GetUser: Request {
    package typealias Output = User
    package let id: Int
    package var path: String { "users/\(id)" }

    package init(id: Int) { self.id = id }
}
