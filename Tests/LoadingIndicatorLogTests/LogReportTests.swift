import Errand
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Bodies, times and lines that other logs got wrong. Tests/Lessons.md has the reports.
@Suite("Contents that other logs got wrong", .endsInTime, .leakChecked)
struct LogReportTests {
    private let records = Log<LogRecord>()

    private func log(_ level: LogLevel = .bodies(upTo: 1000)) -> RequestLog {
        RequestLog(level, to: ClosureSink { [records] in records.add($0) })
    }

    private func agent(_ response: StubResponse, _ log: RequestLog) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(response), accessories: [log])
    }

    private func post(_ body: RequestBody) -> Call<Data> { Call<Data>(.post, "items", body: body) }

    /// Sends a body, gets the same body as the response, and returns both as the log shows them.
    private func shown(_ body: Data, _ type: String?, upTo limit: Int = 1000) async throws -> [String?] {
        let log = log(.bodies(upTo: limit))
        var response = StubResponse(body: body)
        if let type { response = response.header(.contentType, type) }
        let received = try await agent(response, log).send(post(.data(body, contentType: type))).value
        #expect(received == body)
        await log.flush()
        let record = try #require(records.all.last)
        return [record.requestBody, record.responseBody]
    }

    @Test(
        "a charset that nobody knows doesn't keep a response from the app, or its text from the log",
        arguments: [
            "text/html; charset=0", "text/plain; charset=\"\"", "text/plain; charset=x-none; charset=utf-8",
            "text/plain; charset", "application/json; charset=0",
        ])
    func unknownCharsets(type: String) async throws {
        let text = type.contains("json") ? "[\"na\u{EF}ve\"]" : "na\u{EF}ve"
        for line in try await shown(Data(text.utf8), type) { #expect(line?.contains("na\u{EF}ve") == true) }
    }

    @Test("of two requests at the same time, a record shows the one that was answered")
    func concurrentRequests() async throws {
        let (log, filter) = (log(), FirstWins())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: filter.transport, filters: [filter], accessories: [log])
        #expect(try await agent.send(Call<String>(.get, "text")).value == "one")
        await log.flush()
        #expect(records.all.map(\.requestBody) == ["first"] && records.all.map(\.responseBody) == ["one"])
        #expect(records.all.map(\.requests) == [2])
    }

    @Test(
        "text of any type is shown as text",
        arguments: [
            ("text/calendar", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"), ("text/vcard", "BEGIN:VCARD\nEND:VCARD\n"),
            ("application/xml; charset=utf-8", "<?xml version=\"1.0\"?>\n<d:multistatus xmlns:d=\"DAV:\"/>"),
            ("application/atom+xml", "<feed xmlns=\"http://www.w3.org/2005/Atom\"/>"),
            ("application/soap+xml", "<s:Envelope/>"), ("image/svg+xml", "<svg/>"),
            ("application/yaml", "open: 1\nlist: [2]\n"),
            ("multipart/mixed; boundary=b", "--b\r\n\r\nopen\r\n--b--\r\n"),
        ])
    func texts(type: String, text: String) async throws {
        for line in try await shown(Data(text.utf8), type) {
            #expect(line?.replacing("\\u{D}", with: "\r") == text, "\(line ?? "nil")")
        }
    }

    @Test(
        "text in another charset is shown in its characters, even if the copy ends within a character",
        arguments: [
            ("text/plain; charset=iso-8859-1", "na\u{EF}ve", Data([0x6E, 0x61, 0xEF, 0x76, 0x65])),
            ("text/html; charset=\"Shift_JIS\"", "\u{65E5}\u{672C}", Data([0x93, 0xFA, 0x96, 0x7B])),
            ("application/xml; charset=utf-16le", "<\u{E9}/>", Data([0x3C, 0, 0xE9, 0, 0x2F, 0, 0x3E, 0])),
            ("application/json; charset=windows-1252", "\"\u{20AC}\"", Data([0x22, 0x80, 0x22])),
        ])
    func charsets(type: String, text: String, bytes: Data) async throws {
        for line in try await shown(bytes, type) { #expect(line == text) }
        for line in try await shown(bytes, type, upTo: bytes.count - 1) {
            #expect(line?.contains("\u{FFFD}") == false && line?.hasSuffix("\n… \(bytes.count) bytes in all") == true)
        }
    }

    @Test(
        "bytes that begin like text or have no byte above 127 are shown as a size",
        arguments: ["video/mp4", "application/octet-stream", "application/pdf", "x-own/type", nil] as [String?])
    func binary(type: String?) async throws {
        let film = Data("\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom".utf8) + Data(repeating: 1, count: 100)
        let document = Data("%PDF-1.4\n%".utf8) + Data([0xE2, 0xE3, 0xCF, 0xD3]) + Data(repeating: 0x20, count: 100)
        for body in [film, document] {
            let lines = try await shown(body, type)
            #expect(lines.allSatisfy { $0?.hasSuffix(", \(body.count) bytes)") == true }, "\(lines)")
        }
    }

    @Test("a file within a multipart form doesn't reach the log as characters")
    func binaryParts() async throws {
        let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0xD8]) + Data((0...255).map { $0 })
        var body = Data("--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nSea\r\n--b\r\n".utf8)
        body += Data("Content-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\r\n".utf8)
        body += picture + Data("\r\n--b--\r\n".utf8)
        for line in try await shown(body, "multipart/form-data; boundary=b") {
            #expect(line?.contains("\u{FFFD}") == false && line?.contains("PNG") == false, "\(line ?? "nil")")
        }
    }

    @Test("the body of a refused response is in the record of the failure")
    func refusals() async throws {
        let log = log()
        for (type, text) in [("application/json", #"{"error":{"reason":"178912"}}"#), ("text/html", "<p>178912</p>")] {
            let response = StubResponse(status: 500, headers: ["Content-Type": type], body: Data(text.utf8))
            let error = await #expect(throws: ErrandError.self) { try await agent(response, log).send(Get()) }
            await log.flush()
            let record = try #require(records.all.last)
            #expect(error?.code == .unacceptableStatus && record.status == 500 && record.outcome == .failure)
            #expect(record.responseBody?.contains("178912") == true)
        }
    }

    @Test("JSON without an object or a list is shown", arguments: ["7", "\"x\"", "null", "true", "[]", "{}", "-1.50"])
    func scalars(json: String) async throws {
        #expect(try await shown(Data(json.utf8), "application/json") == [json, json])
    }

    @Test("a log of bodies doesn't hide the end of a request, whether its body is read, empty or dropped")
    func ends() async throws {
        let (log, recorder) = (log(), RecordingAccessory())
        let stub = StubTransport(.text("ok"))
        stub.on("/v1/empty", response: .status(204))
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [log, recorder])
        _ = try await agent.send(Call<Data>(.get, "whole"))
        _ = try await agent.send(Call<Data>(.get, "empty"))
        _ = try await agent.send(Call<Data>(.head, "head"))
        _ = try await agent.send(Call<HTTPBody>(.get, "dropped"))
        try await eventually { recorder.outcomes.count == 4 }
        await log.flush()
        #expect(records.all.map(\.outcome) == Array(repeating: .success, count: 4))
    }

    @Test("a body that can be read once is sent once, whole, and the log doesn't read it")
    func oneShot() async throws {
        let server = try TestServer()
        server.on("/items", .echoBody)
        let log = log()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [log])
        let (opened, bytes) = (Counter(), Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        let body = HTTPBody {
            let number = opened.increment()
            return number > 3 ? nil : Data(bytes.dropFirst((number - 1) * 100_000).prefix(100_000))
        }
        #expect(try await agent.send(post(.stream(body))).value == bytes)
        #expect(server.received.map(\.bodyLength) == [300_000] && opened.value == 4)
        await log.flush()
        #expect(records.count == 1)
    }

    @Test("a stream that never ends reaches the app while a log of bodies waits for its end")
    func endlessStream() async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            var path: String { "stream" }
            var acceptableContentTypes: ContentTypes { .any }
        }
        let (log, gate, number) = (log(), Gate(), Counter())
        let response = StubResponse.stream {
            if number.increment() > 2 { try await gate.wait() }
            return number.value > 3 ? nil : Data("data: \(number.value)\n\n".utf8)
        }
        let agent = agent(response.header(.contentType, "text/event-stream"), log)
        var chunks = try await agent.send(Stream()).value.makeAsyncIterator()
        for expected in ["data: 1\n\n", "data: 2\n\n"] { #expect(try await chunks.next() == Data(expected.utf8)) }
        // Other requests aren't held up either.
        _ = try await self.agent(.text("ok"), log).send(Get())
        gate.open()
        while try await chunks.next() != nil {}
        await log.flush()
        #expect(records.all.contains { $0.responseBody == "ok" })
    }

    @Test("escaped line breaks in a URL stay escaped, and no field begins a line")
    func forgedLines() async throws {
        let folder = try Folder()
        let file = folder.file("errand.log")
        let log = RequestLog(.line, to: FileSink(at: file))
        let forged = "a%0d%0a%232%20GET%20https:%2F%2Fevil.example%20%E2%86%92%20200?q=%0A%E2%80%A8x"
        let response = StubResponse.text("ok").header("ETag", "\"\u{85}\u{2028}x\"")
        _ = try await agent(response, log).send(Get(path: forged))
        await log.flush()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.split(whereSeparator: \.isNewline).count == 1 && text.lowercased().contains("%0d%0a"))
        let headers = self.log(.headers)
        _ = try await agent(response, headers).send(Get(path: forged))
        await headers.flush()
        let lines = try #require(records.all.last).description.split(whereSeparator: \.isNewline)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  ") }, "\(lines)")
    }

    @Test("a duration is right although the device's date is set back while the request runs")
    func dateSetBack() async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let log = RequestLog(.line, to: ClosureSink { [records] in records.add($0) }, time: time)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [log], time: time)
        let handle = agent.start(Get())
        try await gate.reached()
        time.date -= 3600
        time.advance(by: .seconds(2))
        gate.open()
        _ = try await handle.value
        await log.flush()
        #expect(records.all.map(\.duration) == [.seconds(2)])
    }

    @Test("the size of a body is the number of its bytes, whether the server announced it or not")
    func sizes() async throws {
        let server = try TestServer()
        let text = String(repeating: "0123456789", count: 1000)
        server.on("/length", .text(text))
        server.on("/chunks", .text(text).chunked())
        server.on("/close", .text(text).untilClose())
        let log = log(.line)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [log])
        for path in ["length", "chunks", "close"] { _ = try await agent.send(Get(path: path)) }
        await log.flush()
        #expect(records.all.map(\.bytesReceived) == [10_000, 10_000, 10_000])
    }
}

extension IndicatorLessonsTests {
    @Test("an upload keeps the indicator on the screen until its response, however long the server takes")
    func longUpload() async throws {
        let (shown, gate) = (Log<LoadingState>(), Gate())
        let server = try TestServer()
        server.on("/upload", .text("ok").waiting(for: gate))
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [indicator])
        let handle = agent.start(
            Call<Data>(.post, "upload", body: .data(Data(count: 3_000_000), contentType: "multipart/form-data")))
        try await gate.reached()
        try await eventually { handle.progress.sent == 3_000_000 && indicator.state.isShown }
        let first = try #require(shown.all.firstIndex { $0.isShown })
        #expect(shown.all[first...].allSatisfy { $0.isShown && $0.running == 1 })
        gate.open()
        _ = try await handle.value
        try await eventually { shown.all.last == .hidden }
    }

    @Test("a request that a filter answers without sending it isn't shown, and the log counts no sending")
    func answeredByFilter() async throws {
        let (shown, records) = (Log<LoadingState>(), Log<LogRecord>())
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        let log = RequestLog(.line, to: ClosureSink { records.add($0) })
        let answering = ClosureFilter { exchange, _ in
            HTTPResponse(to: exchange.http, status: 200, headers: ["Content-Type": "text/plain"], body: .empty)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub, filters: [answering], accessories: [indicator, log])
        for _ in 0..<10 { _ = try await agent.send(Get()) }
        await log.flush()
        #expect(records.all.map(\.requests) == Array(repeating: 0, count: 10))
        #expect(indicator.state == .hidden && shown.all.allSatisfy { !$0.isShown })
    }

    @Test("an indicator and a log that the agent and the call both have count each request once")
    func givenTwice() async throws {
        let (shown, records, gate) = (Log<LoadingState>(), Log<LogRecord>(), Gate())
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        let log = RequestLog(.bodies(upTo: 100), to: ClosureSink { records.add($0) })
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [indicator, log])
        let handle = agent.start(Get(), options: CallOptions(accessories: [indicator, log]))
        try await gate.reached()
        try await eventually { indicator.state.running == 1 }
        gate.open()
        _ = try await handle.value
        try await eventually { indicator.state == .hidden }
        await log.flush()
        #expect(records.all.map(\.responseBody) == ["ok"] && records.all.map(\.requests) == [1])
        #expect(shown.all.allSatisfy { $0.running <= 1 })
    }
}
