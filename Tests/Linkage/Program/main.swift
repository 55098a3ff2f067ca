// A program that uses Core and its own transport, for Tests/Linkage/check.
import Errand
import ErrandEssentials

struct Ping: Request {
    typealias Output = String
    var path: String { "ping" }
}

struct Pong: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200, body: HTTPBody(Data("pong".utf8)))
    }
}

let agent = NetworkAgent(baseURL: "http://stub", transport: Pong())
print(try await agent.send(Ping()).value)
