#if os(Linux)
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Redirects on the wire", .endsInTime, .leakChecked) struct RedirectWireTests {
    /// A server whose responses follow from the head of the request. Reads bodies with a length or in chunks.
    private func server(_ heads: Log<String>, _ response: @escaping @Sendable (String) -> [UInt8]) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                let lower = head.lowercased()
                if lower.contains("transfer-encoding: chunked") { _ = peer.readChunked() }
                if let length = lower.firstRange(of: "content-length: ") {
                    _ = peer.read(Int(lower[length.upperBound...].prefix { $0.isNumber }) ?? 0)
                }
                peer.send(response(head))
            }
        }
    }

    private static let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    private static func redirect(_ status: Int = 302, to location: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 \(status) Moved\r\nContent-Length: 0\r\nLocation: ".utf8) + location + Array("\r\n\r\n".utf8)
    }

    private static func target(_ head: String) -> Substring? {
        head.split(separator: " ").dropFirst().first
    }

    @Test(
        "a redirect's target is requested as the server wrote it, without unescaping or escaping it twice",
        arguments: [
            "/f?rcd=attachment%3B+filename*%3DUTF-8%27%27a.jsonl.gz%3B+filename%3D%22a.jsonl.gz%22%3B",
            "/f?response-content-type=application/x-gzip&X-Path=repodata%2F8c-primary.xml.gz&e=1%2B2+3",
            "/?next=http%3A//example.com/", "/?next=http%3A%2F%2Fexample.com%2F%3Fa%3D%2525",
            "/es/t/45220/League-(Fem)", "/wiki/Spider-Man_%26_Silk:_The_Spider(fly)_Vol_1", "/?a=%25s3&b=%41",
            "/%7Ea;b=c,d",
        ])
    func escapes(location: String) async throws {
        let heads = Log<String>()
        let server = try server(heads) { $0.contains(" /start ") ? Self.redirect(to: Array(location.utf8)) : Self.ok }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        _ = try await agent.send(Call<Data>(.get, "start"))
        #expect(heads.all.count == 2 && heads.all.last.flatMap(Self.target) == location[...])
    }

    @Test("a Location in Latin-1 leads to the server's bytes, through a chain of redirects")
    func latin1() async throws {
        let heads = Log<String>()
        let server = try server(heads) { head in
            if head.contains(" /synsproeve/ ") {
                return Self.redirect(301, to: Array("/synspr".utf8) + [0xF8, 0x76, 0x65])
            }
            if head.contains(" /synspr%F8ve ") { return Self.redirect(301, to: Array("/synspr%C3%B8ve".utf8)) }
            return Self.ok
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        _ = try await agent.send(Call<Data>(.get, "synsproeve/"))
        #expect(heads.all.compactMap(Self.target) == ["/synsproeve/", "/synspr%F8ve", "/synspr%C3%B8ve"])
    }

    @Test("a server that distinguishes %26 from & doesn't cause a redirect loop")
    func circle() async throws {
        let heads = Log<String>()
        let server = try server(heads) {
            $0.contains(" /a_%26_b ") ? Self.ok : Self.redirect(301, to: Array("/a_%26_b".utf8))
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        for path in ["a_&_b", "a_%26_b"] { _ = try await agent.send(Call<Data>(.get, path)) }
        #expect(heads.all.compactMap(Self.target) == ["/a_&_b", "/a_%26_b", "/a_%26_b"])
    }

    @Test("a path with a query keeps its escapes, and an unescaped character is an error")
    func query() async throws {
        let heads = Log<String>()
        let server = try server(heads) { _ in Self.ok }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        let text = "/api.php?title=Category:Duel_!_%26_Lists&type=application/pdf&prop=revisions"
        for path in [text, server.url(text)] { _ = try await agent.send(Call<Data>(.get, path)) }
        #expect(heads.all.compactMap(Self.target) == [text[...], text[...]])
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Data>(.get, text + "|categories"))
        }
        #expect(error?.code == .invalidURL && heads.all.count == 2)
    }

    @Test(
        "a POST that becomes a GET loses its body and the fields that describe it, whoever set them",
        arguments: [301, 302, 303])
    func withoutBody(status: Int) async throws {
        let heads = Log<String>()
        let server = try server(heads) {
            $0.contains(" /start ") ? Self.redirect(status, to: Array("/there".utf8)) : Self.ok
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        let bodies: [RequestBody] = [
            .text("body"), .data(Data(count: 100_000), contentType: "application/x"),
            .stream { HTTPBody(Data("stream".utf8)) },
        ]
        for body in bodies {
            _ = try await agent.send(
                Call<Data>(.post, "start") {
                    $0.body = body
                    $0.headers = ["Content-Type": "x/own", "Content-Encoding": "rot13", "X-Kept": "1"]
                })
            let last = try #require(heads.all.last)
            #expect(last.hasPrefix("GET /there HTTP/1.1\r\n") && last.contains("\r\nX-Kept: 1\r\n"))
            #expect(!last.lowercased().contains("\r\ncontent-") && !last.lowercased().contains("\r\ntransfer-"))
        }
        #expect(heads.all.count == 2 * bodies.count)
    }
}
#endif
