#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Content codings with wrong names, over libcurl", .endsInTime, .leakChecked)
struct ForeignCodingTests {
    private static let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==") ?? Data()
    private static let plain = Data("hello world".utf8)

    private func server(_ head: String, _ pieces: [Data]) throws -> RawServer {
        try RawServer { peer in
            while peer.readHead() != nil {
                let count = pieces.reduce(0) { $0 + $1.count }
                peer.send("HTTP/1.1 200 OK\r\n\(head)Content-Length: \(count)\r\n\r\n")
                for piece in pieces { peer.send(Array(piece)) }
            }
        }
    }

    private func bodies(_ head: String, _ pieces: [Data]) async throws -> [Data] {
        let server = try server(head, pieces)
        let transport = CurlTransport()
        var bodies: [Data] = []
        for delivery in [BodyDelivery.data, .stream] {
            let response = try await transport.send(try request(.get, server.url()), options: .of(delivery))
            bodies.append(try await response.body.collect(upTo: 10_000_000))
        }
        #expect(server.accepted == 1)
        return bodies
    }

    @Test(
        "an unknown, empty or missing coding leaves the body unchanged",
        arguments: ["UTF-8", "utf-8", "none", "", "identity", "binary", ",", "8bit"])
    func noCoding(name: String) async throws {
        let head = "Content-Encoding: \(name)\r\n"
        #expect(try await bodies(head, [Self.plain]) == [Self.plain, Self.plain])
    }

    @Test(
        "coding names are case-insensitive, and empty members are ignored",
        arguments: ["GZIP", " gzip ,", ", X-Gzip"])
    func names(name: String) async throws {
        let head = "Content-Encoding: \(name)\r\n"
        #expect(try await bodies(head, [Self.gzip]) == [Self.plain, Self.plain])
    }

    @Test(
        "optional fields of gzip's head, a small window of zlib, and empty frames of zstd are read",
        arguments: [
            ("gzip", "H4sICAAAAAAAA2EudHh0AMtIzcnJVyjPL8pJAQCFEUoNCwAAAA=="),
            ("gzip", "H4sIHgAAAAAAAwQAQUIAAG4AYwAeFMtIzcnJVyjPL8pJAQCFEUoNCwAAAA=="),
            ("deflate", "GNPLSM3JyVcozy/KSQEAGgsEXQ=="),
            ("zstd", "KLUv/QRYMQAAaGVsbG8g0jvhqSi1L/0EWCkAAHdvcmxk71HuZg=="),
            ("zstd", "UCpNGAQAAABhYmNkKLUv/QRYMQAAaGVsbG8g0jvhqSi1L/0EWCkAAHdvcmxk71HuZg=="),
            ("zstd", "KLUv/QBYWQAAaGVsbG8gd29ybGQ="),
        ])
    func heads(coding: String, base64: String) async throws {
        let body = try #require(Data(base64Encoded: base64))
        let head = "Content-Encoding: \(coding)\r\n"
        for pieces in [[body], body.map { Data([$0]) }] {
            let bodies = try await bodies(head, pieces)
            // Without libzstd, the body stays as it is.
            if coding == "zstd", bodies == [body, body] { continue }
            #expect(bodies == [Self.plain, Self.plain])
        }
    }

    @Test("zstd's window may have 8 MiB, and a larger window is a typed error, so that its memory is bounded")
    func windows() async throws {
        for (descriptor, isAccepted) in [(0x58, true), (0x68, true), (0x69, false), (0x70, false), (0xA8, false)] {
            let body = Data([0x28, 0xB5, 0x2F, 0xFD, 0, UInt8(descriptor), 0x59, 0, 0]) + Self.plain
            let head = "Content-Encoding: zstd\r\n"
            if isAccepted {
                let bodies = try await bodies(head, [body])
                // Without libzstd, the body stays as it is.
                if bodies == [body, body] { return }
                #expect(bodies == [Self.plain, Self.plain])
            } else {
                let server = try server(head, [body])
                let error = try await failure {
                    try await CurlTransport().send(try request(.get, server.url()), options: .of())
                }
                #expect(error.code == .decodingFailed || error.code == .invalidResponse, "\(error)")
            }
        }
    }

    @Test("two fields with one coding each are read as two codings in that order")
    func twoFields() async throws {
        let both = Data(base64Encoded: "eJyT7+ZgAAEm5tMeZ0+eDNc4r3/Kk5GhVdCLlxsoDAB/ZQez") ?? Data()
        let head = "Content-Encoding: gzip\r\nContent-Encoding: deflate\r\n"
        #expect(try await bodies(head, [both]) == [Self.plain, Self.plain])
    }

    @Test(
        "bytes after the end of a gzip body are ignored, in the same piece or a later piece",
        arguments: [
            Data(count: 10), Data("\n \n\n\n\n \n".utf8), Data("11111".utf8), Data("<!-- x -->".utf8),
            Data(repeating: 0x61, count: 100_000),
        ])
    func trailingBytes(rest: Data) async throws {
        let head = "Content-Encoding: gzip\r\n"
        #expect(try await bodies(head, [Self.gzip + rest]) == [Self.plain, Self.plain])
        #expect(try await bodies(head, [Self.gzip, rest]) == [Self.plain, Self.plain])
        #expect(
            try await bodies(head, [Self.gzip.prefix(20), Self.gzip.dropFirst(20), rest]) == [Self.plain, Self.plain])
    }

    @Test(
        "the part of a compressed body that a server has flushed arrives before the rest is sent",
        arguments: [
            ("gzip", "H4sIAAAAAAACA8pIzcnJBwAAAP//"), ("br", "CwKAaGVsbG8="), ("zstd", "KLUv/QBYKAAAaGVsbG8="),
        ])
    func flushed(coding: String, base64: String) async throws {
        let beginning = try #require(Data(base64Encoded: base64))
        let server = try RawServer { peer in
            guard peer.readHead()?.contains(coding) == true else {
                // This system lacks the coding's library.
                peer.send("HTTP/1.1 501 No\r\nContent-Length: 0\r\n\r\n")
                return
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n")
            peer.send("\(String(beginning.count, radix: 16))\r\n")
            peer.send(Array(beginning) + Array("\r\n".utf8))
            // The rest isn't sent before the client has gone.
            _ = peer.readHead()
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        guard response.status == 200 else { return }
        var text = Data()
        for try await chunk in response.body {
            text += chunk
            if text.count >= 5 { break }
        }
        #expect(text == Data("hello".utf8))
    }
}
#endif
