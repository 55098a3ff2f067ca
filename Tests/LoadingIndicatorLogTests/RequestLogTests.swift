import Errand
import ErrandBatch
import ErrandCache
import ErrandLoadingIndicatorLog
import ErrandTesting
import Foundation
import Testing

private struct Post: Request {
    typealias Output = String
    var path = "items"
    var query = Parameters()
    var headers: HTTPHeaders = [:]
    var body: RequestBody = .none
    var method: HTTPMethod { .post }
    var label: String? { path }
    var acceptableContentTypes: ContentTypes { .any }
}

@Suite(.endsInTime, .leakChecked)
struct RequestLogTests {
    private let records = Log<LogRecord>()

    private func log(_ level: LogLevel, limit: Int = 1000) -> RequestLog {
        RequestLog(level, to: ClosureSink { [records] in records.add($0) }, maximumQueue: limit)
    }

    private func agent(_ response: StubResponse, _ log: RequestLog, filters: [any Filter] = []) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(response), filters: filters, accessories: [log])
    }

    /// Removes the times, the only part that varies between runs.
    private func withoutTime(_ record: LogRecord) -> String {
        record.description.replacing(#/\d+\.\d ms/#, with: "T ms").replacing(#/^[#]\d+ /#, with: "")
    }

    @Test("a request is one line with its method, URL, status, source and time")
    func line() async throws {
        let log = log(.line)
        _ = try await agent(.text("ok"), log).send(Get(path: "users?page=2&access_token=123456789"))
        _ = try? await agent(.text("no", status: 404), log).send(Get())
        _ = try? await agent(.failure(ErrandError(.timedOut, "late")), log).send(Get())
        await log.flush()
        #expect(
            records.all.map(withoutTime) == [
                "GET \(base)/users?page=2&access_token=••• → 200, network, T ms",
                "GET \(base)/text → 404 unacceptableStatus, network, T ms", "GET \(base)/text → timedOut, T ms",
            ])
        #expect(records.all.map(\.outcome) == [.success, .failure, .failure])
        #expect(records.all.map(\.status) == [200, 404, nil])
    }

    @Test("the HTTP version is in the line, even if only the timings contain it", arguments: [true, false])
    func version(isInTimings: Bool) async throws {
        struct Versioned: Transport {
            let isInTimings: Bool
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                var timings = TransferTimings()
                timings.httpVersion = isInTimings ? "3" : nil
                options.report(.timings(timings))
                return HTTPResponse(to: request, status: 204, version: isInTimings ? nil : "3")
            }
        }
        let log = log(.line)
        let transport = Versioned(isInTimings: isInTimings)
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [log])
        _ = try await agent.send(Call<Data>(.get, "text"))
        await log.flush()
        #expect(records.all.map(\.version) == ["3"])
        #expect(records.all.map(withoutTime) == ["GET \(base)/text → 204, network, HTTP/3, T ms"])
    }

    @Test("a duration of any length is written")
    func endlessDuration() async throws {
        let time = ManualTimeSource()
        let log = RequestLog(.line, to: ClosureSink { [records] in records.add($0) }, time: time)
        let endless = ClosureFilter { exchange, next in
            // The seconds of this time don't fit in 64 bits.
            time.advance(to: time.now.advanced(by: .seconds(Int64.max) * 17))
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok")), filters: [endless], accessories: [log], time: time)
        _ = try await agent.send(Get())
        await log.flush()
        #expect(records.all.map(\.line).first?.contains("200, network, 3155760000000.0 ms") == true)
    }

    @Test("the line of a filter's own error has the status of the response in it")
    func evidence() async throws {
        struct Gone: Filter {
            struct Failure: RequestFailure {
                let response: HTTPResponse?
                var isRetryable: Bool { false }
            }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                throw Failure(response: try await next(exchange))
            }
        }
        let log = log(.line)
        _ = try? await agent(.text("no", status: 410), log, filters: [Gone()]).send(Get())
        await log.flush()
        #expect(records.all.map(\.status) == [410] && records.all.map(\.outcome) == [.failure])
    }

    @Test("a cache hit, a cancellation, and a batch with its parts are named")
    func sources() async throws {
        let log = log(.line)
        let agent = agent(.text("ok"), log, filters: [.cache(.memory(), policy: .timed(.seconds(60)))])
        for _ in 0..<2 { _ = try await agent.send(Get()) }
        let gate = Gate()
        let slow = self.agent(.text("ok").waiting(for: gate), log)
        let handle = slow.start(Get())
        try await gate.reached()
        handle.cancel()
        _ = await handle.result
        _ = try await self.agent(.text("ok"), log).run(Batch(Get(), label: "two"))
        await log.flush()
        let lines = records.all.map(withoutTime)
        #expect(lines[1].contains("→ 200, cache, 0 s old, hit"))
        #expect(lines[1].hasSuffix("T ms") && records.all[1].requests == 0)
        #expect(lines[2] == "GET \(base)/text → cancelled, T ms")
        #expect(lines[4] == "batch two → success, T ms")
        #expect(records.all[3].parent == records.all[4].id)
    }

    @Test("only listed headers are shown, and bodies as JSON, text or a size, up to a limit")
    func bodies() async throws {
        let log = log(.bodies(upTo: 1000))
        let response = StubResponse.json(#"{"id":7,"session":{"a":[1,2]},"name":"Ada","tags":[],"n":1.50}"#)
            .header("X-Unknown", "person").header("ETag", "\"1\"")
        _ = try await agent(response, log).send(
            Post(headers: ["X-Mine": "x", "Range": "bytes=0-"], body: .text("a plain text")))
        _ = try await agent(.data(Data([0, 1, 2]), contentType: "image/png"), log).send(Post())
        await log.flush()
        let first = try #require(records.all.first)
        #expect(first.requestHeaders.contains("X-Mine: •••") && first.requestHeaders.contains("Range: bytes=0-"))
        #expect(first.responseHeaders.contains("X-Unknown: •••") && first.responseHeaders.contains("ETag: \"1\""))
        #expect(first.requestBody == "a plain text")
        #expect(
            first.responseBody == """
                {
                  "id": 7,
                  "session": "•••",
                  "name": "Ada",
                  "tags": [],
                  "n": 1.50
                }
                """)
        #expect(records.all.last?.responseBody == "(image/png, 3 bytes)")
        let feed = Data("<feed><token>a1b2c3d4</token><title>News</title></feed>".utf8)
        _ = try await agent(.data(feed, contentType: "application/atom+xml"), log).send(Post())
        await log.flush()
        #expect(records.all.last?.responseBody == "<feed><token>•••</token><title>News</title></feed>")
        #expect(first.description.contains("\n  < {\n  <   \"id\": 7,"))
    }

    @Test("truncated JSON is shown up to its end, and a long text with its size")
    func cut() async throws {
        let log = log(.bodies(upTo: 30))
        _ = try await agent(.json(#"{"name":"Ada","password":"hunter2hunter2","x":1}"#), log).send(Post())
        _ = try await agent(.text(String(repeating: "x", count: 100)), log).send(Post())
        await log.flush()
        #expect(records.all[0].responseBody == "{\n  \"name\": \"Ada\",\n  \"password\": \"•••\"\n… 48 bytes in all")
        #expect(records.all[1].responseBody == String(repeating: "x", count: 30) + "\n… 100 bytes in all")
    }

    @Test("turning the log off costs no memory, and the level can change while it runs")
    func levels() async throws {
        let log = log(.off)
        let agent = agent(.text("ok"), log)
        _ = try await agent.send(Get())
        log.level = .line
        _ = try await agent.send(Get())
        log.level = .off
        _ = try await agent.send(Get())
        await log.flush()
        #expect(records.all.count == 1)
    }

    @Test("a sink that hangs doesn't delay requests, and the next record has the number of dropped records")
    func slowSink() async throws {
        let blocked = DispatchSemaphore(value: 0)
        let begun = Gate()
        let records = records
        let sink = ClosureSink { record in
            begun.open()
            if records.all.isEmpty { blocked.wait() }
            records.add(record)
        }
        let log = RequestLog(.line, to: sink, maximumQueue: 10)
        let agent = agent(.text("ok"), log)
        _ = try await agent.send(Get())
        try await begun.wait()
        for _ in 0..<100 { _ = try await agent.send(Get()) }
        blocked.signal()
        await log.flush()
        _ = try await agent.send(Get())
        await log.flush()
        #expect(records.all.count == 12)
        #expect(records.all.last?.dropped == 90)
        #expect(records.all.last?.line.contains("(90 earlier records were dropped)") == true)
    }

    @Test("a flush waits for earlier records, not for later ones")
    func busySink() async throws {
        let (flushes, agents) = (Counter(), Log<NetworkAgent>())
        let sink = ClosureSink { _ in
            // Each record brings another one, until the flush is over.
            guard flushes.value == 0, let agent = agents.all.first else { return }
            let sent = DispatchSemaphore(value: 0)
            Task {
                _ = try? await agent.send(Get())
                sent.signal()
            }
            sent.wait()
        }
        let log = RequestLog(.line, to: sink)
        let agent = agent(.text("ok"), log)
        agents.add(agent)
        _ = try await agent.send(Get())
        await log.flush()
        flushes.increment()
        agents.removeAll()
    }

    @Test(
        "no secret reaches the output, wherever it is",
        arguments: [LogLevel.line, .headers, .bodies(upTo: 100_000)])
    func canary(level: LogLevel) async throws {
        let canary = "c4n4ry-s3cr3t"
        let log = log(level)
        let redirect = StubTransport(.redirect(to: "https://user:\(canary)@other.example/x?token=\(canary)#\(canary)"))
        let bodies: [RequestBody] = [
            .json(["a": ["deep": ["Pass-Word": canary]]]), .form(["apiKey": .string(canary)]),
            .data(Data("--x\r\n\(canary)\r\n--x--".utf8), contentType: "multipart/form-data; boundary=x"),
            .data(Data(#"{"pass\u0077ord":"\#(canary)"}"#.utf8), contentType: "application/json"),
        ]
        let headers: HTTPHeaders = ["Cookie": "sid=\(canary)", "X-Custom": canary, "Authorization": "Bearer \(canary)"]
        let echoing = StubResponse.text("no such token: \(canary)", status: 500).header("Set-Cookie", "a=\(canary)")
            .header("Location", "/?x=\(canary)")
        for body in bodies {
            var request = Post(path: "items?client_secret=\(canary)", headers: headers, body: body)
            _ = try? await agent(echoing, log).send(request)
            request.path = "https://user:\(canary)@api.example.com/items"
            _ = try? await agent(.text("ok"), log).send(request)
            let following = NetworkAgent(baseURL: base, transport: redirect, accessories: [log])
            _ = try? await following.send(request)
            let http = try agent(.text("ok"), log).httpRequest(
                for: Post(path: "items?client_secret=\(canary)", headers: headers, body: body))
            #expect(!http.curlCommand().contains(canary) || body.contentType?.hasPrefix("multipart") == true)
        }
        await log.flush()
        #expect(records.all.count == 12)
        for record in records.all {
            #expect(!record.description.contains(canary), "\(record)")
            #expect(!"\(Mirror(reflecting: record).children.map { $0 })".contains(canary))
        }
    }

    @Test("records of several users that are written together mask the secrets of each")
    func severalUsers() async throws {
        let log = log(.line)
        let agent = agent(.text("ok"), log)
        for secret in ["ada-s3cr3t", "bob-s3cr3t", "bob-s3cr3t", "ada-s3cr3t"] {
            _ = try await agent.send(Post(path: "items/\(secret)", headers: ["Authorization": "Bearer \(secret)"]))
        }
        await log.flush()
        #expect(records.all.map(\.url) == Array(repeating: "\(base)/items/•••", count: 4))
        #expect(!records.all.contains { "\($0.label)\($0)".contains("s3cr3t") })
    }

    #if os(Linux)
    @Test("a record that the disk has no room for isn't written in part, and later records are complete")
    func fullDisk() async throws {
        // In a separate process, whose file size limit simulates a full disk.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = try Folder()
            let file = folder.file("errand.log")
            let sink = FileSink(at: file)
            let records = Log<LogRecord>()
            let log = RequestLog(.line, to: ClosureSink { records.add($0) })
            let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [log])
            for number in 0..<3 { _ = try await agent.send(Get(path: "item-\(number)")) }
            await log.flush()
            sink.write(records.all[0])
            let whole = try Data(contentsOf: file)
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            getrlimit(resource, &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = rlim_t(whole.count + 5)
            setrlimit(resource, &limit)
            sink.write(records.all[1])
            #expect(sink.failure?.hasPrefix("writing") == true)
            limit.rlim_cur = before
            setrlimit(resource, &limit)
            #expect(try Data(contentsOf: file) == whole)
            sink.write(records.all[2])
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2 && lines[1].contains("item-2") && sink.failure == nil)
        }
    }
    #endif

    @Test("files rotate at their size, are readable only by their owner, and don't follow links")
    func files() async throws {
        let folder = try Folder()
        let directory = folder.url
        let file = directory.appending(path: "errand.log")
        let sink = FileSink(at: file, maximumBytes: 500, maximumOldFiles: 2)
        let log = RequestLog(.line, to: sink)
        let agent = agent(.text("ok"), log)
        for number in 0..<50 { _ = try await agent.send(Get(path: "item-\(number)")) }
        await log.flush()
        #expect(sink.failure == nil)
        let names = folder.names
        #expect(names == ["errand.log", "errand.log.1", "errand.log.2"])
        var lines: [String] = []
        for name in names.reversed() {
            let path = directory.appending(path: name).path
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.utf8.count <= 500)
            lines += text.split(separator: "\n").map(String.init)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(lines.last?.contains("item-49") == true)
        let numbers = lines.compactMap { $0.firstMatch(of: #/item-(\d+)/#).flatMap { Int($0.1) } }
        #expect(numbers == Array((50 - numbers.count)..<50), "none is lost between two files")
        // Another program moves the file, and later removes it.
        for name in ["moved.log", nil] {
            if let name {
                try FileManager.default.moveItem(at: file, to: directory.appending(path: name))
            } else {
                try FileManager.default.removeItem(at: file)
            }
            _ = try await agent.send(Get(path: "after-\(name ?? "removal")"))
            await log.flush()
            #expect(try String(contentsOf: file, encoding: .utf8).contains("after-\(name ?? "removal")"))
        }
        let link = directory.appending(path: "link.log")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let refused = FileSink(at: link)
        let toLink = RequestLog(.line, to: refused)
        _ = try await self.agent(.text("ok"), toLink).send(Get())
        await toLink.flush()
        #expect(refused.failure?.hasPrefix("opening") == true)
    }

    @Test("no record can move a terminal's cursor")
    func control() async throws {
        let place = TemporaryDirectory()
        let log = RequestLog(.bodies(upTo: 100), to: FileSink(at: place.url))
        _ = try await agent(.text("a\u{1B}[2Jb\rc"), log).send(Get())
        await log.flush()
        let text = try String(contentsOf: place.url, encoding: .utf8)
        #expect(text.contains("a\\u{1B}[2Jb\\u{D}c"))
    }

    @Test("a label with a line break or an escape sequence forges no line, in a record and in an error")
    func labels() async throws {
        let log = log(.headers)
        let label = "a\n2 GET https://example.com → 200\u{1B}[2J\u{202E}\u{9B}"
        _ = try await agent(.text("ok").header("Content-Language", "b\u{9B}2Jc"), log).run(Batch(Get(), label: label))
        await log.flush()
        let shown = #"a\u{A}2 GET https://example.com → 200\u{1B}[2J\u{202E}\u{9B}"#
        #expect(records.all.contains { $0.label == shown })
        #expect(!records.all.contains { $0.description.unicodeScalars.contains("\u{9B}") })
        let error = ErrandError(.checkFailed, "no\n1 GET /\u{1B}[2J")
        #expect(error.description == #"checkFailed: no\u{A}1 GET /\u{1B}[2J"#)
    }
}
