import Errand
import ErrandHTTPSyntax
import ErrandRecording
import ErrandReplay
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ReplayTests {
    @Test("repeated requests get their responses in the order of the file, each once, with others in between")
    func order() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/a", content: text("one")), entry("POST", "\(site)/a", content: text("posted")),
                entry("\(site)/b", content: text("other")), entry("\(site)/a", content: text("two"))))
        let agent = agent(replay)
        #expect(try await agent.send(Get(path: "a")).value == "one")
        #expect(try await agent.send(Get(path: "b")).value == "other")
        #expect(try await agent.send(Get(path: "a")).value == "two")
        #expect(replay.unusedEntries.map(\.description) == ["POST \(site)/a → 200 (entry 1)"])
        #expect(throws: ReplayError.self) { try replay.checkAllUsed() }
        let error = await #expect(throws: ReplayError.self) { try await agent.send(Get(path: "a")) }
        #expect(error?.code == .exhausted && error?.nearest?.index == 3)
        #expect(error?.description.contains("its 2 responses have been used") == true)
        #expect(replay.report.unmatched == ["GET \(site)/a"])
        #expect(try await agent.send(Raw(path: "a", method: .post)).value.data == Data("posted".utf8))
        try replay.checkAllUsed()
        #expect(
            replay.report.description == "4 of 4 entries were used, 0 recorded\n  not in the recording: GET \(site)/a")
    }

    @Test("the last response is repeated on request")
    func repeating() async throws {
        let replay = try ReplayTransport(
            har: archive(entry("\(site)/a", content: text("one")), entry("\(site)/a", content: text("two"))),
            repeatsLastResponse: true)
        let agent = agent(replay)
        var texts: [String] = []
        for _ in 0..<4 { texts.append(try await agent.send(Get(path: "a")).value) }
        #expect(texts == ["one", "two", "two", "two"])
    }

    @Test(
        "redirects are followed in the recording, even if the header is masked and the archive names the target"
    )
    func redirects() async throws {
        let har = archive(
            entry("\(site)/old", status: 302, headers: [("Location", "/new?token=12345678")], redirectURL: "/x"),
            entry("\(site)/new?token=12345678", content: text("arrived")),
            entry("\(site)/masked", status: 307, headers: [("location", "•••")], redirectURL: "/next?token=•••"),
            entry("\(site)/next?token=•••", content: text("so did this")))
        let replay = try ReplayTransport(har: har)
        let agent = agent(replay)
        let response = try await agent.send(Get(path: "old"))
        #expect(response.value == "arrived" && response.http.url.absoluteString == "\(site)/new?token=12345678")
        #expect(try await agent.send(Get(path: "masked")).value == "so did this")
        try replay.checkAllUsed()
    }

    @Test("bodies come back byte for byte: text with escapes, Base64, empty")
    func bodies() async throws {
        let bytes = Data((0...255).map { UInt8($0) })
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/text", content: text(#"a\"\\\/\b\f\n\r\té\ud83d\ude00\u0000ü"#)),
                entry(
                    "\(site)/bytes",
                    content: #""size":256,"encoding":"base64","text":"\#(bytes.base64EncodedString())""#),
                entry("\(site)/none", headers: [("Content-Length", "0")]),
                entry("\(site)/python", content: #""size":3,"text":"a\udcfc\udcff""#),
                entry("\(site)/lone", content: #""size":7,"text":"a\ud800b\udc00""#)))
        let agent = agent(replay)
        func data(_ path: String) async throws -> Data { try await agent.send(Raw(path: path)).value.data }
        #expect(try await data("text") == Data("a\"\\/\u{8}\u{C}\n\r\té😀\0ü".utf8))
        #expect(try await data("bytes") == bytes)
        #expect(try await data("none").isEmpty)
        #expect(try await data("python") == Data([0x61, 0xFC, 0xFF]))
        #expect(try await data("lone") == Data("a\u{FFFD}b\u{FFFD}".utf8))
        #expect(replay.report.incompleteBodies.isEmpty)
    }

    @Test(
        "a text in another charset gets its original bytes",
        arguments: [
            ("text/plain; charset=iso-8859-1", Data([0x67, 0x72, 0xFC, 0x6E]), "grün", 0),
            ("text/html", Data([0x80, 0x20, 0xFC]), "€ ü", 0), ("text/plain", Data("ü".utf8), "Ã¼", 0),
            ("text/plain", Data([0xEF, 0xBB, 0xBF, 0x61]), "a", 0),
            ("text/plain; charset=utf-16", Data([0xFF, 0xFE, 0xFC, 0]), "ü", 1),
            ("text/plain; charset=utf-16le", Data([0xFF, 0xFE, 0xFC, 0]), "ü", 0),
            ("text/plain; charset=Shift_JIS", Data([0x5C, 0x5C, 0x83, 0x65, 0x87, 0x40, 0xFC, 0x4B]), #"\\\\テ①黑"#, 2),
            ("text/plain; charset=gb2312", Data([0x81, 0x40, 0x80, 0xC4, 0xE3]), "丂€你", 0),
            ("text/html; charset=euc-kr, text/html", Data([0x8C, 0x63, 0x20]), "똠 ", 0),
            ("text/plain; charset=big5", Data([0xA4, 0x40, 0x87, 0x45]), "一\u{27267}", 0),
            ("text/plain; charset=koi8-r", Data([0xC1]), "а", 0),
            ("text/plain; charset=us-ascii", Data([0x93]), "“", 0),
            // The text was shorter on the wire, as in mitmproxy.
            ("text/plain; charset=latin1", Data([0xFC, 0xFC, 0xFC]), "üüü", 2),
        ])
    func charsets(type: String, bytes: Data, text: String, saved: Int) async throws {
        let content = #""size":\#(bytes.count - saved),"compression":\#(saved),"text":"\#(text)""#
        let replay = try ReplayTransport(
            har: archive(entry("\(site)/a", headers: [("Content-Type", type)], content: content)))
        #expect(try await agent(replay).send(Raw(path: "a")).value.data == bytes)
    }

    @Test("a body without its content coding loses the coding's fields, and a body with its coding keeps them")
    func codings() async throws {
        let coded = Data([0x1F, 0x8B, 8, 0, 0, 0])
        let fields = [("content-encoding", "gzip"), ("content-length", "6"), ("transfer-encoding", "chunked")]
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/plain", headers: fields, content: text("hello")),
                entry("\(site)/same", headers: fields, content: text("hello!")),
                entry(
                    "\(site)/coded", headers: fields,
                    content: #""size":6,"encoding":"base64","text":"\#(coded.base64EncodedString())""#),
                entry("\(site)/long", headers: [("Content-Length", "5")], content: text("hello"))))
        let agent = agent(replay)
        func head(_ path: String) async throws -> HTTPHeaders {
            var headers = try await agent.send(Raw(path: path)).value.headers
            // This field comes from the recorded content's type.
            headers.remove(.contentType)
            return headers
        }
        #expect(try await head("plain").isEmpty)
        #expect(try await head("same") == ["content-length": "6"])
        #expect(try await head("coded") == ["content-encoding": "gzip", "content-length": "6"])
        #expect(try await head("long") == ["Content-Length": "5"])
    }

    @Test("a body that is missing in the file is empty, and reported, with any announced length")
    func missing() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/gone", headers: [("Content-Length", "9000")], content: #""size":9000"#),
                entry("HEAD", "\(site)/head", headers: [("Content-Length", "9000")], content: #""size":9000"#)))
        let agent = agent(replay)
        #expect(try await agent.send(Raw(path: "gone")).value.data.isEmpty)
        let head = try await agent.send(Raw(path: "head", method: .head)).value
        #expect(head.headers[.contentLength] == "9000")
        #expect(replay.report.incompleteBodies.map(\.index) == [0])
    }

    @Test(
        "entries that aren't HTTP messages are skipped, and fields that Chromium has joined are split"
    )
    func foreign() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("data:image/png;base64," + String(repeating: "A", count: 200_000)),
                entry("wss://example.com/socket", status: 101),
                entry(
                    "\(site)/a", headers: [(":status", "200"), ("set-cookie", #"a=1\nb=2"#), ("x", #"\u0000y "#)],
                    content: text("ok"))))
        let response = try await agent(replay).send(Raw(path: "a")).value
        #expect(response.headers.values(of: .setCookie) == ["a=1", "b=2"] && response.headers["x"] == "y")
        #expect(response.headers.count == 4 && response.headers.contains(.contentType) && response.version == "1.1")
        #expect(replay.report.entryCount == 1 && replay.report.ignoredEntryCount == 2)
    }

    @Test("an archive with a socket's messages is read, and the socket can't be replayed")
    func recordedSocket() async throws {
        struct Echo: WebSocketRequest { var path: String { "socket" } }
        let stub = StubTransport()
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        stub.on("/a", response: .text("ok"))
        let (recorder, events) = (ExchangeRecorder(maximumBodyBytes: 100), RecordingAccessory())
        let recorded = NetworkAgent(baseURL: site, transport: stub, accessories: [recorder, events])
        let socket = recorded.webSocket(Echo())
        try await socket.send(.text("one \"two\" \u{0}"))
        var received = socket.makeAsyncIterator()
        _ = try await received.next()
        _ = try await recorded.send(Get(path: "a"))
        await socket.close()
        try await events.waitUntilQuiet()
        let archive = recorder.harFile()
        #expect(archive.log.entries.compactMap(\.webSocketMessages).map(\.count) == [2])
        #expect(try JSONDecoder().decode(HARFile.self, from: try archive.encoded()) == archive)
        // An archive from a program that writes the handshake's URL.
        var other = archive
        for index in other.log.entries.indices {
            other.log.entries[index].request.url.replace("wss:", with: "https:")
        }
        for archive in [archive, other] {
            let replay = try ReplayTransport(har: archive)
            #expect(replay.report.entryCount == 1 && replay.report.ignoredEntryCount == 1)
            #expect(try await agent(replay).send(Get(path: "a")).value == "ok")
        }
    }

    @Test("a program's own fields are ignored, with any value")
    func ownFields() async throws {
        for own in [#""_resourceType":7"#, #""_resourceType":null,"_webSocketMessages":[1,{"type":2}]"#] {
            let text = entry("\(site)/a").replacing(#""time":1,"#, with: #""time":1,\#(own),"#)
            #expect(try ReplayTransport(har: archive(text)).report.entryCount == 1)
            let file = try JSONDecoder().decode(HARFile.self, from: archive(text))
            #expect(file.log.entries.count == 1 && file.log.entries[0].webSocketMessages == nil)
        }
    }

    @Test(
        "a request that had no response fails as it did",
        arguments: [
            ("net::ERR_NAME_NOT_RESOLVED", ErrandError.Code.nameLookupFailed), ("timedOut", .timedOut),
            ("net::ERR_CONNECTION_REFUSED", .cannotConnect), ("net::ERR_CERT_DATE_INVALID", .insecureConnection),
            ("", .connectionLost),
        ])
    func failures(name: String, code: ErrandError.Code) async throws {
        let replay = try ReplayTransport(har: archive(entry("\(site)/a", status: 0, error: name)))
        let error = await #expect(throws: ErrandError.self) { try await agent(replay).send(Raw(path: "a")) }
        #expect(error?.code == code)
    }

    @Test("random recordings and requests have the same result as a queue per request", arguments: 0..<20)
    func model(seed: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        let methods = ["GET", "PUT"]
        var queues: [String: [String]] = [:]
        var entries: [String] = []
        for number in 0..<generator.below(40) {
            let (method, path) = (methods[generator.below(2)], "\(generator.below(4))?n=\(generator.below(2))")
            entries.append(entry(method, "\(site)/\(path)", content: text("\(number)")))
            queues["\(method) \(path)", default: []].append("\(number)")
        }
        let har = Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)
        let repeats = generator.below(2) == 0
        let replay = try ReplayTransport(har: har, repeatsLastResponse: repeats)
        let agent = agent(replay)
        var lasts: [String: String] = [:]
        for _ in 0..<60 {
            let (method, path) = (methods[generator.below(2)], "\(generator.below(5))?n=\(generator.below(2))")
            let key = "\(method) \(path)"
            var expected = queues[key].flatMap(\.first)
            if expected == nil, repeats { expected = lasts[key] }
            if queues[key]?.isEmpty == false { lasts[key] = queues[key]?.removeFirst() }
            do {
                let response = try await agent.send(Raw(path: path, method: HTTPMethod(rawValue: method))).value
                #expect(String(decoding: response.data, as: UTF8.self) == expected)
            } catch let error as ReplayError {
                #expect(expected == nil && error.code == (queues[key] == nil ? .unmatched : .exhausted))
            }
        }
        #expect(replay.unusedEntries.count == queues.values.reduce(0) { $0 + $1.count })
    }

    // MARK: Time

    @Test("a response can take its recorded time on the agent's clock, and is immediate by default")
    func timing() async throws {
        let har = archive(
            entry(
                "\(site)/a", content: text("ok"),
                timings: #""blocked":-1,"dns":1000,"connect":2000,"ssl":1500,"send":0,"wait":3000,"receive":4000"#))
        let time = ManualTimeSource()
        #expect(try await agent(ReplayTransport(har: har), time).send(Get(path: "a")).value == "ok")
        let replay = try ReplayTransport(har: har, timing: .recorded)
        let start = time.now
        let task = Task { try await agent(replay, time).send(Get(path: "a")).value }
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(5999))
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(1))
        try await time.waitForSleepers()
        #expect(start.duration(to: time.now) == .seconds(6))
        time.advance(by: .seconds(4))
        #expect(try await task.value == "ok")
    }

    @Test("a recorded time beyond the timeout, or an invalid time, is a timeout")
    func late() async throws {
        for wait in ["90000", "1e300", "1e999"] {
            let time = ManualTimeSource()
            let replay = try ReplayTransport(
                har: archive(entry("\(site)/a", content: text("ok"), timings: #""wait":\#(wait)"#)), timing: .recorded)
            let task = Task { try await agent(replay, time).send(Get(path: "a")).value }
            try await time.waitForSleepers()
            time.advance(by: .seconds(60))
            let error = await #expect(throws: ErrandError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
    }

    @Test("a streamed body arrives at the pace of the recording")
    func pace() async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            var path: String { "a" }
        }
        let time = ManualTimeSource()
        let replay = try ReplayTransport(
            har: archive(entry("\(site)/a", content: text("ok"), timings: #""wait":0,"receive":8000"#)),
            timing: .recorded)
        let body = try await agent(replay, time).send(Stream()).value
        let task = Task { try await body.collect(upTo: 100) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(8))
        #expect(try await task.value == Data("ok".utf8))
    }

    // MARK: Isolation

    @Test("tests with separate recordings don't affect one another; 1,000 with ERRAND_LONG_TESTS")
    func isolation() async throws {
        let count = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 100 : 1000
        let shared = archive(entry("\(site)/n", content: text("first")), entry("\(site)/n", content: text("second")))
        let folder = try Folder()
        try shared.write(to: folder.file("shared.har"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    let own = try ReplayTransport(
                        har: archive(entry("\(site)/n", content: text("own \(number)")), entry("\(site)/\(number)")))
                    let same = try ReplayTransport(har: folder.file("shared.har"))
                    #expect(try await agent(own).send(Get(path: "n")).value == "own \(number)")
                    #expect(try await agent(same).send(Get(path: "n")).value == "first")
                    #expect(own.unusedEntries.map(\.url) == ["\(site)/\(number)"])
                    #expect(try await agent(same).send(Get(path: "n")).value == "second")
                    #expect(same.unusedEntries.isEmpty)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("concurrent requests to one URL each get their own response")
    func concurrent() async throws {
        let entries = (0..<50).map { entry("\(site)/n", content: text("\($0)")) }
        let har = Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)
        let agent = agent(try ReplayTransport(har: har))
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await agent.send(Get(path: "n")).value } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts.count == 50)
    }
}
