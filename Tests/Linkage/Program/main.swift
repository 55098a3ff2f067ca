// A program of Core and the stub transport alone, for Tests/Linkage/check.
import Errand
import ErrandTesting

struct Ping: Request {
    typealias Output = String
    var path: String { "ping" }
}

let agent = NetworkAgent(baseURL: "http://stub", transport: .stub(.text("pong")))
print(try await agent.send(Ping()).value)
