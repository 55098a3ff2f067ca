import Errand
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Faults that users of other indicators and logs have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other indicators and logs", .endsInTime, .leakChecked)
struct IndicatorLessonsTests {
    private struct Again: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            let response = try await next(exchange)
            return response.status == 503 ? try await next(exchange) : response
        }
    }

    @Test("a request that is redirected and sent again counts once, and the indicator is hidden at its end")
    func severalSendings() async throws {
        let (shown, stub) = (Log<LoadingState>(), StubTransport())
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        stub.on("/v1/text", response: .redirect(to: "/v1/other"))
        stub.on("/v1/other", response: .status(503), .text("ok"), .status(503), .status(503))
        let agent = NetworkAgent(baseURL: base, transport: stub, filters: [Again()], accessories: [indicator])
        _ = try await agent.send(Get())
        await #expect(throws: ErrandError.self) { try await agent.send(Get()) }
        try await eventually { indicator.state == .hidden && shown.all.last == .hidden }
        #expect(shown.all.allSatisfy { $0.running <= 1 } && stub.received.count > 4)
    }

    @Test("requests that end before they are noticed leave no state")
    func instantEnds() async throws {
        let shown = Log<LoadingState>()
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [indicator])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let handle = agent.start(Get())
                    if number % 2 == 0 { handle.cancel() }
                    _ = await handle.result
                }
            }
        }
        try await eventually { indicator.state == .hidden }
        try await eventually { shown.all.last.map { $0 == .hidden } ?? true }
    }

    @Test("without a delay, even a request that is in flight for a moment is shown")
    func noDelay() async throws {
        let (shown, gate) = (Log<LoadingState>(), Gate())
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [indicator])
        let handle = agent.start(Get())
        try await gate.reached()
        try await eventually { shown.all.contains { $0.isShown } }
        gate.open()
        _ = try await handle.value
        try await eventually { shown.all.last == .hidden }
    }

    private struct Upload: Request {
        typealias Output = Data
        let body: RequestBody
        var path: String { "upload" }
        var method: HTTPMethod { .put }
        var acceptableContentTypes: ContentTypes { .any }
    }

    @Test(
        "a log of bodies doesn't change a byte of an upload or of its response",
        arguments: [LogLevel.line, .bodies(upTo: 100)])
    func uploads(level: LogLevel) async throws {
        let server = try TestServer()
        server.on("/upload", .echoBody)
        let records = Log<LogRecord>()
        let log = RequestLog(level, to: ClosureSink { records.add($0) })
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [log])
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let folder = try Folder()
        let file = folder.file("upload")
        try bytes.write(to: file)
        for body in [RequestBody.data(bytes), .file(file)] {
            #expect(try await agent.send(Upload(body: body)).value == bytes)
            #expect(server.received.last?.bodyLength == 300_000 && server.received.last?.body == bytes)
        }
        await log.flush()
        #expect(records.count == 2)
    }

    @Test("a file that another program emptied, as logrotate's copytruncate does, is written from its start")
    func emptied() async throws {
        let records = Log<LogRecord>()
        let log = RequestLog(.line, to: ClosureSink { records.add($0) })
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [log])
        for number in 0..<9 { _ = try await agent.send(Get(path: "item-\(number)")) }
        await log.flush()
        let folder = try Folder()
        let file = folder.file("errand.log")
        let length = records.all[0].description.utf8.count + 1
        let sink = FileSink(at: file, maximumBytes: 5 * length)
        for record in records.all.prefix(4) { sink.write(record) }
        try FileHandle(forWritingTo: file).truncate(atOffset: 0)
        for record in records.all[4...6] { sink.write(record) }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.hasPrefix(records.all[4].description) && text.split(separator: "\n").count == 3)
        #expect(!text.utf8.contains(0) && folder.names == ["errand.log"] && sink.failure == nil)
    }

    #if os(Linux)
    @Test("after another program has emptied the file, a record that the disk has no room for leaves no zeros")
    func emptiedAndFull() async throws {
        // In a separate process, whose file size limit simulates a full disk.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = try Folder()
            let file = folder.file("errand.log")
            let records = Log<LogRecord>()
            let log = RequestLog(.line, to: ClosureSink { records.add($0) })
            let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [log])
            for number in 0..<9 { _ = try await agent.send(Get(path: "item-\(number)")) }
            await log.flush()
            let sink = FileSink(at: file)
            for record in records.all { sink.write(record) }
            try FileHandle(forWritingTo: file).truncate(atOffset: 0)
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            getrlimit(resource, &limit)
            limit.rlim_cur = 5
            setrlimit(resource, &limit)
            sink.write(records.all[0])
            #expect(sink.failure?.hasPrefix("writing") == true)
            #expect(try Data(contentsOf: file).isEmpty)
        }
    }
    #endif
}
