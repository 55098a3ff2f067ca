// The code in docs/integrations.md, so it's known to compile.
import Errand
import ErrandOpenAPI
import ErrandRetry
import ErrandSystemTransport

private func generated() throws {
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system, filters: [.standardResilience])
    let transport = AgentTransport(agent) { call in
        call.deadline = .seconds(5)
    }
    let client = Client(serverURL: try Servers.Server1.url(), transport: transport)
    _ = client
}
