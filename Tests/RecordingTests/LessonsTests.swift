import Errand
import ErrandRecording
import ErrandTesting
import Foundation
import Testing

/// Faults that users of other recorders have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other recorders", .endsInTime, .leakChecked)
struct RecordingLessonsTests {
    private struct GetStream: Request {
        typealias Output = HTTPBody
        var path: String { "stream" }
    }

    @Test("a recorder doesn't read more of a streamed body than the app, and doesn't keep it")
    func partlyRead() async throws {
        let pulled = Counter()
        let stream = StubResponse.stream {
            pulled.increment() <= 1000 ? Data(repeating: 0x61, count: 100) : nil
        }
        let recorder = ExchangeRecorder(maximumBodyBytes: 1 << 20)
        let agent = NetworkAgent(baseURL: base, transport: .stub(stream), accessories: [recorder])
        do {
            var chunks = try await agent.send(GetStream()).value.makeAsyncIterator()
            for _ in 0..<3 { #expect(try await chunks.next()?.count == 100) }
        }
        #expect(pulled.value < 10)
        let response = try #require(recorder.recording.exchanges.first?.response)
        #expect(response.status == 200 && response.body.data.isEmpty)
    }

    @Test("the app gets the server's response, while the archive has masks")
    func unchanged() async throws {
        struct Session: Codable, Sendable, Equatable { var access_token: String }
        struct LogIn: Request {
            typealias Output = Session
            var path: String { "login" }
            var method: HTTPMethod { .post }
            var body: RequestBody { .json(["password": "canary-1"]) }
        }
        let stub = StubTransport(.json(#"{"access_token":"canary-2"}"#))
        let recorder = ExchangeRecorder(maximumBodyBytes: 1 << 20)
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder])
        #expect(try await agent.send(LogIn()).value == Session(access_token: "canary-2"))
        #expect(stub.received.first?.body.data == Data(#"{"password":"canary-1"}"#.utf8))
        #expect(try !String(decoding: recorder.harFile().encoded(), as: UTF8.self).contains("canary"))
        #expect(try await agent.send(LogIn()).value == Session(access_token: "canary-2"))
    }

    @Test(
        "a password in a list of names and values doesn't reach an archive",
        arguments: [
            (
                "text/xml",
                "<struct><member><name>password</name><value><string>canary</string></value></member></struct>"
            ),
            ("application/json", #"{"fields":[{"name":"user","value":"ada"},{"name":"password","value":"canary"}]}"#),
            ("application/json", #"[{"Value":"canary","Key":"API_KEY"}]"#),
        ])
    func namedValues(type: String, body: String) async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 1 << 20)
        let response = StubResponse.data(Data(body.utf8), contentType: type)
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
        _ = try await agent.send(Post(body: .data(Data(body.utf8), contentType: type)))
        let text = String(decoding: try recorder.harFile().encoded(), as: UTF8.self)
        #expect(!text.contains("canary") && text.contains("•••"))
        #expect(!recorder.waterfallPage(title: "x").html.contains("canary"))
    }

    @Test("cookies don't reach an archive, as fields or in the format's list of cookies")
    func cookies() async throws {
        let response = StubResponse.text("ok").header("Set-Cookie", "sid=canary; Path=/; Max-Age=60")
        let recorder = ExchangeRecorder()
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
        _ = try await agent.send(Post(headers: ["Cookie": "sid=canary"]))
        let file = recorder.harFile()
        let entry = try #require(file.log.entries.first)
        #expect(entry.request.cookies.isEmpty && entry.response.cookies.isEmpty)
        #expect(entry.response.headers.contains { $0.name.lowercased() == "set-cookie" && $0.value.contains("•••") })
        #expect(try !String(decoding: file.encoded(), as: UTF8.self).contains("canary"))
    }

    @Test("an archive that is created while requests are running is complete, even with requests without a response")
    func unfinished() async throws {
        let gate = Gate()
        let stub = StubTransport()
        stub.on("/v1/lost", response: .failure(ErrandError(.connectionLost, "lost")))
        stub.on("/v1/text", response: .text("ok").waiting(for: gate))
        stub.on(
            "/v1/stream",
            response: .stream {
                try await gate.wait(); return nil
            })
        let recorder = ExchangeRecorder(maximumBodyBytes: 100)
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder])
        await #expect(throws: ErrandError.self) { try await agent.send(Get(path: "lost")) }
        let handle = agent.start(Get())
        let stream = try await agent.send(GetStream())
        try await gate.reached()
        func check() throws {
            let log = try JSONDecoder().decode(HARFile.self, from: recorder.harFile().encoded()).log
            #expect(log.entries.contains { $0.request.url.hasSuffix("/lost") && $0.response.status == 0 })
            for entry in log.entries {
                let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(entry.startedDateTime)
                #expect(entry.time.isFinite && entry.time >= 0 && date < .now)
            }
        }
        try check()
        gate.open()
        _ = try await handle.value
        for try await _ in stream.value {}
        try check()
        #expect(recorder.harFile().log.entries.count == 3)
    }
}
