import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Testing

@Suite("Lines and JSON values as they arrive", .leakChecked) struct ElementTests {
    private struct Row: Codable, Equatable, Sendable { let id: Int }

    private func failure(_ elements: some AsyncSequence) async -> String {
        let error = await #expect(throws: StreamingError.self) { for try await _ in elements {} }
        return error?.summary ?? ""
    }

    @Test("lines end with LF, CR LF or CR, and the last line with the body")
    func lines() async throws {
        func lines(_ text: String) async throws -> [String] { try await HTTPBody(stream: text).lines().all() }
        #expect(try await lines("a\nb\r\nc\rd") == ["a", "b", "c", "d"])
        #expect(try await lines("a\n\n\r\r\n\n\rb\n") == ["a", "", "", "", "", "", "b"])
        for (text, expected) in [("", []), ("\n", [""]), ("\r\n", [""]), ("a\n", ["a"]), ("\u{FEFF}", [])] {
            #expect(try await lines(text) == expected)
        }
        #expect(try await lines("\u{FEFF}a\n\u{FEFF}b") == ["a", "\u{FEFF}b"])
        #expect(try await HTTPBody(Data([0xFF, 0x0A, 0xE2, 0x82])).lines().all() == ["\u{FFFD}", "\u{FFFD}"])
    }

    @Test("a line of the maximum length is accepted, and a longer line throws with its position, with any chunks")
    func limit() async throws {
        let text = "12345\n123456\n"
        for size in [1, 3, 100] {
            let chunks = stride(from: 0, to: text.utf8.count, by: size).map {
                Data(text.utf8.dropFirst($0).prefix(size))
            }
            #expect(try await HTTPBody(chunks: chunks).lines(upTo: 6).all() == ["12345", "123456"])
            #expect(await failure(HTTPBody(chunks: chunks).lines(upTo: 5)) == "elementTooLong 2 6")
            #expect(await failure(HTTPBody(chunks: chunks).lines(upTo: 4)) == "elementTooLong 1 0")
        }
        #expect(
            await failure(HTTPBody(stream: "[1,\"12345\"]").jsonElements(of: Data.self, upTo: 6))
                == "elementTooLong 2 3")
        #expect(
            await failure(HTTPBody(stream: "\u{1E}\"12345\"\n").jsonSequence(of: Data.self, upTo: 6))
                == "elementTooLong 1 1")
        #expect(
            await failure(HTTPBody(stream: "1\n1234567\n").jsonLines(of: Data.self, upTo: 6)) == "elementTooLong 2 2")
    }

    @Test("an element is delivered before the next chunk is pulled")
    func promptness() async throws {
        func first<Value>(_ chunk: String, _ make: (HTTPBody) -> ElementStream<Value>) async throws -> Value? {
            let pulls = Collected<Int>()
            let body = HTTPBody {
                pulls.add(1)
                return pulls.all.count == 1 ? Data(chunk.utf8) : nil
            }
            var iterator = make(body).makeAsyncIterator()
            let value = try await iterator.next()
            #expect(pulls.all.count == 1)
            return value
        }
        #expect(try await first("a\rb") { $0.lines() } == "a")
        #expect(try await first("{\"id\":1}\n") { $0.jsonLines(of: Row.self) } == Row(id: 1))
        #expect(try await first("[{\"id\":1}") { $0.jsonElements(of: Row.self) } == Row(id: 1))
        #expect(try await first("\u{1E}{\"id\":1}") { $0.jsonSequence(of: Row.self) } == Row(id: 1))
        #expect(try await first("\u{1E}7\n") { $0.jsonSequence(of: Int.self) } == 7)
    }

    @Test("JSON lines skip blank lines, treat a CR as white space, and don't need an end of the last line")
    func jsonLines() async throws {
        let body = HTTPBody(stream: "\u{FEFF}{\"id\":1}\r\n\n  \n {\"id\":\r2} \n{\"id\":3}")
        #expect(try await body.jsonLines(of: Row.self).all() == [1, 2, 3].map(Row.init))
    }

    @Test("a value that can't be decoded throws with its line and byte, and reading can continue")
    func undecodable() async throws {
        var iterator = HTTPBody(stream: "{\"id\":1}\n\n{\"id\":\"x\"}\n{\"id\":3}\n").jsonLines(of: Row.self)
            .makeAsyncIterator()
        #expect(try await iterator.next() == Row(id: 1))
        let error = await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(error?.summary == "decodingFailed 3 10" && error?.underlying is DecodingError)
        #expect(error?.failureSentence == .unusableResponse && error?.errorCode == 3)
        #expect(try await iterator.next() == Row(id: 3))
        #expect(try await iterator.next() == nil)

        var elements = HTTPBody(stream: "[{\"id\":1},{\"id\":[}] , 7]").jsonElements(of: Row.self).makeAsyncIterator()
        #expect(try await elements.next() == Row(id: 1))
        await #expect(throws: StreamingError.self) { try await elements.next() }
    }

    @Test("an array can contain white space anywhere, values of every kind, or no elements")
    func arrays() async throws {
        let body = HTTPBody(stream: " [ 1 ,\n\"a,]\" , null,[1,[2]],{\"a\":\"]\"} ]\r\n ")
        #expect(
            try await body.jsonElements(of: Data.self).all().map { String(decoding: $0, as: UTF8.self) }
                == ["1", "\"a,]\"", "null", "[1,[2]]", "{\"a\":\"]\"}"])
        #expect(try await HTTPBody(stream: "[]").jsonElements(of: Row.self).all().isEmpty)
        #expect(try await HTTPBody(stream: "[null,1]").jsonElements(of: Int?.self).all() == [nil, 1])
        #expect(try await HTTPBody(stream: "\u{FEFF}[1]").jsonElements(of: Int.self).all() == [1])
    }

    @Test(
        "text that isn't an array throws with the position",
        arguments: [
            ("", "truncated 1 0"), ("  ", "truncated 1 2"), ("{}", "malformedJSON 1 0"), ("1", "malformedJSON 1 0"),
            ("[", "truncated 1 1"), ("[1", "truncated 1 1"), ("[1,", "truncated 1 3"), ("[1,]", "malformedJSON 1 3"),
            ("[,1]", "malformedJSON 1 1"), ("[1 2]", "malformedJSON 1 3"), ("[1]x", "malformedJSON 1 3"),
            ("[1][2]", "malformedJSON 1 3"), ("[1}", "malformedJSON 1 2"), ("[\"a", "truncated 1 1"),
            ("[{\"a\":1}", "truncated 1 8"), ("[{]", "truncated 1 3"), ("[}", "malformedJSON 1 1"),
            ("[[1]", "truncated 1 4"),
            ("[1,x]", "decodingFailed 2 3"), ("[01]", "decodingFailed 1 1"), ("[1,\u{1}]", "decodingFailed 2 3"),
            ("\u{FEFF}", "truncated 1 3"),
        ])
    func wrongArrays(text: String, summary: String) async throws {
        let bytes = Data(text.utf8)
        for place in 0...bytes.count {
            let elements = HTTPBody(bytes, cutAt: place).jsonElements(of: Int.self)
            if text.hasPrefix("[{") || text.hasPrefix("[[") || text.hasPrefix("[\"") {
                #expect(await failure(HTTPBody(bytes, cutAt: place).jsonElements(of: Data.self)) == summary)
            } else {
                #expect(await failure(elements) == summary, "cut at \(place)")
            }
        }
    }

    @Test("in a sequence (RFC 7464), several separators count as one, and a text over several lines is one value")
    func sequences() async throws {
        let body = HTTPBody(stream: "\u{1E}\u{1E}{\"id\":\n1}\n\u{1E}\n\u{1E}{\"id\":2}\n\n\u{1E}{\"id\":3}")
        #expect(try await body.jsonSequence(of: Row.self).all() == [1, 2, 3].map(Row.init))
        #expect(try await HTTPBody(stream: "").jsonSequence(of: Row.self).all().isEmpty)
        #expect(try await HTTPBody(stream: "\u{1E}1\n\u{1E}true\n").jsonSequence(of: Data.self).all().count == 2)
    }

    @Test(
        "only the malformed text in a sequence fails, and a number without white space after it may be truncated (2.4)"
    )
    func malformedSequences() async throws {
        let text = "\u{1E}1\n\u{1E}2\u{1E}{\"a\":\u{1E}3\n x\n\u{1E}4\n\u{1E}{}{}\n\u{1E}5\n\u{1E}12"
        for place in 0...text.utf8.count {
            var iterator = HTTPBody(Data(text.utf8), cutAt: place).jsonSequence(of: Data.self).makeAsyncIterator()
            var seen: [String] = []
            while true {
                do {
                    guard let value = try await iterator.next() else { break }
                    seen.append(String(decoding: value, as: UTF8.self))
                } catch let error as StreamingError { seen.append("\(error.code) \(error.byte)") }
            }
            #expect(
                seen == [
                    "1", "decodingFailed 4", "decodingFailed 6", "3", "decodingFailed 15", "4", "{}",
                    "decodingFailed 23", "5",
                    "truncated 30",
                ], "cut at \(place)")
        }
        #expect(await failure(HTTPBody(stream: "1\n").jsonSequence(of: Int.self)) == "malformedJSON 1 0")
    }

    @Test("values are decoded by the request's decoder, or the agent's")
    func decoders() async throws {
        struct Dated: Decodable, Sendable { let at: Date }
        let stub = StubTransport()
        stub.on("/stream", response: .chunks([Data("[{\"at\":7}]".utf8)]))
        var configuration = AgentConfiguration(baseURL: "http://stub")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        configuration.decoder = decoder
        let agent = NetworkAgent(configuration: configuration, transport: stub)
        let values = try await agent.jsonElements(GetStream(), of: Dated.self).all()
        #expect(values.map(\.at) == [Date(timeIntervalSince1970: 7)])
    }

    @Test(
        "a failure of the connection comes after earlier elements, and a failed status before all elements"
    )
    func wireFailures() async throws {
        let stub = StubTransport()
        let server = try TestServer()
        server.on("/stream", .text("a\nb\nc").truncated(to: 4))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        var iterator = agent.lines(GetStream()).makeAsyncIterator()
        #expect(try await iterator.next() == "a")
        #expect(try await iterator.next() == "b")
        let error = await #expect(throws: ErrandError.self) { try await iterator.next() }
        #expect(error?.code == .truncated && error?.response?.status == 200)
        stub.on("/stream", response: .status(404))
        let other = NetworkAgent(baseURL: "http://stub", transport: stub)
        let refused = await #expect(throws: ErrandError.self) { try await other.lines(GetStream()).all() }
        #expect(refused?.code == .unacceptableStatus)
    }

    @Test("leaving the loop cancels the transfer even if the body is retained, and a second reader gets an error")
    func leaving() async throws {
        let cancelled = Collected<Bool>()
        let body = HTTPBody(cancel: { cancelled.add(true) }, next: { Data("a\nb\n".utf8) })
        for try await _ in body.lines() { break }
        #expect(cancelled.all == [true])
        await #expect(throws: ErrandError.self) { try await body.lines().all() }
        withExtendedLifetime(body) {}
    }

    @Test(
        "a byte order mark isn't part of the first line or value, with any chunks", arguments: [1, 2, 3, 4, 100])
    func marks(size: Int) async throws {
        func body(_ text: String) -> HTTPBody {
            let bytes = Array("\u{FEFF}\(text)".utf8)
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Data(bytes[$0..<min(bytes.count, $0 + size)])
            }
            let turn = Log<Int>()
            return HTTPBody(next: {
                turn.add(0)
                return turn.all.count <= chunks.count ? chunks[turn.all.count - 1] : nil
            })
        }
        #expect(try await body("name,age\nAda,36").lines().all() == ["name,age", "Ada,36"])
        #expect(try await body("\u{FEFF}").lines().all() == ["\u{FEFF}"])
        #expect(try await body("1\n2").jsonLines(of: Int.self).all() == [1, 2])
    }

    @Test("lines are decoded with the charset of the response, and a line that is invalid in it throws")
    func charsets() async throws {
        func lines(_ bytes: [UInt8], _ type: String) async throws -> [String] {
            let response = StubResponse.data(Data(bytes)).header("Content-Type", type)
            let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(response))
            return try await agent.lines(Call(.get, "log")).all()
        }
        #expect(try await lines([0x83, 0x65, 0x0A, 0x5C, 0x0D, 0x0A], "text/plain; charset=Shift_JIS") == ["テ", "\\"])
        #expect(try await lines([0x93, 0x0A, 0xEF], "text/plain; charset=iso-8859-1") == ["“", "ï"])
        #expect(try await lines([0xFF, 0x0A], "text/plain; charset=\"\"") == ["\u{FFFD}"])
        // An unknown charset is ignored as long as the lines are UTF-8.
        #expect(try await lines([0x61, 0x0A, 0xC3, 0xA9], "text/plain; charset=utf8mb4") == ["a", "\u{E9}"])
        for (bytes, type) in [
            ([0x61, 0x0A, 0x81], "Shift_JIS"), ([0x81], "no-such"), ([0x61, 0, 0, 0, 0x0A, 0, 0, 0], "utf-32"),
            ([0x61, 0, 0x0A, 0], "utf-16"),
        ] as [([UInt8], String)] {
            let error = await #expect(throws: StreamingError.self) { try await lines(bytes, "a/b; charset=\(type)") }
            #expect(error?.code == .decodingFailed && error?.element == (bytes.count == 3 ? 2 : 1))
        }
    }

    @Test("a line in ISO-2022-JP begins in the state in which the line before it ended")
    func shiftedLines() async throws {
        func lines(_ bytes: [UInt8]) async throws -> [String] {
            let response = StubResponse.data(Data(bytes)).header("Content-Type", "text/plain; charset=iso-2022-jp")
            let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(response))
            let text = try? await agent.send(Call<String>(.get, "log")).value
            let lines = try await agent.lines(Call(.get, "log")).all()
            #expect(text?.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) } == lines)
            return lines
        }
        let (ascii, roman, kanji) =
            ([0x1B, 0x28, 0x42], [0x1B, 0x28, 0x4A], [0x1B, 0x24, 0x42]) as ([UInt8], [UInt8], [UInt8])
        let (day, yen): ([UInt8], [UInt8]) = ([0x46, 0x7C], [0x5C, 0x31])
        #expect(try await lines(kanji + day + roman + [0x0A] + yen) == ["日", "¥1"])
        #expect(try await lines(roman + [0x61, 0x0A, 0x0A] + yen + ascii + [0x0A] + yen) == ["a", "", "¥1", "\\1"])
        #expect(try await lines(roman + [0x61, 0x0A] + kanji + day + ascii + [0x0A] + yen) == ["a", "日", "\\1"])
        // No line may end within Kanji, so the next line isn't read as other characters.
        await #expect(throws: StreamingError.self) { try await lines(kanji + day + [0x0A] + day + ascii) }
        // After the error, the next line is read in the state in which the line before it ended.
        let rest = StubResponse.data(Data(kanji + day + [0x0A] + day + ascii + [0x0A] + yen))
            .header("Content-Type", "text/plain; charset=iso-2022-jp")
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(rest))
        var iterator = agent.lines(Call(.get, "log")).makeAsyncIterator()
        await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(try await iterator.next() == "日")
        #expect(try await iterator.next() == "\\1")
    }
}
