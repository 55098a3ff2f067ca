#if os(Linux)
import Errand
import ErrandCache
import ErrandSystemTransport
import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("Entity tags on the wire", .timeLimit(.minutes(10)))
struct EntityTagTests {
    @Test(
        "a tag goes back with the bytes that came, UTF-8 or not, also from disk",
        arguments: ["\"plain\"", "\"caf\u{E9}\"", "latin", "W/latin"])
    func bytes(_ tag: String) async throws {
        // Valid UTF-8 as it is written, or one byte for é.
        let name = "\"caf".utf8 + [0xE9] + "\"".utf8
        let bytes = tag == "latin" ? Array(name) : tag == "W/latin" ? Array("W/".utf8) + name : Array(tag.utf8)
        let server = try RawServer { request in
            request.contains("If-None-Match: ".utf8 + bytes + "\r\n".utf8)
                ? Array("HTTP/1.1 304 Not Modified\r\nETag: ".utf8) + bytes + "\r\n\r\n".utf8
                : Array("HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nContent-Length: 4\r\nETag: ".utf8) + bytes
                    + "\r\n\r\nbody".utf8
        }
        let directory = TemporaryDirectory()
        for expected in [nil, 304, 304] {
            // A store and a cache of its own each time: what comes from disk has to know the bytes too.
            let cache = ResponseCache(.disk(at: directory.url))
            let agent = NetworkAgent(
                baseURL: "http://127.0.0.1:\(server.port)", transport: .system, filters: [cache])
            let response = try await agent.send(Get("a", .http))
            #expect(response.value == "body")
            #expect(
                response.http.source.reason
                    == expected.map { "fwd=stale; fwd-status=\($0); stored" } ?? response.http.source.reason)
            #expect(response.http.source.isCache == (expected != nil))
            await cache.flush()
        }
    }
}

/// Answers each request on a connection of its own with bytes that a closure makes of the request's.
private final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isOpen else { throw CacheStoreError("no socket") }
        (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { return }
                var request: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while !request.contains("\r\n\r\n".utf8) {
                    let count = recv(connection, &buffer, buffer.count, 0)
                    if count <= 0 { break }
                    request += buffer.prefix(count)
                }
                let bytes = answer(request)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
#endif
