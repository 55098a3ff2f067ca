import Errand
import ErrandJSONDecoding
import ErrandTesting
import Foundation
import Testing

@Suite("The fast decoder on an agent", .endsInTime, .leakChecked)
struct AgentTests {
    private struct User: Decodable, Equatable {
        let id: Int
        let userName: String?
    }

    private func agent(_ text: String) -> NetworkAgent {
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(text)))
        agent.configure { $0.decoder = .fast }
        return agent
    }

    @Test("an agent decodes with it, and a request can have its own decoder")
    func decodes() async throws {
        let agent = agent(#"{"id":7,"user_name":"Ada"}"#)
        #expect(try await agent.send(Call<User>(.get, "user")).value == User(id: 7, userName: nil))
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let own = decoder
        let user = try await agent.send(Call<User>(.get, "user") { $0.decoder = own }).value
        #expect(user == User(id: 7, userName: "Ada"))
    }

    @Test("a failure reports its path, as with JSONDecoder")
    func failure() async throws {
        do {
            _ = try await agent(#"[{"id":"x"}]"#).send(Call<[User]>(.get, "users"))
            Issue.record("decoded")
        } catch let error as ErrandError {
            #expect(error.code == .decodingFailed)
            #expect(error.message.contains("id"))
            #expect(error.underlying is DecodingError)
        }
    }
}
