import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandTesting
import Testing

/// The HTML standard, sections 9.2.5 and 9.2.6, sentence by sentence.
@Suite("Parsing and interpreting an event stream", .leakChecked) struct EventParsingTests {
    private func events(_ text: String) async throws -> [ServerSentEvent] {
        try await HTTPBody(stream: text).events().all()
    }

    private func data(_ text: String) async throws -> [String] { try await events(text).map(\.data) }

    private func events(_ bytes: [UInt8]) async throws -> [ServerSentEvent] {
        try await HTTPBody(chunks: [Data(bytes)]).events().all()
    }

    @Test("streams are decoded as UTF-8, without a byte order mark at the start")
    func byteOrderMark() async throws {
        #expect(try await data("\u{FEFF}data: a\n\n") == ["a"])
        #expect(try await data("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n") == ["b"])
        #expect(try await data("data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n") == ["a", "c"])
        #expect(try await data("data: \u{FEFF}a\n\n") == ["\u{FEFF}a"])
        #expect(try await data("\u{FEFF}:comment\ndata: a\n\n") == ["a"])
        #expect(try await data("\u{FEFF}\n\ndata: a\n\n") == ["a"])
        for size in 1...3 {
            let bytes = Data("\u{FEFF}data: a\n\n".utf8)
            #expect(try await HTTPBody(bytes, cutAt: size).events().all().map(\.data) == ["a"])
        }
        for bytes in [[0xEF, 0xBB], [0xEF, 0xBB, 0xBF], []] as [[UInt8]] { #expect(try await events(bytes).isEmpty) }
        #expect(try await events([0xEF, 0x0A] + Array("data: a\n\n".utf8)).map(\.data) == ["a"])
    }

    @Test(
        "bytes that aren't UTF-8 become U+FFFD, one for each maximal part of a character",
        arguments: [
            ([0xFF], "\u{FFFD}"), ([0x80, 0x80], "\u{FFFD}\u{FFFD}"), ([0xE2, 0x82], "\u{FFFD}"),
            ([0xE2, 0x82, 0x41], "\u{FFFD}A"), ([0xF0, 0x9F, 0x98], "\u{FFFD}"),
            ([0xC0, 0x80], "\u{FFFD}\u{FFFD}"), ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xF0, 0x80, 0x41], "\u{FFFD}\u{FFFD}A"),
        ] as [([UInt8], String)])
    func invalidUTF8(bytes: [UInt8], text: String) async throws {
        let stream = Array("data: ".utf8) + bytes + Array("\nevent: ".utf8) + bytes + [0x0A, 0x0A]
        let event = try #require(try await events(stream).first)
        #expect(event.data == text && event.name == text)
    }

    @Test("a line ends with CR LF, LF or CR")
    func lineEnds() async throws {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["data: a", "data: b", "", "data: c", "", ""].joined(separator: end)
            #expect(try await data(text) == ["a\nb", "c"], "\(end.debugDescription)")
        }
        #expect(try await data("data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r") == ["a\nb\nc", "d"])
        #expect(try await data("data: a\n\rdata: b\r\r") == ["a", "b"])
        #expect(try await data("data: a\r\n\n\rdata: b\n\r\n") == ["a", "b"])
        #expect(try await data("data: a\u{2028}b\u{85}c\u{0B}d\u{0C}e\n\n") == ["a\u{2028}b\u{85}c\u{0B}d\u{0C}e"])
    }

    @Test(
        "an event is delivered with its blank line, even if that ends with a CR at the end of a chunk"
    )
    func carriageReturnAtTheEnd() async throws {
        let gate = Gate()
        let pieces = Collected<Int>()
        let body = HTTPBody {
            pieces.add(1)
            switch pieces.all.count {
            case 1: return Data("data: a\r\r".utf8)
            case 2:
                try await gate.wait()
                return Data("\ndata: b\r\n\r".utf8)
            case 3: return Data("\n".utf8)
            case 4: return Data("data: c\r\n\r\n".utf8)
            default: return nil
            }
        }
        var iterator = body.events().makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        gate.open()
        #expect(try await iterator.next()?.data == "b")
        #expect(pieces.all.count == 2)
        #expect(try await iterator.next()?.data == "c")
        #expect(try await iterator.next() == nil)
    }

    @Test("a blank line dispatches the event, and resets all buffers except the ID")
    func dispatch() async throws {
        let all = try await events("event: add\nid: 1\ndata: a\n\ndata: b\n\n")
        #expect(all == [.init(name: "add", data: "a", id: "1"), .init(data: "b", id: "1")])
    }

    @Test("a line that starts with a colon is ignored")
    func comments() async throws {
        #expect(try await data(":\n: a\n:data: b\ndata: c\n::\n:id: 7\n\n:\n\n") == ["c"])
        #expect(
            try await events(
                "data:1\n:\0\n:\r\ndata:2\n:\(String(repeating: "x", count: 2048))\ndata:3\n:data:fail\n\n"
            ).map(\.data) == ["1\n2\n3"])
    }

    @Test("the text after the first colon is the value, without one leading space")
    func values() async throws {
        #expect(
            try await data("data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\ndata: a \n\ndata:a:b\n\ndata: :\n\n")
                == ["a", "a", " a", "\ta", "a ", "a:b", ":"])
        #expect(try await events("event:  greeting\ndata:  Hello\n\n") == [.init(name: " greeting", data: " Hello")])
    }

    @Test("a line without a colon is a field's name with an empty value")
    func noColon() async throws {
        #expect(try await data("data\n\ndata\ndata\n\ndata:test\n\n") == ["", "\n", "test"])
        #expect(try await events("id: 1\ndata: a\n\nid\ndata: b\n\n").map(\.id) == ["1", ""])
        #expect(try await events("event: x\nevent\ndata: a\n\n").map(\.name) == ["message"])
        #expect(try await data("retry\ndata: a\n\n") == ["a"])
    }

    @Test("field names are compared exactly, and unknown fields are ignored")
    func fieldNames() async throws {
        #expect(
            try await data(
                "Data: 1\n data: 2\ndata : 3\ndata\0: 4\nDATA: 5\ndat: 6\ndatas: 7\nfoobar:xxx\njustsometext\n:thisisacommentyay\nxretry: 8\ndata: a\n\n"
            ) == ["a"])
        #expect(try await events("color: blue\ndata: a\nEvent: x\nID: 7\n\n") == [.init(data: "a")])
    }

    @Test("event: sets the name, the last name counts, and an empty name means message")
    func eventField() async throws {
        #expect(try await events("event: a\nevent: b\ndata: x\n\n").map(\.name) == ["b"])
        #expect(try await events("event: \ndata: x\n\n").map(\.name) == ["message"])
        #expect(try await events("event: a\n\ndata: x\n\n").map(\.name) == ["message"])
        #expect(try await events("data: x\nevent: late\n\n").map(\.name) == ["late"])
    }

    @Test("data: lines are joined by LF, without a final LF")
    func dataField() async throws {
        #expect(
            try await data("data: a\ndata: b\n\ndata:\ndata:\n\ndata:\n\ndata: a\ndata\n\n") == [
                "a\nb", "\n", "", "a\n",
            ])
        #expect(try await data("data: a\0b\n\n") == ["a\0b"])
    }

    @Test("id: applies to the following events too, and an ID with U+0000 is ignored")
    func idField() async throws {
        #expect(
            try await events("id: a\ndata: 1\n\ndata: 2\n\nid: x\0y\ndata: 3\n\nid: \ndata: 4\n\n").map(\.id)
                == ["a", "a", "a", ""])
        #expect(try await events("id: \0\0\ndata: 1\n\n").map(\.id) == [""])
        #expect(try await events("id: …\ndata: 1\n\n").map(\.id) == ["…"])
        #expect(try await events("id: 1\n\ndata: 2\n\n").map(\.id) == ["1"])
    }

    @Test("an event without data isn't dispatched")
    func withoutData() async throws {
        #expect(try await events("event: a\nid: 1\nretry: 2\n\n\n\n").isEmpty)
    }

    @Test("an incomplete event at the end of the stream is discarded")
    func incomplete() async throws {
        for rest in ["data: b", "data: b\n", "data: b\r", "event: x\ndata: b\nid: 7\n", ":", "\u{FEFF}"] {
            #expect(try await data("data: a\n\n" + rest) == ["a"], "\(rest.debugDescription)")
        }
        #expect(try await data("") == [])
    }

    @Test("comments are passed to onComment as they are read")
    func commentCallback() async throws {
        let stub = StubTransport()
        stub.on("/feed", response: .events([.raw(":Hello\n: World\ndata: a\n\n:late\n")]))
        let comments = Collected<String>()
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub)
        let stream = agent.events(GetFeed(eventOptions: EventOptions(onComment: { comments.add($0) })))
        #expect(try await stream.all().map(\.data) == ["a"])
        #expect(comments.all == ["Hello", " World", "late"])
    }

    @Test("an endless line or comment ends at the limit", arguments: ["data: ", ":", "", "id: ", "x"])
    func endlessLine(start: String) async throws {
        let pulls = Collected<Int>()
        let body = HTTPBody {
            pulls.add(1)
            return pulls.all.count == 1
                ? Data("data: abcdefgh\n\n\(start)".utf8) : Data(repeating: UInt8(ascii: "x"), count: 1000)
        }
        var iterator = body.events(upTo: 5000).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "abcdefgh")
        let error = await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(error?.code == .elementTooLong && error?.byte == 16 && error?.element == 3)
        #expect(pulls.all.count < 9)
        #expect(try await iterator.next() == nil)
    }

    @Test("an endless event ends at the limit")
    func endlessEvent() async throws {
        let lines = Data(String(repeating: "data: 4567890\n", count: 10).utf8)
        let pulls = Collected<Int>()
        let body = HTTPBody {
            pulls.add(1)
            return lines
        }
        let error = await #expect(throws: StreamingError.self) { try await body.events(upTo: 5000).all() }
        #expect(error?.code == .elementTooLong && error?.element == 1)
        #expect(pulls.all.count < 80)
        // Short events may exceed the limit in sum.
        let many = HTTPBody(chunks: (0..<100).map { _ in lines + Data("\n".utf8) })
        #expect(try await many.events(upTo: 200).all().count == 100)
    }

    @Test("lines without data count towards the limit of an event", arguments: ["data\n", "data:\n", "data: \r\n"])
    func emptyLines(line: String) async throws {
        let pulls = Counter()
        let body = HTTPBody {
            pulls.increment()
            return Data(String(repeating: line, count: 100).utf8)
        }
        let error = await #expect(throws: StreamingError.self) { try await body.events(upTo: 5000).all() }
        #expect(error?.code == .elementTooLong && pulls.value < 60)
    }

    @Test("a test event has a data line for each line of its text, whatever ends the lines")
    func testEvents() async throws {
        let stub = StubTransport()
        stub.on("/feed", response: .events([TestEvent("a\r\nb\rc\n\nd\r\n")]))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub)
        #expect(try await agent.events(GetFeed(eventOptions: EventOptions())).all().map(\.data) == ["a\nb\nc\n\nd\n"])
    }
}
