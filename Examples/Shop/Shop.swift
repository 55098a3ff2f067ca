package import Errand
package import ErrandTesting

/// A server on the loopback interface, and an agent that talks to it over a real socket.
package struct Shop: Sendable {
    package let server: TestServer
    package let agent: NetworkAgent
    /// Open it to release the slow response.
    package let gate = Gate()

    package init(over transport: some Transport) throws {
        server = try TestServer()
        server.on(.get, "/v1/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        server.on(.post, "/v1/users") { request in
            let user = try request.json(NewUser.self)
            return .json(#"{"id":8,"name":"\#(user.name)"}"#, status: 201)
        }
        server.on(.get, "/v1/old", .redirect(to: "/v1/users/7"))
        server.on(.get, "/v1/nothing", .json(#"{"reason":"no such thing"}"#, status: 404))
        server.on(.get, "/v1/slow", .text("at last").waiting(for: gate))
        server.on(.get, "/v1/ping", .text("pong"))
        agent = NetworkAgent(baseURL: server.url("v1"), transport: transport)
    }
}
