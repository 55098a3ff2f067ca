// The code of docs/compression.md.
import Errand
import ErrandCompression
import ErrandSystemTransport
import Foundation

private func forAll() {
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system, filters: [.bodyCompression(.gzip)])
    _ = agent
}

private func once(_ agent: NetworkAgent, _ file: URL) async throws {
    let options = CallOptions(filters: [.bodyCompression(.zstd(level: 9), minimumBytes: 10_000)])
    try await agent.send(Call<Void>(.put, "backup", body: .file(file)), options: options)
}
