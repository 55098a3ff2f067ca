#if os(Linux) || os(macOS)
import Errand
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
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

/// Runs the printed commands in a shell.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"),
    .endsInTime, .leakChecked)
struct CurlCommandTests {
    private func run(_ command: String) async throws -> Int32 {
        let folder = try Folder(["script": command])
        return try await #require(Program("sh")).run([folder.path("script")]).status
    }

    private static let hostile = #"it's "quoted" $HOME `id` $(id) \n %41 %% ! * ; & | < > # ~ {a,b} [1-3] !! !a äöü 🚀"#

    @Test(
        "the server receives the same request, whatever it contains",
        arguments: [
            Send(method: .get, path: "plain"), Send(path: "empty"), Send(method: .delete, path: "gone"),
            Send(method: .get, path: "part", headers: ["Range": "bytes=0-1"]),
            Send(method: .get, path: "raw", headers: ["Accept-Encoding": "identity", "User-Agent": ""]),
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
        let server = try TestServer { _ in .text("ok") }
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
        // Compares with a request that the agent sends itself, except for each library's content codings.
        let wire = NetworkAgent(baseURL: server.url, transport: .system)
        _ = try await wire.send(request)
        let sent = try #require(server.received.last)
        #expect(sent.method == received.method && sent.target == received.target && sent.body == received.body)
        func fields(_ request: RecordedRequest) -> Set<String> {
            Set(
                request.headers.map { $0.name == "Accept-Encoding" ? "accept-encoding" : "\($0.name): \($0.value)" }
                    .map { $0.lowercased() })
        }
        #expect(fields(sent) == fields(received))
    }

    @Test("secrets are masked, and shown on request")
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

    @Test(
        "secrets in a body are masked, with any case of the media type and any field name",
        arguments: [
            ("Application/JSON", #"{"password":"canary-1","x":1}"#),
            ("APPLICATION/PROBLEM+JSON", #"{"password":"canary-1"}"#),
            ("application/vnd.api+Json; charset=UTF-8", #"{"a":{"password":"canary-1"}}"#),
            ("text/plain", #" {"password":"canary-1"}"#), ("", #"[{"password":"canary-1"}]"#),
            ("application/x-ndjson", "{\"a\":1}\n{\"password\":\"canary-1\"}\n"),
            ("Application/X-WWW-Form-URLencoded; charset=utf-8", "a=1&password=canary-1&b=2"),
            ("APPLICATION/X-WWW-FORM-URLENCODED", "pass%77ord=canary-1"),
            (
                "Multipart/Form-Data; Boundary=b",
                "--b\r\nContent-Disposition: form-data; name=password\r\n\r\ncanary-1\r\n--b--"
            ),
        ])
    func bodySecrets(type: String, text: String) throws {
        let url = try #require(URL(string: base))
        let body = RequestBody.data(Data(text.utf8), contentType: type.isEmpty ? nil : type)
        let byBody = HTTPRequest(.post, url, body: body)
        let byHeader = HTTPRequest(
            .post, url, headers: type.isEmpty ? [:] : ["Content-Type": type], body: .data(Data(text.utf8)))
        for request in [byBody, byHeader] {
            #expect(!request.curlCommand().contains("canary") && request.curlCommand().contains("•••"))
            #expect(request.curlCommand(redaction: nil).contains("canary-1"))
        }
        // A content coding prevents masking within the body.
        let coded = HTTPRequest(
            .post, url, headers: ["Content-Type": "application/json", "Content-Encoding": "rot0"],
            body: .text("{\"password\":\"canary-1\"}"))
        #expect(!coded.curlCommand().contains("canary") && coded.curlCommand().contains(" # the body, "))
    }

    @Test("a stream is left out, and a comment reports that")
    func stream() throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("unused")))
        let http = try agent.httpRequest(for: Send(body: .stream(HTTPBody(Data("x".utf8)))))
        #expect(http.curlCommand().contains(" # the body, "))
    }

    @Test("a command has no length of another body")
    func lengths() throws {
        let url = try #require(URL(string: base))
        let body = RequestBody.data(Data(#"{"password":"canary-1","x":[1]}"#.utf8), contentType: "application/json")
        let request = HTTPRequest(.post, url, headers: ["Content-Length": "31", "Accept": "a/b"], body: body)
        #expect(!request.curlCommand().contains("Content-Length") && request.curlCommand().contains("Accept: a/b"))
        #expect(!request.curlCommand(redaction: nil).contains("Content-Length"))
        // Without a body, the field is part of what the app sends.
        let head = HTTPRequest(.head, url, headers: ["Content-Length": "31"])
        #expect(!head.curlCommand().contains("Content-Length"))
    }

    @Test(
        "a command decodes a response whose coding it asks for",
        arguments: [("gzip", true), ("deflate, gzip;q=1.0, br", true), (nil, true), ("identity", false), ("", false)])
    func codings(accepted: String?, isCompressed: Bool) throws {
        var request = HTTPRequest(.get, try #require(URL(string: base)))
        if let accepted { request.headers.set(.acceptEncoding, accepted) }
        #expect(request.curlCommand().contains("--compressed") == isCompressed)
        request.headers.set(.range, "bytes=0-1")
        #expect(!request.curlCommand().contains("--compressed"))
    }
}
#endif
