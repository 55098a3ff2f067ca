import Errand
import ErrandSystemTransport
import ErrandTesting
import Testing

#if os(Linux)
import ErrandCurlTransport
#else
import ErrandURLSessionTransport
#endif

@Suite("The platform's transport", .endsInTime, .leakChecked)
struct SystemTransportTests {
    struct Ping: Request {
        typealias Output = String
        let path = "ping"
    }

    @Test("an agent with .system exchanges a request with a server")
    func exchange() async throws {
        let server = try TestServer()
        server.on(.get, "/ping", .text("pong"))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        #expect(try await agent.send(Ping()).value == "pong")
    }

    @Test("each use of .system creates its own transport")
    func identity() {
        let (first, second): (SystemTransport, SystemTransport) = (.system, .system)
        #expect(first !== second)
    }

    @Test(".system is libcurl on Linux and URLSession elsewhere")
    func platform() {
        let transport: any Transport = .system
        #if os(Linux)
        #expect(transport is CurlTransport)
        #else
        #expect(transport is URLSessionTransport)
        #endif
    }
}
