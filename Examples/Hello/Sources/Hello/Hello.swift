import Errand
import ErrandSystemTransport

nonisolated struct Repository: Decodable, Sendable {
    let name: String
    let description: String?
}

struct GetRepository: Request {
    typealias Output = Repository
    let name: String
    var path: String { "repos/\(name)" }
}

@main struct Hello {
    static func main() async {
        let agent = NetworkAgent(baseURL: "https://api.github.com", transport: .system)
        do {
            let repository = try await agent.send(GetRepository(name: "swiftlang/swift")).value
            print(repository.name, repository.description ?? "")
        } catch {
            print(error)
        }
    }
}
