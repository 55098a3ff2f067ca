#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

@Suite("Content codings over libcurl", .endsInTime, .leakChecked)
struct DecodingTests {
    /// "Errand sends. ", 200 times, in every coding.
    private static let text = Data(String(repeating: "Errand sends. ", count: 200).utf8)
    private static let coded: [(String, String)] = [
        ("gzip", "H4sIAAAAAAACA3MtKkrMS1EoTs1LKdZTcB3ljfJGeaO8Ud4ob5Q3yhvljfKGFQ8AP5PYKPAKAAA="),
        ("x-gzip", "H4sIAAAAAAACA3MtKkrMS1EoTs1LKdZTcB3ljfJGeaO8Ud4ob5Q3yhvljfKGFQ8AP5PYKPAKAAA="),
        // Two gzip members that form one body (RFC 1952, section 2.2).
        (
            "gzip",
            "H4sIAAAAAAACA3MtKkrMS1EoTs1LKdZTcB3ljfJGeaO8UR6NeQA/BW1DeAUAAB+LCAAAAAAAAgNzLSpKzEtRKE7NSynWU3Ad5Y3yRnmjvFEejXkAPwVtQ3gFAAA="
        ),
        ("deflate", "eNpzLSpKzEtRKE7NSynWU3Ad5Y3yRnmjvFHeKG+UN8ob5Y3yhhUPANKa1KY="),
        // Without the zlib header, as some servers send it.
        ("Deflate", "cy0qSsxLUShOzUsp1lNwHeWN8kZ5o7xR3ihvlDfKG+WN8oYVDwA="),
        ("br", "G+8K+MUpRxpQYhF86xpUPBgPwCkAoPZi7OMR"), ("zstd", "KLUv/QRotQAAcEVycmFuZCBzZW5kcy4gAQDfCn8qAX0ztF4="),
        ("identity, gzip", "H4sIAAAAAAACA3MtKkrMS1EoTs1LKdZTcB3ljfJGeaO8Ud4ob5Q3yhvljfKGFQ8AP5PYKPAKAAA="),
    ]
    /// 300 MiB of zeros, compressed with gzip three times.
    private static let bomb =
        "H4sIAAAAAAACA5Pv5mAAASbmt3ds/aYkSrRd5E/vEpzkaBImsolHSihnjeYCs2kiaxiFnF0f80UwTd2rIvLO4U1MQ1"
        + "DEhQ/qxrs/7D638t4vzfd7dt6be7atVXzy/ena2uf7J+v3i5tvvsoINFli5+T589W7DRNuVP36mPgeZJnEbv/Xn18W"
        + "iez4v+PnPUugQMIXv/Jt8br1HH9s7WZZsQNFeu7dvh2/+7Tug9+Xr/fWfgeKNFzcLcYDokUOgszIEARzxMCcDmTOqM"
        + "xglZl2+OvP00fFDGot/m3+lsbQ8P/azwLT3dZSbfnr/zPe+pu8oXgVCwMAnGdjApICAAA="

    /// Responds with an encoded body, `step` bytes at a time unless `step` is 0.
    private func server(_ coding: String, _ body: Data, step: Int = 0, heads: Log<String>? = nil) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                heads?.add(head)
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\nVary: *\r\n\r\n"
                )
                if head.hasPrefix("HEAD") { continue }
                if step == 0 { peer.send(Array(body)) }
                if step > 0 {
                    for start in stride(from: 0, to: body.count, by: step) {
                        peer.send(Array(body[start..<min(body.count, start + step)]))
                    }
                }
            }
        }
    }

    private static func bytes(_ base64: String) throws -> Data { try #require(Data(base64Encoded: base64)) }

    @Test(
        "every coding is decoded, in one piece or byte by byte, and the headers agree with the body", arguments: 0..<8,
        [0, 1, 7])
    func codings(index: Int, step: Int) async throws {
        let (coding, base64) = Self.coded[index]
        let heads = Log<String>()
        let server = try server(coding, try Self.bytes(base64), step: step, heads: heads)
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            let response = try await transport.send(try request(.get, server.url()), options: .of(delivery))
            // libcurl doesn't request or decode a coding if its library is missing.
            if ["br", "zstd"].contains(coding), heads.all.first?.contains(coding) == false { return }
            #expect(try await response.body.collect(upTo: 10_000) == Self.text)
            #expect(response.headers[.contentEncoding] == nil && response.headers[.contentLength] == nil)
            #expect(response.headers["Vary"] == "*")
        }
        let head = try #require(heads.all.first)
        #expect(head.contains("\r\nAccept-Encoding: gzip, deflate"))
    }

    @Test("a request with its own Accept-Encoding or Range, a HEAD, and an unknown coding get the bytes unchanged")
    func untouched() async throws {
        let (coding, base64) = Self.coded[0]
        let body = try Self.bytes(base64)
        let heads = Log<String>()
        let server = try server(coding, body, heads: heads)
        let transport = CurlTransport()
        for headers in [["Accept-Encoding": "gzip"], ["Range": "bytes=0-"]] as [HTTPHeaders] {
            let response = try await transport.send(try request(.get, server.url(), headers: headers), options: .of())
            #expect(response.data == body)
            #expect(response.headers[.contentEncoding] == "gzip" && response.headers[.contentLength] == "\(body.count)")
        }
        #expect(heads.all[0].contains("Accept-Encoding: gzip\r\n") && !heads.all[1].contains("Accept-Encoding"))
        let head = try await transport.send(try request(.head, server.url()), options: .of())
        #expect(head.headers[.contentEncoding] == "gzip" && head.data.isEmpty)
        var configuration = CurlConfiguration()
        configuration.decodesContent = false
        #expect(
            try await CurlTransport(configuration).send(try request(.get, server.url()), options: .of()).data == body)
        for coding in ["compress", "gzip, gzip, gzip, gzip", "gzip, rot13"] {
            let server = try self.server(coding, body)
            let response = try await transport.send(try request(.get, server.url()), options: .of())
            #expect(response.data == body)
            #expect(response.headers[.contentEncoding] == coding)
        }
    }

    @Test("an empty body in a coding is an empty body")
    func empty() async throws {
        let server = try server("gzip", Data())
        #expect(try await CurlTransport().send(try request(.get, server.url()), options: .of()).data.isEmpty)
    }

    @Test("corrupt and cut off codings are typed errors", arguments: 0..<8, [BodyDelivery.data, .stream])
    func broken(index: Int, delivery: BodyDelivery) async throws {
        let (coding, base64) = Self.coded[index]
        let body = try Self.bytes(base64)
        let transport = CurlTransport()
        let cut = try server(coding, body.dropLast(9))
        var error = try await failure {
            try await transport.send(try request(.get, cut.url()), options: .of(delivery)).body.collect(upTo: 10_000)
        }
        #expect(error.code == .truncated, "\(error)")
        let garbage = try server(coding, Data([0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0x11, 0xFF, 0xFF, 0xFF, 0xFF]))
        error = try await failure {
            try await transport.send(try request(.get, garbage.url()), options: .of(delivery)).body.collect(
                upTo: 10_000)
        }
        #expect(error.code == .invalidResponse || error.code == .truncated, "\(error)")
    }

    @Test("a body that would decompress beyond the limit stops at the limit", arguments: [BodyDelivery.data, .stream])
    func bomb(delivery: BodyDelivery) async throws {
        let body = try Self.bytes(Self.bomb)
        #expect(body.count < 1000)
        let server = try server("gzip, gzip, gzip", body)
        let transport = CurlTransport()
        let error = try await failure {
            try await transport.send(try request(.get, server.url()), options: .of(delivery, limit: 1 << 20)).body
                .collect(upTo: 1 << 20)
        }
        #expect(error.code == .bodyTooLarge)
    }

    @Test("a streamed body is decompressed only as fast as it is read")
    func bombByStep() async throws {
        let server = try server("gzip, gzip, gzip", try Self.bytes(Self.bomb))
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        var count = 0
        for try await chunk in response.body {
            #expect(chunk.count <= 128 << 10)
            count += chunk.count
            if count > 4 << 20 { break }
        }
        #expect(count > 4 << 20)
    }
}
#endif
