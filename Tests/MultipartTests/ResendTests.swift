import Errand
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Forms that are sent again", .endsInTime, .leakChecked) struct ResendTests {
    @Test("after a 401, the form is sent again with the same bytes, including files and boundary")
    func afterRefusal() async throws {
        let folder = try Folder(["a.txt": String(repeating: "file\n", count: 50_000)])
        let server = try TestServer()
        server.on("/upload") { $0.headers["Authorization"] == "Bearer new" ? .status(204) : .status(401) }
        let again = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            guard response.status == 401 else { return response }
            await exchange.discard(response)
            var exchange = exchange
            exchange.http.headers["Authorization"] = "Bearer new"
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [again])
        let form = RequestBody.multipart(.field("a", "text"), .file(folder.file("a.txt"), name: "b"))
        for _ in 0..<2 { try await agent.send(Call<Void>(.post, "upload", body: form)) }
        let received = server.received
        #expect(received.map { $0.headers["Authorization"] } == [nil, "Bearer new", nil, "Bearer new"])
        try #require(received.count == 4)
        for first in [0, 2] {
            #expect(received[first].body == received[first + 1].body && received[first].body.count > 250_000)
            #expect(received[first].headers[.contentType] == received[first + 1].headers[.contentType])
        }
    }
}
