import Errand
import ErrandTesting
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("What the test server answers", .timeLimit(.minutes(2)))
struct ServerAnswerTests {
    @Test("a route answers with a status line, its headers and its body")
    func route() async throws {
        let server = try TestServer()
        server.on(.get, "/users/7", .json(#"{"id":7}"#))
        let rest = try await exchange(server.port, get("/users/7?full=1"))
        #expect(
            rest.text
                == "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\nConnection: close\r\n\r\n"
                + #"{"id":7}"#)
        #expect(!rest.wasReset)
    }
}
