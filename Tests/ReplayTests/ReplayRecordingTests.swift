import Errand
import ErrandRecording
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ReplayRecordingTests {
    private let canary = "c4n4ry-s3cr3t"

    @Test("an archive recorded over the wire replays byte for byte: redirects, binary, streams, statuses, uploads")
    func roundTrip() async throws {
        let server = try TestServer()
        let bytes = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        server.on(.get, "/old", .redirect(to: "/new"))
        server.on(.get, "/new", .text("arrivé"))
        server.on(.get, "/bytes", .data(bytes))
        server.on(.get, "/gone", .status(204))
        server.on(.get, "/fails", .text("no", status: 500))
        server.on(.post, "/upload") { request in .text("\(request.body.count)") }
        server.on(.get, "/turn") { request in .text("number \(request.index)") }
        let folder = try Folder()
        let file = folder.file("round.har")
        struct Stream: Request {
            typealias Output = HTTPBody
            var path: String
        }
        let all: @Sendable (any Agent) async throws -> [String] = { agent in
            var seen: [String] = []
            for path in ["old", "bytes", "gone", "fails", "turn", "turn"] {
                let response = try await agent.send(Raw(path: path)).value
                seen.append("\(response.status) \(response.url.path) \(response.data.base64EncodedString())")
            }
            let stream = try await agent.send(Stream(path: "bytes")).value
            seen.append(try await stream.collect(upTo: 1 << 20).base64EncodedString())
            for body in [RequestBody.data(bytes), .json(["a": 1]), .stream(HTTPBody(bytes))] {
                seen.append(
                    String(
                        decoding: try await agent.send(Raw(path: "upload", method: .post, body: body)).value.data,
                        as: UTF8.self))
            }
            return seen
        }
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .system))
        let first = try await all(NetworkAgent(baseURL: server.url, transport: cassette))
        try cassette.save()
        #expect(cassette.report.recordedCount == 11 && cassette.report.notRecorded.isEmpty)
        let requests = server.requestCount
        for matching in [ReplayMatching.methodAndURL, ReplayMatching(body: true)] {
            let replay = try ReplayTransport(har: file, matching: matching)
            #expect(try await all(NetworkAgent(baseURL: server.url, transport: replay)) == first)
            try replay.checkAllUsed()
        }
        #expect(server.requestCount == requests && folder.names == ["round.har"])
        let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        // Any reader of the format accepts it.
        #expect(try JSONDecoder().decode(HARFile.self, from: Data(contentsOf: file)).log.entries.count == 11)
    }

    @Test("the temporary file of a process that was killed is removed by the next recording in the same directory")
    func abandoned() async throws {
        let folder = try Folder()
        let left = folder.file(".errand-1-1.partial")
        try Data("left".utf8).write(to: left)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: left.path)
        try ReplayTransport(har: folder.file("a.har"), mode: .recordAll(over: .stub(.text("new")))).save()
        #expect(folder.names == ["a.har"])
    }

    @Test("new requests are added to the file, whose existing entries stay byte for byte")
    func adding() async throws {
        let old = entry("\(site)/old", content: #""size":3,"text":"old","_own":[1, 2,{"a" : null}]"#)
        let folder = try Folder()
        let file = folder.file("a.har")
        try archive(old, entry("data:,x")).write(to: file)
        let stub = StubTransport()
        stub.on(.get, "/new", response: .text("new"))
        stub.on(.get, "/old", response: .text("changed"))
        for _ in 0..<2 {
            let cassette = try ReplayTransport(har: file, mode: .recordNew(over: stub))
            let agent = agent(cassette)
            #expect(try await agent.send(Get(path: "old")).value == "old")
            #expect(try await agent.send(Get(path: "new")).value == "new")
            try cassette.save()
        }
        #expect(stub.received.count == 1)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(old) && text.contains("data:,x"))
        let replay = try ReplayTransport(har: file)
        #expect(replay.report.entryCount == 2 && replay.report.ignoredEntryCount == 1)
        // Repetitions beyond the recorded number are new, too.
        let cassette = try ReplayTransport(har: file, mode: .recordNew(over: stub))
        #expect(try await agent(cassette).send(Get(path: "old")).value == "old")
        #expect(try await agent(cassette).send(Get(path: "old")).value == "changed")
        #expect(cassette.report.recordedCount == 1)
    }

    @Test(
        "passing a request on reports it without recording; a missing file is an error unless the mode records")
    func passingOn() async throws {
        let folder = try Folder()
        let file = folder.file("a.har")
        #expect(throws: HARError.self) { try ReplayTransport(har: file, mode: .replayOrPassOn(to: StubTransport())) }
        try archive(entry("\(site)/old", content: text("old"))).write(to: file)
        let replay = try ReplayTransport(har: file, mode: .replayOrPassOn(to: .stub(.text("live"))))
        let agent = agent(replay)
        #expect(try await agent.send(Get(path: "new")).value == "live")
        #expect(try await agent.send(Get(path: "old")).value == "old")
        #expect(try await agent.send(Get(path: "old")).value == "live")
        #expect(replay.report.unmatched == ["GET \(site)/new", "GET \(site)/old"] && replay.report.recordedCount == 0)
    }

    @Test("recording everything doesn't read the file, and replaces it when it is saved")
    func anew() async throws {
        let folder = try Folder(["a.har": "no archive at all"])
        let file = folder.file("a.har")
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .stub(.text("live"))))
        #expect(try await agent(cassette).send(Get(path: "a")).value == "live")
        #expect(try folder.data("a.har") == Data("no archive at all".utf8))
        try cassette.save()
        #expect(try await agent(ReplayTransport(har: file)).send(Get(path: "a")).value == "live")
        let nowhere = try ReplayTransport(har: folder.file("no/a.har"), mode: .recordAll(over: .stub(.text("live"))))
        #expect(#expect(throws: HARError.self) { try nowhere.save() }?.code == .fileFailed)
        #expect(#expect(throws: HARError.self) { try ReplayTransport(har: archive()).save() }?.code == .fileFailed)
        #expect(folder.names == ["a.har"])
    }

    @Test("failures are recorded and replayed with their code, cancellations aren't recorded")
    func failures() async throws {
        let folder = try Folder()
        let file = folder.file("a.har")
        let stub = StubTransport()
        stub.on(.get, "/late", response: .failure(ErrandError(.timedOut, "late")))
        stub.on(.get, "/name", response: .failure(ErrandError(.nameLookupFailed, "no such host")))
        stub.on(.get, "/gone", response: .failure(CancellationError()))
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: stub))
        for path in ["late", "name", "gone"] { _ = try? await agent(cassette).send(Raw(path: path)) }
        try cassette.save()
        let replay = try ReplayTransport(har: file)
        for (path, code) in [("late", ErrandError.Code.timedOut), ("name", .nameLookupFailed)] {
            let error = await #expect(throws: ErrandError.self) { try await agent(replay).send(Raw(path: path)) }
            #expect(error?.code == code)
        }
        #expect(replay.report.entryCount == 2)
    }

    @Test("a stream that isn't read to its end isn't recorded, and that's reported")
    func unread() async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            var path: String { "a" }
        }
        let stub = StubTransport.stub(.chunks([Data("a".utf8), Data("b".utf8)]))
        let cassette = try ReplayTransport(har: archive(), mode: .recordNew(over: stub))
        for try await _ in try await agent(cassette).send(Stream()).value { break }
        try await eventually { cassette.report.notRecorded.count == 1 }
        #expect(cassette.report.recordedCount == 0)
    }

    // MARK: Secrets

    @Test("no secret is stored in the file, and requests with other secrets still match")
    func canaries() async throws {
        let folder = try Folder()
        let file = folder.file("a.har")
        let stub = StubTransport()
        let secrets = StubResponse.json(#"{"access_token":"\#(canary)","user":"ada"}"#).header(
            "Set-Cookie", "sid=\(canary)"
        )
        .header("X-Own", canary)
        stub.on(.post, "/v1/sign-in", response: secrets)
        stub.on(.get, "/v1/users/*", response: .text("hello \(canary)"))
        stub.on(.get, "/v1/old", response: .redirect(to: "/v1/users/me?access_token=\(canary)"))
        let all: @Sendable (any Agent, String) async throws -> [Int] = { agent, secret in
            var statuses: [Int] = []
            for request in [
                Raw(
                    path: "v1/sign-in?api_key=\(secret)", method: .post,
                    body: .json(["password": secret, "user": "ada"])),
                Raw(path: "v1/sign-in", method: .post, body: .form(["password": .string(secret)])),
                // A secret of another exchange, in a path that doesn't name it.
                Raw(path: "v1/users/\(secret)"),
                Raw(path: "v1/users/7", headers: ["Authorization": "Bearer \(secret)", "Cookie": "a=\(secret)"]),
                Raw(path: "v1/old"),
            ] { statuses.append(try await agent.send(request).value.status) }
            return statuses
        }
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: stub))
        let statuses = try await all(agent(cassette), canary)
        try cassette.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains(canary) && text.contains("•••") && text.contains("ada"))
        #expect(!text.contains(Data(canary.utf8).base64EncodedString()))
        for secret in [canary, "another-secret"] {
            let replay = try ReplayTransport(
                har: file, matching: ReplayMatching(body: true, headers: ["Authorization", "Cookie"]))
            #expect(try await all(agent(replay), secret) == statuses)
            try replay.checkAllUsed()
        }
        // Recorded again, the file is the same except for times.
        let again = try ReplayTransport(har: folder.file("b.har"), mode: .recordAll(over: stub))
        _ = try await all(agent(again), "another-secret")
        #expect(again.newExchanges.map(\.request.url) == cassette.newExchanges.map(\.request.url))
    }

    @Test("a secret is found in every notation: plain, percent-encoded, escaped in JSON")
    func forms() async throws {
        let secret = "c4n4ry/+s3cr3t=="
        let escaped = #"c4n4ry\/+s3cr3t=="#
        let encoded = "c4n4ry%2F%2Bs3cr3t%3D%3D"
        let stub = StubTransport.stub(.text("\(secret) \(escaped) \(encoded)"))
        let cassette = try ReplayTransport(har: archive(), mode: .recordAll(over: stub))
        let agent = agent(cassette)
        _ = try await agent.send(Raw(path: "a", headers: ["Authorization": "Bearer \(secret)"]))
        let json = RequestBody.text(#"{"password":"\#(escaped)"}"#, contentType: "application/json")
        _ = try await agent.send(Raw(path: "b", method: .post, body: json))
        _ = try await agent.send(Raw(path: "c?token=\(encoded)"))
        for exchange in cassette.newExchanges {
            let body = try #require(exchange.response?.body.text)
            #expect(!body.contains("c4n4ry") && body.contains("•••"), "\(exchange.request.url)")
        }
        let folder = try Folder()
        try cassette.save(to: folder.file("a.har"))
        #expect(try !String(contentsOf: folder.file("a.har"), encoding: .utf8).contains("c4n4ry"))
    }

    @Test("an upload of any length is passed on, and recorded up to the limit (with ERRAND_LONG_TESTS, also above it)")
    func uploads() async throws {
        let isLong = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] != nil
        let count = isLong ? 70 << 20 : 3 << 20
        let folder = try Folder()
        try Data(count: count).write(to: folder.file("upload"))
        struct Counting: Transport {
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                var count = 0
                for try await chunk in try request.body.open() { count += chunk.count }
                return HTTPResponse(to: request, status: 200, body: HTTPBody(Data("\(count)".utf8)))
            }
        }
        let cassette = try ReplayTransport(har: archive(), mode: .recordAll(over: Counting()))
        let agent = agent(cassette)
        let chunk = Data(count: 1 << 20)
        let sent = Counter()
        let once = HTTPBody { sent.increment() <= count >> 20 ? chunk : nil }
        let bodies = [
            RequestBody.file(folder.file("upload")), .stream(once), .stream(length: 3) { HTTPBody(Data("abc".utf8)) },
        ]
        for (body, expected) in zip(bodies, [count, count, 3]) {
            let response = try await agent.send(Raw(path: "a", method: .post, body: body)).value
            #expect(response.data == Data("\(expected)".utf8))
        }
        let recorded = cassette.newExchanges.map(\.request.body.data.count)
        #expect(recorded == (isLong ? [0, 0, 3] : [count, count, 3]))
    }

    @Test("values that may be stored unmasked are listed")
    func shown() async throws {
        let folder = try Folder()
        let file = folder.file("a.har")
        var redaction = Redaction()
        redaction.shownHeaders.insert("X-Trace")
        redaction.shownNames.insert("pagetoken")
        redaction.secretNames.insert("customer")
        let stub = StubTransport.stub(
            .json(#"{"page_token":"abcdefgh","customer":"ijklmnop"}"#).header("X-Trace", "t-1"))
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: stub), redaction: redaction)
        _ = try await agent(cassette).send(Raw(path: "a?page_token=abcdefgh&customer_id=ijklmnop"))
        try cassette.save()
        let response = try await agent(ReplayTransport(har: file)).send(
            Raw(path: "a?page_token=abcdefgh&customer_id=x")
        ).value
        #expect(response.data == Data(#"{"page_token":"abcdefgh","customer":"•••"}"#.utf8))
        #expect(response.headers["X-Trace"] == "t-1")
    }

    @Test("a recording of an agent's recorder can be replayed")
    func recorder() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000)
        let stub = StubTransport()
        stub.on(.get, "/a", response: .redirect(to: "/b?token=12345678"))
        stub.on(.get, "/b", response: .text("arrived"))
        let live = NetworkAgent(baseURL: "https://api.example.com", transport: stub, accessories: [recorder])
        _ = try await live.send(Get(path: "a"))
        let replay = try ReplayTransport(har: recorder.harFile())
        #expect(try await agent(replay).send(Get(path: "a")).value == "arrived")
        try replay.checkAllUsed()
    }
}
