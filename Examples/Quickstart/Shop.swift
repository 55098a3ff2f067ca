import Errand
import ErrandExampleRequests
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting

/// A server on the loopback interface, and an agent that speaks to it over a real socket.
struct Shop: Sendable {
    let server: TestServer
    let agent: NetworkAgent
    /// Records what the agent sends.
    let cassette: ReplayTransport
    let recording: RecordingFile
    /// Opens when a customer has waited long enough for the slow response.
    let gate = Gate()

    init() throws {
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
        recording = try RecordingFile()
        cassette = try ReplayTransport(har: recording.file, mode: .recordAll(over: .system))
        agent = NetworkAgent(baseURL: server.url("v1"), transport: cassette)
    }
}

struct NewUser: Codable, Sendable {
    let name: String
}

struct CreateUser: Request {
    typealias Output = User
    let name: String
    var method: HTTPMethod { .post }
    var path: String { "users" }
    var body: RequestBody { .json(NewUser(name: name)) }
}

/// A text at a path.
struct GetText: Request {
    typealias Output = String
    let path: String
}
