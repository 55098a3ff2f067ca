import Errand
import ErrandEssentials
import ErrandHTTPSyntax
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Testing

@Suite("Reading multipart bodies", .endsInTime, .leakChecked) struct ReadingTests {
    private static let type = "multipart/mixed; boundary=\"a b\""
    private static let text = """
        A preamble\r
        --a bc\r
        --a b  \t\r
        Content-Type: text/plain;\r
          charset=utf-8\r
        Content-Disposition: form-data; name="x%22y"; filename="z"\r
        \r
        one\r
        --a bX\r
        --a b-\r
        --a b--X\r
        \r
        --a b\r
        \r
        \r
        --a b\r
        X-Only: headers\r
        \r
        --a b\r
        \r
        \r
        \r
        \r
        --a b--\r
        An epilogue\r
        --a b\r
        """

    private static let parts = [
        WholePart(
            "x\"y", Data("one\r\n--a bX\r\n--a b-\r\n--a b--X\r\n".utf8), fileName: "z",
            type: "text/plain; charset=utf-8"),
        WholePart(nil, Data()), WholePart(nil, Data()), WholePart(nil, Data("\r\n\r\n".utf8)),
    ]

    @Test("a body is split into the same parts with any division into chunks")
    func splits() async throws {
        let data = Data(Self.text.utf8)
        for size in [1, 2, 3, 7, 1000] {
            #expect(try await read(pieces(of: data, sizes: [size]), Self.type) == Self.parts)
        }
        for first in 1..<data.count {
            #expect(try await read(pieces(of: data, sizes: [first, data.count]), Self.type) == Self.parts)
        }
    }

    @Test("a body that is truncated at any byte throws a typed error")
    func cuts() async throws {
        let data = Data(Self.text.utf8)
        // The last boundary is the first one whose two hyphens end the line.
        let last = try #require(data.firstRange(of: Data("--a b--\r\nAn".utf8)))
        let whole = last.lowerBound + 7
        // At these cuts, the bytes that look like the end are the end.
        for count in 0..<whole where data.prefix(count).suffix(7) != Data("--a b--".utf8) {
            let error = await #expect(throws: MultipartError.self, "\(count)") {
                try await read(pieces(of: Data(data.prefix(count)), sizes: [11]), Self.type)
            }
            #expect(error?.code == .truncated)
        }
        for count in whole...data.count {
            #expect(try await read(Data(data.prefix(count)), Self.type) == Self.parts, "\(count)")
        }
    }

    @Test("lines can end in LF alone, if the first boundary's line does")
    func bareLineFeeds() async throws {
        let text = "--b\nA: 1\n\none\r\n--b\n\n\r\ntwo\n\n--b--\n"
        let parts = try await read(Data(text.utf8), "multipart/mixed;boundary=b")
        #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == ["one\r", "\r\ntwo\n"])
        // In a body with CR LF, a single line feed doesn't end a line.
        let strict = "--b\r\n\r\none\n--b\ntwo\r\n--b--"
        let one = try await read(Data(strict.utf8), "multipart/mixed;boundary=b")
        #expect(one.map { String(decoding: $0.data, as: UTF8.self) } == ["one\n--b\ntwo"])
    }

    @Test("a body that isn't multipart throws a typed error, and never yields a wrong part")
    func nonsense() async throws {
        let wrong: [(String?, String, MultipartError.Code)] = [
            (nil, "", .notMultipart), ("text/plain; boundary=b", "--b--", .notMultipart),
            ("multipart/mixed", "--b--", .notMultipart), ("multipart/mixed; boundary=\"\"", "--b--", .notMultipart),
            ("multipart/mixed; boundary=b", "", .truncated), ("multipart/mixed; boundary=b", "--c--\r\n", .truncated),
            ("multipart/mixed; boundary=b", "--b\r\nno colon\r\n\r\nx\r\n--b--", .malformedPart),
            ("multipart/mixed; boundary=b", "--b\r\n: x\r\n\r\nx\r\n--b--", .malformedPart),
            ("multipart/mixed; boundary=b", "--b\r\nA B: x\r\n\r\nx\r\n--b--", .malformedPart),
            ("multipart/mixed; boundary=b", "--b\r\nA: x\u{1}\r\n\r\nx\r\n--b--", .malformedPart),
            ("multipart/mixed; boundary=b", "--b\r\n \r\n\r\nx\r\n--b--", .malformedPart),
        ]
        for (type, text, code) in wrong {
            let error = await #expect(throws: MultipartError.self, "\(text)") { try await read(Data(text.utf8), type) }
            #expect(error?.code == code, "\(text)")
        }
    }

    @Test("parts, headers and the text before the first part are limited, in bounded memory")
    func limits() async throws {
        let line = Data((String(repeating: "x", count: 1022) + "\r\n").utf8)
        let endless: [(String, Data)] = [("", line), ("--b\r\nA: ", line), ("", Data("--b\r\n\r\n\r\n".utf8))]
        for (start, repeated) in endless {
            let pulled = Counter()
            let body = HTTPBody(next: {
                // The reader must take far fewer chunks than this.
                pulled.increment() == 1
                    ? Data((start + "\r\n").utf8.dropLast(2)) : pulled.value < 100_000 ? repeated : nil
            })
            let error = await #expect(throws: MultipartError.self) { try await read(body, "multipart/x; boundary=b") }
            #expect(error?.code == .limitExceeded)
            #expect(pulled.value < 20_000)
        }
        let many = String(repeating: "--b\r\n\r\nx\r\n", count: 4) + "--b--"
        #expect(try await read(Data(many.utf8), "multipart/x; boundary=b", limits: .init(maximumParts: 4)).count == 4)
        await #expect(throws: MultipartError.self) {
            try await read(Data(many.utf8), "multipart/x; boundary=b", limits: .init(maximumParts: 3))
        }
        let fields = String(repeating: "a: b\r\n", count: 101)
        let error = await #expect(throws: MultipartError.self) {
            try await read(Data("--b\r\n\(fields)\r\nx\r\n--b--".utf8), "multipart/x; boundary=b")
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("random parts that look like boundaries are read unchanged, with any chunks", arguments: 0..<20)
    func random(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let words = ["\r", "\n", "\r\n", "-", "--", "--b", "\r\n--", "\r\n--b", "\r\n--bb", "x", ""].map {
            Data($0.utf8)
        }
        var (text, contents): (Data, [Data]) = (Data(), [])
        for _ in 0..<random.below(6) + 1 {
            var content = Data()
            for _ in 0..<random.below(12) { content.append(random.pick(words)) }
            // Content that itself contains a boundary line isn't a valid part.
            let padded = Data("\r\n".utf8) + content + Data("\r\n".utf8)
            let holdsOne = ["\r\n--b\r\n", "\r\n--b--\r\n"].contains { padded.firstRange(of: Data($0.utf8)) != nil }
            if holdsOne { continue }
            contents.append(content)
            text.append(Data("--b\r\n\r\n".utf8) + content + Data("\r\n".utf8))
        }
        text.append(Data("--b--\r\n".utf8))
        let sizes = (0..<50).map { _ in random.below(9) + 1 }
        #expect(try await read(pieces(of: text, sizes: sizes), "multipart/x; boundary=b").map(\.data) == contents)
    }

    @Test("the ranges of a file arrive with their positions over the wire, and an unread part is skipped")
    func byteRanges() async throws {
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        var body = Data()
        for range in [0..<100, 1000..<60_000, 99_999..<100_000] {
            let head =
                "\r\n--THIS\r\nContent-Type: a/b\r\nContent-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/100000"
            body.append(Data((head + "\r\n\r\n").utf8) + content[range])
        }
        body.append(Data("\r\n--THIS--\r\n".utf8))
        let server = try TestServer()
        var response = TestResponse.data(body, contentType: "multipart/byteranges; boundary=THIS", status: 206)
        server.on("/film", response.chunked(sizes: [1, 2, 3, 500]))
        response.headers = [.contentType: "text/plain"]
        server.on("/other", response)
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let parts = try await agent.send(Call<ReceivedParts>(.get, "film")).value
        var ranges: [String] = []
        for try await part in parts {
            guard case .part(let first, let last, _)? = part.range else { continue }
            ranges.append("\(first)-\(last)")
            if ranges.count == 2 { continue }
            #expect(try await part.data(upTo: 1 << 20) == content[first..<last + 1])
        }
        #expect(ranges == ["0-99", "1000-59999", "99999-99999"])
        var iterator = parts.makeAsyncIterator()
        let second = await #expect(throws: ErrandError.self) { try await iterator.next() }
        #expect(second?.code == .bodyAlreadyRead)
        let other = await #expect(throws: ErrandError.self) { try await agent.send(Call<ReceivedParts>(.get, "other")) }
        #expect(other?.code == .unacceptableContentType)
    }

    @Test("a part whose length differs from its range throws a typed error")
    func wrongRange() async throws {
        let text = "--b\r\nContent-Range: bytes 0-9/100\r\n\r\nshort\r\n--b--"
        let error = await #expect(throws: ErrandError.self) {
            try await read(Data(text.utf8), "multipart/byteranges; boundary=b")
        }
        #expect(error?.code == .truncated)
    }

    @Test("a part throws after the reader has passed it, and nested parts can be read")
    func passed() async throws {
        let inner = "--i\r\n\r\none\r\n--i\r\n\r\ntwo\r\n--i--"
        let text = "--b\r\nContent-Type: multipart/x; boundary=i\r\n\r\n\(inner)\r\n--b\r\n\r\nlast\r\n--b--"
        let parts = try ReceivedParts(HTTPBody(Data(text.utf8)), contentType: "multipart/mixed; boundary=b")
        var iterator = parts.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        let nested = try await read(first.body, first.headers[.contentType])
        #expect(nested.map { String(decoding: $0.data, as: UTF8.self) } == ["one", "two"])
        let last = try #require(try await iterator.next())
        #expect(try await iterator.next() == nil)
        let error = await #expect(throws: MultipartError.self) { try await last.data(upTo: 10) }
        #expect(error?.code == .partPassed)
    }

    @Test("names and file names with backslashes arrive as browsers and this module write them")
    func backslashes() async throws {
        for name in [#"C:\dir\new.txt"#, #"\"#, #"a\"#, #"\\"#, #"a\";x"#, #"a\"b"#] {
            let part = Multipart.Part.data(Data("x".utf8), name: name, fileName: name)
            let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(.text("ok")))
            let request = try agent.httpRequest(
                for: Call<Void>(.post, "form", body: .multipart(part, .field("b", "y"))))
            let parts = try ReceivedParts(request.body.open(), contentType: request.headers[.contentType])
            var names: [String?] = []
            for try await received in parts { names += [received.name, received.fileName] }
            #expect(names == [name, name, "b", nil], "\(name)")
        }
    }
}
