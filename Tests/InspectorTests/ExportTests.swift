import Errand
import ErrandRecording
import ErrandTestPrograms
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

@Suite("Copies for other programs", .endsInTime)
struct ExportTests {
    /// The test that the page copies for the exchange below. It runs here, so it's known to compile and to pass.
    // begin copy
    @Test("GET /v1/users/7 gives 404")
    func recordedResponse() async throws {
        let response = StubResponse(
            status: 404, headers: ["Content-Type": "application/json"],
            body: Data("{\"error\":\"no \\\\ \u{202E}user\"}\n".utf8))
        let transport = StubTransport()
        transport.on(.get, "/v1/users/7", response: response)
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        let call = Call<HTTPResponse>(.get, "/v1/users/7?page=2") { $0.acceptableStatuses = [404] }
        let received = try await agent.send(call).value
        #expect(received.status == 404)
    }
    // end copy

    private static func activity(_ body: String) async throws -> MaskedActivity {
        let store = ActivityStore(
            ActivityStore.Limits(activities: 10, bodyBytes: 10_000, bytes: 1 << 20, messages: 10),
            time: SystemTimeSource())
        struct Forward: Accessory {
            let store: ActivityStore
            var maximumBodyBytes: Int { 10_000 }
            func activity(_ activity: Activity, did event: ActivityEvent) {
                store.record(event, of: activity, agent: nil)
            }
        }
        let response = StubResponse(
            status: 404, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(response),
            accessories: [Forward(store: store)])
        _ = try? await agent.send(Call<Data>(.get, "users/7", query: ["page": 2]))
        return MaskedActivity(try #require(store.all.first), Redaction())
    }

    @Test("a request is copied as a test that compiles and passes")
    func stubTest() async throws {
        let activity = try await Self.activity("{\"error\":\"no \\\\ \u{202E}user\"}\n")
        let copied = try #require(StubTest.text(of: activity))
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(lines.firstIndex { $0.hasSuffix("// begin copy") })
        let end = try #require(lines.firstIndex { $0.hasSuffix("// end copy") })
        let expected = lines[(begin + 1)..<end].map { $0.dropFirst(4) }.joined(separator: "\n")
        let imports = "import Errand\nimport ErrandTesting\nimport Foundation\nimport Testing\n\n"
        #expect(copied == imports + expected + "\n")
    }

    #if os(Linux) || os(macOS)
    @Test("a request is copied as a curl command in which the shell doesn't interpret any part")
    func curl() async throws {
        let request = RecordedExchange.Request(
            .post, "https://api.example.com/a'b?c=$(id)&d=`id`",
            headers: ["Content-Length": "99", "X-Quote": "it's $HOME \"x\"", "X-Empty": "", "X-Escape": "\u{1B}[2J"],
            body: RecordedBody(Data("{'a': \"$HOME\"}\n".utf8), contentType: "application/json"))
        let shell = try #require(Program("sh"))
        let script =
            "curl() { for word in \"$@\"; do printf '<%s>\\n' \"$word\"; done; }\n" + CurlCommand.text(of: request)
        let output = try await shell.run(["-c", script], limit: .seconds(60))
        #expect(
            output.text == """
                <--globoff>
                <--path-as-is>
                <-X>
                <POST>
                <-H>
                <X-Quote: it's $HOME "x">
                <-H>
                <X-Empty;>
                <-H>
                <X-Escape: \\u{1B}[2J>
                <--compressed>
                <--data-binary>
                <{'a': "$HOME"}
                >
                <-H>
                <User-Agent:>
                <-H>
                <Content-Type: application/json>
                <-H>
                <Expect:>
                <https://api.example.com/a'b?c=$(id)&d=`id`>

                """)
    }

    @Test(
        "curl sends a copied request without fields of its own",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
    func ownFields() async throws {
        let server = try TestServer()
        server.on("/a", .text("ok"))
        let body = RecordedBody(Data("x=1".utf8))
        for request in [
            RecordedExchange.Request(.post, server.url("/a"), body: body),
            RecordedExchange.Request(.get, server.url("/a"), headers: ["User-Agent": "own"]),
        ] {
            let shell = try #require(Program("sh"))
            let command = CurlCommand.text(of: request).replacing(
                "curl ", with: "curl -s --noproxy '*' ", maxReplacements: 1)
            #expect(try await shell.run(["-c", command], limit: .seconds(60)).text == "ok")
        }
        let (post, get) = (server.received[0], server.received[1])
        #expect(post.text == "x=1" && !post.headers.contains(.contentType) && !post.headers.contains(.userAgent))
        #expect(get.headers[.userAgent] == "own")
    }

    @Test("the bytes of a body reach curl through printf")
    func bytes() async throws {
        let all = Data((0...255).map { UInt8($0) })
        let request = RecordedExchange.Request(.put, "https://a.example/", body: RecordedBody(all))
        let shell = try #require(Program("sh"))
        let output = try await shell.run(
            ["-c", "curl() { od -An -tu1 -v; }\n" + CurlCommand.text(of: request)], limit: .seconds(60))
        let numbers = output.text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0) }
        #expect(Data(numbers) == all)
    }
    #endif
}
