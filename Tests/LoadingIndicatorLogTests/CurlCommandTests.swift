#if os(Linux) || os(macOS)
import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Foundation
import Testing

private struct Send: Request {
    typealias Output = Data
    var method: HTTPMethod = .post
    var path = ""
    var headers: HTTPHeaders = [:]
    var body: RequestBody = .none
}

/// The printed lines, run by a shell.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"),
    .timeLimit(.minutes(10)), .leakChecked)
struct CurlCommandTests {
    private func run(_ command: String) async throws -> Int32 {
        let folder = try Folder(["script": command])
        return try await #require(Program("sh")).run([folder.path("script")]).status
    }

    private static let hostile = #"it's "quoted" $HOME `id` $(id) \n %41 %% ! * ; & | < > # ~ {a,b} [1-3] äöü 🚀"#

    @Test(
        "the server receives the same request, whatever is in it (K14, C31)",
        arguments: [
            Send(method: .get, path: "plain"), Send(path: "empty"),
            Send(path: "text", body: .text(hostile + "\nsecond line\r\n")),
            Send(path: "json", body: .data(Data(#"{"a":"it's $x","b":[1,2]}"#.utf8), contentType: "application/json")),
            Send(path: "at", body: .text("@/etc/passwd")),
            Send(method: .put, path: "binary", body: .data(Data((0...255).map { UInt8($0) }))),
            Send(method: .patch, path: "long", body: .text(String(repeating: "0123456789'\\", count: 20_000))),
            Send(
                method: .delete, path: "a/%2e%2e/b?q=%5B1%5D&r=it's", headers: ["If-Match": "\"'x'\"", "X-Empty": ""]),
            Send(method: "PURGE", path: "own", headers: ["User-Agent": "me 'n' you", "Accept": "a/b"]),
        ])
    private func same(request: Send) async throws {
        let server = try TestServer()
        let agent = NetworkAgent(baseURL: server.url, transport: .stub(.text("unused")))
        let http = try agent.httpRequest(for: request)
        let status = try await run(http.curlCommand(redaction: nil) + " --max-time 60")
        #expect(status == 0, "\(http.curlCommand(redaction: nil))")
        let received = try #require(server.received.first)
        #expect(received.method == http.method)
        #expect(http.url.absoluteString.hasSuffix(received.target), "\(received.target)")
        #expect(received.body == http.body.data ?? Data())
        for field in http.headers {
            #expect(received.headers[field.name] == field.value, "\(field.name)")
        }
        if let type = http.body.contentType, http.body.data != nil {
            #expect(received.headers[.contentType] == type)
        }
        let own = Set(http.headers.map(\.name)).union(["Host", "Content-Length", "Content-Type"])
        #expect(received.headers.filter { !own.contains($0.name) }.map(\.description) == [])
    }

    @Test("secrets are masked, and shown to those who ask for them")
    func secrets() throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("unused")))
        let body = RequestBody.data(Data(#"{"password":"hunter2hunter2","x":1}"#.utf8), contentType: "application/json")
        let http = try agent.httpRequest(
            for: Send(path: "a?token=hunter2hunter2", headers: ["Authorization": "Bearer hunter2hunter2"], body: body))
        let masked = http.curlCommand()
        #expect(!masked.contains("hunter2") && masked.contains(#""password": "•••""#) && masked.contains("token=•••"))
        let open = http.curlCommand(redaction: nil)
        #expect(open.contains("Bearer hunter2hunter2") && open.contains("token=hunter2hunter2"))
    }

    @Test("a stream is left out, and a comment says so")
    func stream() throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("unused")))
        let http = try agent.httpRequest(for: Send(body: .stream(HTTPBody(Data("x".utf8)))))
        #expect(http.curlCommand().contains(" # the body, "))
    }
}
#endif
