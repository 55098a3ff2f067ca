import Errand
import ErrandTesting
import Testing

@testable import Hello

@Test("a repository is decoded") func repository() async throws {
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .stub(.json(#"{"name":"swift","description":null}"#)))
    let repository = try await agent.send(GetRepository(name: "swiftlang/swift")).value
    #expect(repository.name == "swift")
}
