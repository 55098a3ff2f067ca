// The code in docs/integrations.md, so it's known to compile.
import AsyncHTTPClient
import Errand
import ErrandAsyncHTTPClient

private func agents(client: HTTPClient) throws {
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .asyncHTTPClient)
    let shared = NetworkAgent(baseURL: "https://api.example.com", transport: .asyncHTTPClient(client))
    _ = (agent, shared)
}
