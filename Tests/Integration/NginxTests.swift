#if os(Linux) || os(macOS)
import Errand
import ErrandSystemTransport
import ErrandURLSessionTransport
import Foundation
import Testing

#if os(Linux)
import ErrandCurlTransport
#endif

@Suite(
    "Against nginx", .serialized, .enabled(if: Nginx.isInstalled, "\(Nginx.skipReason)"), .endsInTime,
    .leakChecked)
struct NginxTests {
    enum Kind: CaseIterable {
        case system, urlSession

        #if !os(Linux)
        static let allCases: [Kind] = [.system]
        #endif

        var transport: any Transport {
            switch self {
            case .system: .system
            case .urlSession: .urlSession
            }
        }
    }

    struct Get: Request {
        typealias Output = HTTPResponse
        var path: String
        var method = HTTPMethod.get
        var headers: HTTPHeaders = [:]
        var acceptableStatuses: StatusCodes { .any }
    }

    struct Film: Request {
        typealias Output = HTTPBody
        var path: String { "/film.bin" }
    }

    @Test("files, gzip, HEAD, 204, redirects and 401", arguments: Kind.allCases)
    func plain(kind: Kind) async throws {
        let nginx = try await Nginx()
        let agent = NetworkAgent(baseURL: nginx.url, transport: kind.transport)
        let text = try await agent.send(Get(path: "/text.txt")).value
        #expect(try text.text() == Nginx.text)
        #expect(!text.headers.contains(.contentEncoding))
        let asked = try await agent.send(Get(path: "/text.txt", headers: ["Accept-Encoding": "gzip"])).value
        let isCoded = asked.headers[.contentEncoding] == "gzip"
        #expect(isCoded ? asked.data.count < 2_000 : asked.data == Data(Nginx.text.utf8))
        let head = try await agent.send(Get(path: "/film.bin", method: .head)).value
        #expect(head.headers[.contentLength] == "1000000" && head.data.isEmpty)
        #expect(try await agent.send(Get(path: "/empty")).value.status == 204)
        #expect(try await agent.send(Get(path: "/moved")).value.text() == Nginx.text)
        #expect(try await agent.send(Get(path: "/private/text.txt")).value.status == 401)
        let authorization = "Basic " + Data("ada:secret".utf8).base64EncodedString()
        let known = try await agent.send(Get(path: "/private/text.txt", headers: [.authorization: authorization])).value
        #expect(try known.text() == Nginx.text)
        let echo = try await agent.send(Get(path: "/echo", method: "PURGE", headers: ["X-Probe": "a b"])).value
        #expect(try echo.text().hasPrefix("PURGE a b ") || echo.status == 405)
    }

    @Test("range requests and conditional requests work", arguments: Kind.allCases)
    func ranges(kind: Kind) async throws {
        let nginx = try await Nginx()
        let agent = NetworkAgent(baseURL: nginx.url, transport: kind.transport)
        let whole = try await agent.send(Get(path: "/film.bin")).value
        #expect(whole.data == Nginx.film)
        let etag = try #require(whole.headers["ETag"])
        let part = try await agent.send(
            Get(path: "/film.bin", headers: ["Range": "bytes=1000-1999", "If-Range": etag])
        ).value
        #expect(part.status == 206)
        #expect(part.data == Nginx.film[1000..<2000])
        #expect(part.headers["Content-Range"] == "bytes 1000-1999/1000000")
        let beyond = try await agent.send(Get(path: "/film.bin", headers: ["Range": "bytes=1000000-"])).value
        #expect(beyond.status == 416)
        let same = try await agent.send(Get(path: "/film.bin", headers: ["If-None-Match": etag])).value
        #expect(same.status == 304 && same.data.isEmpty)
        var streamed = Data()
        for try await chunk in try await agent.send(Film()).value { streamed += chunk }
        #expect(streamed == Nginx.film)
    }

    @Test("a server that ends its connections after a few requests doesn't cause failures", arguments: Kind.allCases)
    func keepAlive(kind: Kind) async throws {
        let nginx = try await Nginx()
        let agent = NetworkAgent(baseURL: nginx.url, transport: kind.transport)
        for _ in 0..<20 {
            #expect(try await agent.send(Get(path: "/limited/text.txt")).value.text() == Nginx.text)
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask { try await agent.send(Get(path: "/limited/text.txt")).value.text() == Nginx.text }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("a certificate that is not trusted is refused", arguments: Kind.allCases)
    func untrusted(kind: Kind) async throws {
        let nginx = try await Nginx()
        let agent = NetworkAgent(baseURL: nginx.secureURL, transport: kind.transport)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Get(path: "/text.txt")) }
        #expect(error?.code == .insecureConnection, "\(error.debugDescription)")
    }

    #if os(Linux)
    private func secure(_ nginx: Nginx, _ change: (inout CurlConfiguration) -> Void = { _ in }) -> NetworkAgent {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: nginx.authority))
        change(&configuration)
        return NetworkAgent(baseURL: nginx.secureURL, transport: .curl(configuration))
    }

    @Test("TLS works with your own authority, over HTTP/2 and HTTP/1.1")
    func ownAuthority() async throws {
        let nginx = try await Nginx()
        let two = try await secure(nginx).send(Get(path: "/text.txt")).value
        #expect(try two.text() == Nginx.text)
        #expect(two.version == "2")
        let one = try await secure(nginx) { $0.httpVersion = .http1 }.send(Get(path: "/film.bin")).value
        #expect(one.data == Nginx.film)
        #expect(one.version == "1.1")
    }

    @Test("many requests at once share a connection of HTTP/2")
    func multiplexed() async throws {
        let nginx = try await Nginx()
        let agent = secure(nginx)
        let first = try await agent.send(Get(path: "/echo")).value
        #expect(first.version == "2")
        let connections = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await agent.send(Get(path: "/echo")).value.text() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(connections == [try first.text()])
    }

    @Test("a certificate of another host is refused, with its authority trusted")
    func wrongHost() async throws {
        let nginx = try await Nginx()
        let agent = secure(nginx)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Get(path: nginx.wrongURL + "/text.txt"))
        }
        #expect(error?.code == .insecureConnection, "\(error.debugDescription)")
    }

    @Test("a pinned key is accepted, and another key is rejected")
    func pins() async throws {
        let nginx = try await Nginx()
        let other = Data(repeating: 7, count: 32).base64EncodedString()
        let pin = try await nginx.pin("named")
        let right = secure(nginx) { $0.tls.publicKeyPins["localhost"] = [other, pin] }
        #expect(try await right.send(Get(path: "/text.txt")).value.status == 200)
        let wrong = secure(nginx) { $0.tls.publicKeyPins["localhost"] = [other] }
        let error = await #expect(throws: ErrandError.self) { try await wrong.send(Get(path: "/text.txt")) }
        #expect(error?.code == .insecureConnection, "\(error.debugDescription)")
        #expect(error?.message.contains("pin") == true)
    }
    #endif
}
#endif
