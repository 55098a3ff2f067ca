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
#elseif canImport(Android)
import Android
#endif

@Suite("Entity tags on the wire", .endsInTime, .leakChecked)
struct EntityTagTests {
    @Test(
        "a tag is sent back with its original bytes, UTF-8 or not, also from disk",
        arguments: ["\"plain\"", "1632346287,unquoted", "\"caf\u{E9}\"", "latin", "W/latin"])
    func bytes(_ tag: String) async throws {
        // Valid UTF-8 as written, or é as one Latin-1 byte.
        let name = "\"caf".utf8 + [0xE9] + "\"".utf8
        let bytes = tag == "latin" ? Array(name) : tag == "W/latin" ? Array("W/".utf8) + name : Array(tag.utf8)
        let server = try RawServer { peer in
            guard let request = peer.readHeadBytes() else { return }
            let isKnown = request.contains("If-None-Match: ".utf8 + bytes + "\r\n".utf8)
            peer.send(
                isKnown
                    ? Array("HTTP/1.1 304 Not Modified\r\nETag: ".utf8) + bytes + "\r\n\r\n".utf8
                    : Array("HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nContent-Length: 4\r\nETag: ".utf8) + bytes
                        + "\r\n\r\nbody".utf8)
        }
        let directory = TemporaryDirectory()
        for expected in [nil, 304, 304] {
            // A new store and a new cache each time, because entries read from disk must have the same bytes.
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
#endif
