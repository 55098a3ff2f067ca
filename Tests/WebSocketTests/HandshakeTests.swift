import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandWebSocket

/// RFC 6455, section 4, and RFC 7692, section 7.1, without a connection.
@Suite("The opening handshake of a WebSocket") struct HandshakeTests {
    private static let url = URL(string: "http://example.com/chat")

    private static func response(_ headers: HTTPHeaders) throws -> HTTPResponse {
        HTTPResponse(url: try #require(url), status: 101, headers: headers)
    }

    private static let valid: HTTPHeaders = [
        "Upgrade": "WebSocket", "Connection": "keep-alive, Upgrade",
        "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    ]

    private static func handshake(_ compression: WebSocketCompression = .off) -> OpeningHandshake {
        OpeningHandshake(key: "dGhlIHNhbXBsZSBub25jZQ==", ["chat.v2", "chat"], compression)
    }

    @Test("the example of RFC 6455 is accepted, and each of its fields is required")
    func fields() throws {
        let agreement = try Self.handshake().check(Self.response(Self.valid))
        #expect(agreement.subprotocol == nil && agreement.deflate == nil)
        for name in Self.valid.map(\.name) {
            var headers = Self.valid
            headers.remove(name)
            let bare = try Self.response(headers)
            #expect(throws: WebSocketError.self) { try Self.handshake().check(bare) }
            headers.add(name, "other")
            let other = try Self.response(headers)
            let error = #expect(throws: WebSocketError.self) { try Self.handshake().check(other) }
            #expect(error?.code == .handshakeFailed)
        }
    }

    @Test("each handshake has its own key of 16 bytes")
    func keys() {
        let keys = (0..<20).map { _ in OpeningHandshake([], .off).key }
        #expect(Set(keys).count == 20 && keys.allSatisfy { Data(base64Encoded: $0)?.count == 16 })
    }

    @Test("the server's subprotocol must be an offered subprotocol, or missing")
    func subprotocols() throws {
        var headers = Self.valid
        headers.set("Sec-WebSocket-Protocol", "chat")
        #expect(try Self.handshake().check(Self.response(headers)).subprotocol == "chat")
        headers.set("Sec-WebSocket-Protocol", "news")
        let other = try Self.response(headers)
        #expect(throws: WebSocketError.self) { try Self.handshake().check(other) }
        // An empty field chooses none.
        headers.set("Sec-WebSocket-Protocol", "")
        #expect(try Self.handshake().check(Self.response(headers)).subprotocol == nil)
        var request = HTTPHeaders()
        Self.handshake().prepare(&request)
        #expect(request["Sec-WebSocket-Protocol"] == "chat.v2, chat" && request["Sec-WebSocket-Version"] == "13")
    }

    @Test("a request has the fields as RFC 6455 writes them, because servers compare their case")
    func request() {
        var headers = HTTPHeaders()
        OpeningHandshake(key: "a", [], .off).prepare(&headers)
        #expect(
            headers.map { "\($0.name.rawName): \($0.value)" } == [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: a",
            ])
    }

    @Test(
        "the fields of a response count in any case and with other tokens",
        arguments: ["upgrade", "Upgrade, Keep-Alive", "keep-alive,UPGRADE"])
    func foreignFields(connection: String) throws {
        let headers: HTTPHeaders = [
            "upgrade": "websocket", "connection": connection, "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
        #expect(try Self.handshake().check(Self.response(headers)).subprotocol == nil)
    }

    @Test("a socket reconnects after a restart of the server, but not if the server refuses the client")
    func codes() {
        let retryable = [1001, 1011, 1012, 1013, 1014] as [UInt16]
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 4000, 4401] as [UInt16] {
            let error = WebSocketError(.closed, "closed", closeCode: CloseCode(rawValue: code))
            #expect(error.isRetryable == retryable.contains(code), "\(code)")
        }
    }

    @Test("an accepted extension must have been offered, with matching parameters")
    func extensions() throws {
        let small = WebSocketCompression(serverWindowBits: 10, clientWindowBits: 12, serverKeepsWindow: false)
        #expect(
            DeflateAgreement.offer(small)
                == "permessage-deflate; client_max_window_bits=12; server_max_window_bits=10; server_no_context_takeover"
        )
        let accepted = try DeflateAgreement.accepted(
            ["permessage-deflate; server_no_context_takeover; server_max_window_bits=9; client_max_window_bits=\"11\""],
            small)
        #expect(
            accepted
                == DeflateAgreement(
                    clientWindow: 11, serverWindow: 9, clientKeepsWindow: true, serverKeepsWindow: false))
        #expect(try DeflateAgreement.accepted([], small) == nil)
        let refused = [
            "permessage-deflate", "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
            "permessage-bzip2", "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=09",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=8; server_max_window_bits=8",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=8; x=1",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=8, permessage-deflate",
        ]
        for value in refused {
            #expect(throws: DeflateAgreement.Refusal.self, "\(value)") {
                try DeflateAgreement.accepted([value], small)
            }
        }
        #expect(throws: DeflateAgreement.Refusal.self) { try DeflateAgreement.accepted(["permessage-deflate"], .off) }
    }

    @Test("a response is read at any split, after informational responses and before bytes of the socket")
    func responses() throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let text = hints + "HTTP/1.1 101 Switching Protocols\r\nX: a \r\nY:\tb\r\n\r\nrest"
        for pieces in [1, 5, 1000] {
            var reader = ResponseReader()
            var rest = Data(text.utf8)[...]
            while try !reader.readHead() {
                reader.push(Data(rest.prefix(pieces)))
                rest = rest.dropFirst(pieces)
            }
            reader.push(Data(rest))
            #expect(reader.head?.status == 101 && reader.head?.headers == ["X": "a", "Y": "b"])
            #expect(reader.rest == Data("rest".utf8))
        }
    }

    @Test("the body of a refusal is read by its length, its chunks or the end")
    func bodies() throws {
        let cases: [(String, String?, String)] = [
            ("Content-Length: 3\r\n\r\nabcdef", "abc", "abc"), ("Content-Length: 5\r\n\r\nabc", nil, "abc"),
            ("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", "abc", "abc"),
            ("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n5\r\nc", nil, "abc"), ("\r\nabc", nil, "abc"),
        ]
        for (text, before, atEnd) in cases {
            var reader = ResponseReader()
            reader.push(Data(("HTTP/1.1 401 Unauthorized\r\n" + text).utf8))
            #expect(try reader.readHead())
            #expect(try reader.body(upTo: 100, isAtEnd: false) == before.map { Data($0.utf8) })
            #expect(try reader.body(upTo: 100, isAtEnd: true) == Data(atEnd.utf8))
            #expect(try reader.body(upTo: 2, isAtEnd: true) == Data("ab".utf8))
        }
    }

    @Test("a chunked body with endless framing is truncated")
    func endlessChunks() throws {
        for piece in [
            "1;" + String(repeating: "x", count: 1000), "1;" + String(repeating: "x", count: 1000) + "\r\na\r\n",
        ] {
            var reader = ResponseReader()
            reader.push(Data("HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
            #expect(try reader.readHead())
            var body: Data?
            for _ in 0..<200 where body == nil {
                reader.push(Data(piece.utf8))
                body = try reader.body(upTo: 1000, isAtEnd: false)
            }
            #expect(body != nil)
        }
    }

    @Test(
        "a head that isn't a response is refused",
        arguments: [
            "HTTP/2 101 x\r\n\r\n", "HTTP/1.1 10 x\r\n\r\n", "HTTP/1.1 1010\r\n\r\n", "\r\n\r\n", "nonsense\r\n\r\n",
            "HTTP/1.1 101 x\r\nno colon\r\n\r\n", "HTTP/1.1 101 x\r\n a: b\r\n\r\n",
            "HTTP/1.1 101 x\r\na: \u{1}\r\n\r\n",
            String(repeating: "x", count: 70_000),
        ])
    func malformed(text: String) {
        var reader = ResponseReader()
        reader.push(Data(text.utf8))
        #expect(throws: ErrandError.self) { try reader.readHead() }
    }

    @Test("the request's head has the target, the host and the fields unchanged")
    func requests() throws {
        let url = try #require(URL(string: "https://example.com:8443/a%20b?c=d"))
        let sent = UpgradeTransport.head(of: HTTPRequest(.get, url, headers: ["X-A": "1"]))
        #expect(
            String(decoding: sent, as: UTF8.self)
                == "GET /a%20b?c=d HTTP/1.1\r\nHost: example.com:8443\r\nX-A: 1\r\n\r\n")
        let bare = HTTPRequest(.get, try #require(URL(string: "http://example.com?x")))
        #expect(UpgradeTransport.head(of: bare).starts(with: Data("GET /?x HTTP/1.1\r\n".utf8)))
        for (host, sent) in [("[fe80::1%25eth0]", "[fe80::1]"), ("[FE80:0:0::1]", "[fe80::1]"), ("127.1", "127.0.0.1")]
        {
            let request = HTTPRequest(.get, try #require(URL(string: "http://\(host):8080/")))
            let head = String(decoding: UpgradeTransport.head(of: request), as: UTF8.self)
            #expect(head.contains("Host: \(sent):8080\r\n"))
        }
    }

    @Test("a socket's redirect uses the same URL with the scheme of requests, and keeps its escapes")
    func redirects() throws {
        let url = try #require(URL(string: "https://a.test/chat"))
        func target(_ location: String) -> String? { UpgradeTransport.target(of: [.location: location], from: url) }
        #expect(
            target("WSS://B.test/%20b[1]") == "https://b.test/%20b%5B1%5D"
                && target("ws:\\\\b.test") == "http://b.test/")
        #expect(target("/ws:b") == nil && target("https://b.test/") == nil && target("wss://") == nil)
    }

    @Test("field bytes that aren't UTF-8 are treated as Latin-1")
    func latin1() throws {
        var reader = ResponseReader()
        reader.push(
            Data("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + [0xE9] + Data("\r\nX-A: caf\u{E9}\r\n\r\n".utf8))
        #expect(try reader.readHead())
        let fields = try #require(reader.head).headers
        #expect(fields.map(\.isLatin1) == [true, false] && fields.map(\.value) == ["/caf\u{E9}", "caf\u{E9}"])
    }

    @Test("mutated responses give a handshake, a refusal with its body, or a typed error, at any split")
    func mutations() throws {
        let rounds = FrameTests.fuzzRounds
        var random = SeededGenerator(seed: 20_261_124)
        let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let seeds = [
            "\(upgrade)\(accept)Sec-WebSocket-Protocol: chat\r\n\r\n\u{81}",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\(upgrade)\(accept)"
                + "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n",
            "HTTP/1.0 302 Found\r\nLocation: wss://b/\r\nContent-Length: 3\r\n\r\nabc",
        ].map { Data($0.utf8) }
        let handshake = Self.handshake(.standard)
        var (upgraded, answered, refused) = (0, 0, 0)
        for _ in 0..<rounds {
            var bytes = random.pick(seeds)
            for _ in 0..<random.below(4) {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes[place] ^= 1 << UInt8(random.below(8))
                case 2: bytes = Data(bytes.prefix(place + 1))
                default: bytes.insert(contentsOf: bytes[..<min(place + 20, bytes.count)].suffix(20), at: place)
                }
            }
            do {
                var reader = ResponseReader(headLimit: 1000)
                var rest = bytes[...]
                let pieces = 1 + random.below(40)
                var isComplete = try reader.readHead()
                while !isComplete, !rest.isEmpty {
                    reader.push(Data(rest.prefix(pieces)))
                    rest = rest.dropFirst(pieces)
                    isComplete = try reader.readHead()
                }
                guard let head = reader.head else { continue }
                reader.push(Data(rest))
                if head.status == 101 {
                    _ = try handshake.check(
                        HTTPResponse(url: try #require(Self.url), status: 101, headers: head.headers))
                    upgraded += 1
                } else {
                    let body = try reader.body(upTo: 100, isAtEnd: true)
                    #expect((body?.count ?? 101) <= 100)
                    answered += 1
                }
            } catch is ErrandError { refused += 1 } catch is WebSocketError { refused += 1 }
        }
        #expect(upgraded > rounds / 20 && answered > rounds / 20 && refused > rounds / 20)
    }
}
