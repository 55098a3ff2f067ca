import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Credentials that expire during an upload", .leakChecked) struct CredentialTests {
    @Test("a token that expires between two parts is replaced, and no byte is sent twice or lost", arguments: kinds)
    func expired(kind: UploadOrigin.Kind) async throws {
        let film = bytes(500_000)
        let token = Mutex("first")
        let origin = try UploadOrigin(kind)
        origin.set {
            $0.fault = { _, request in
                request.headers["Authorization"] == "Bearer \(token.withLock { $0 })" ? nil : .respond(401)
            }
        }
        let held = Mutex("first")
        let (parts, refreshes) = (Counter(), Counter())
        @Sendable func authorized(_ exchange: Exchange) -> Exchange {
            var exchange = exchange
            exchange.http.headers.set(.authorization, "Bearer \(held.withLock { $0 })", sensitive: true)
            let fields = exchange.http.headers.filter { $0.name == .authorization }
            exchange.assign(to: UserMark("ada", source: "account"), carriedBy: Array(fields))
            return exchange
        }
        let refreshing = ClosureFilter(.hop) { exchange, next in
            if exchange.http.method == .patch, parts.increment() % 3 == 0 {
                token.withLock { $0 = "later\(refreshes.increment())" }
            }
            let response = try await next(authorized(exchange))
            guard response.status == 401 else { return response }
            await exchange.discard(response)
            let new = token.withLock { $0 }
            held.withLock { $0 = new }
            return try await next(authorized(exchange))
        }
        let agent = NetworkAgent(
            baseURL: origin.url, transport: .system, filters: [.uploads(quick(part: 60_000)), refreshing])
        _ = try await agent.send(Send(.data(film)))
        #expect(origin.snapshot.bodies.map { Data($0) } == [film] && refreshes.value > 1)
    }
}
