import Errand
import ErrandCompression
import ErrandMultipart
import ErrandRecording
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Request bodies whose bytes never repeat: multipart and coded bodies.
@Suite(.endsInTime, .leakChecked)
struct ReplayFormTests {
    private let rule = ReplayMatching(body: true, headers: [.contentType])

    /// Returns the parts of a post and the lines of a body as a browser writes them.
    private func browser(_ lines: String...) -> String {
        let text = lines.joined(separator: "\r\n") + "\r\n"
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\r\n", with: "\\r\\n")
        return entry(
            "POST", "\(site)/a",
            post: #"{"mimeType":"multipart/form-data; boundary=----WebKitFormBoundaryX","text":"\#(escaped)"}"#)
    }

    private func matches(_ recorded: String, _ body: RequestBody, _ rule: ReplayMatching? = nil) async throws -> Bool {
        let replay = try ReplayTransport(har: archive(recorded), matching: rule ?? self.rule)
        do { _ = try await agent(replay).send(Raw(path: "a", method: .post, body: body)) } catch is ReplayError {
            return false
        }
        return true
    }

    private func form(_ title: String, file: String = "abc", name: String = "a.txt") -> RequestBody {
        .multipart(
            .field("title", title), .data(Data(file.utf8), name: "file", fileName: name, contentType: "text/plain"))
    }

    @Test("a form with files equals a browser's form with other boundaries, and differs if any part differs")
    func browserForm() async throws {
        let mark = "------WebKitFormBoundaryX"
        let recorded = browser(
            mark, #"Content-Disposition: form-data; name="title""#, "", "Sea & sun", mark,
            #"Content-Disposition: form-data; name="file"; filename="a.txt""#, "Content-Type: text/plain", "", "abc",
            mark + "--")
        #expect(try await matches(recorded, form("Sea & sun")))
        #expect(try await !matches(recorded, form("Sea")))
        #expect(try await !matches(recorded, form("Sea & sun", file: "abd")))
        #expect(try await !matches(recorded, form("Sea & sun", name: "b.txt")))
        #expect(try await !matches(recorded, .multipart(.field("title", "Sea & sun"))))
        #expect(try await !matches(recorded, .multipart(.field("title", "Sea & sun"), .field("file", "abc"))))
        #expect(try await !matches(recorded, .form(["title": "Sea & sun"]), ReplayMatching(body: true)))
        // The error names the part, but doesn't reveal its content.
        let replay = try ReplayTransport(har: archive(recorded), matching: rule)
        let request = Raw(path: "a", method: .post, body: form("Sea & sun", file: "s3cr3t"))
        let error = await #expect(throws: ReplayError.self) { try await agent(replay).send(request) }
        #expect(error?.differences.first?.hasPrefix("body: the part at index 1: ") == true)
        #expect(error.map { "\($0)".contains("s3cr3t") } == false)
    }

    @Test("parts are compared like bodies, and a form can be recorded as a list of its fields")
    func parts() async throws {
        let mark = "------WebKitFormBoundaryX"
        let recorded = browser(
            "preamble", mark, "content-type:application/json", #"content-disposition:form-data;name=meta"#, "",
            #"{"b":[1.0],"a":"•••"}"#, mark + "  ", #"Content-Disposition: form-data; name="empty""#, "", "",
            mark + "--", "epilogue")
        func body(_ json: String) -> RequestBody {
            .multipart(
                .data(Data(json.utf8), name: "meta", contentType: "application/json"), .field("empty", ""))
        }
        #expect(try await matches(recorded, body(#"{"a":"secret","b":[1]}"#)))
        #expect(try await !matches(recorded, body(#"{"a":"secret","b":[2]}"#)))
        let list = entry(
            "POST", "\(site)/a",
            post: #"""
                {"mimeType":"multipart/form-data; boundary=x","params":[{"name":"title","value":"Sea"},
                {"name":"file","value":"abc","fileName":"a.txt","contentType":"text/plain"}]}
                """#)
        #expect(try await matches(list, form("Sea")))
        #expect(try await !matches(list, form("Sea", file: "abd")))
        #expect(try await !matches(list, form("Sun")))
    }

    @Test(
        "a body that isn't multipart is compared byte by byte",
        arguments: ["", "x", "--b", "--b--", "--b\r\n", "--c\r\n\r\nx\r\n--c--"])
    func noForm(text: String) async throws {
        let escaped = text.replacing("\r\n", with: "\\r\\n")
        let recorded = entry(
            "POST", "\(site)/a", post: #"{"mimeType":"multipart/mixed; boundary=b","text":"\#(escaped)"}"#)
        #expect(try await matches(recorded, .text(text, contentType: "multipart/mixed; boundary=b")))
        #expect(try await !matches(recorded, .text(text + "y", contentType: "multipart/mixed; boundary=b")))
    }

    /// Bodies whose bytes differ each time, or which are streamed.
    private func bodies(_ folder: Folder) throws -> [RequestBody] {
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try large.write(to: folder.file("large.bin"))
        return [
            form("Sea"), form("Sun"), form("Sea", file: "other"),
            .multipart(.field("title", "x"), .file(folder.file("large.bin"), name: "file")),
            .multipart(.field("title", "y"), .stream(length: 5, name: "log") { HTTPBody(Data("hello".utf8)) }),
            .multipart(.field("title", "z"), .stream(name: "log") { HTTPBody(Data("hello".utf8)) }),
            .json(["text": String(repeating: "long ", count: 1_000)]),
            .json(["text": String(repeating: "else ", count: 1_000)]),
            .stream(length: 5) { HTTPBody(Data("plain".utf8)) },
            .stream { HTTPBody(Data(String(repeating: "coded ", count: 1_000).utf8)) },
        ]
    }

    @Test(
        "a request recorded with its body matches again: forms with files, streams, coded bodies",
        arguments: [false, true])
    func roundTrip(isCompressed: Bool) async throws {
        let server = try TestServer()
        server.on(.post, "/upload") { request in .text("\(request.index)") }
        let folder = try Folder()
        let file = folder.file("forms.har")
        let filters: [any Filter] = isCompressed ? [.bodyCompression(.gzip, minimumBytes: 1)] : []
        func send(_ bodies: [RequestBody], over transport: any Transport) async throws -> [String] {
            let agent = NetworkAgent(baseURL: server.url, transport: transport, filters: filters)
            var found: [String] = []
            for body in bodies {
                let response = try await agent.send(Raw(path: "upload", method: .post, body: body)).value
                found.append(String(decoding: response.data, as: UTF8.self))
            }
            return found
        }
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .system))
        let numbers = try await send(bodies(folder), over: cassette)
        #expect(Set(numbers).count == numbers.count)
        #expect(cassette.newExchanges.allSatisfy { $0.request.body.copiedBytes > 0 && $0.request.body.omission == nil })
        try cassette.save()
        // In another order: each is found by its content.
        let replay = try ReplayTransport(har: file, matching: ReplayMatching(body: true))
        #expect(try await send(bodies(folder).reversed(), over: replay) == numbers.reversed())
        try replay.checkAllUsed()
        // Without the content coding, which isn't part of the content.
        let plain = try ReplayTransport(har: file, matching: ReplayMatching(body: true))
        let agent = NetworkAgent(baseURL: server.url, transport: plain)
        for (body, number) in zip(try bodies(folder), numbers) {
            let response = try await agent.send(Raw(path: "upload", method: .post, body: body)).value
            #expect(response.data == Data(number.utf8))
        }
        let other = Raw(path: "upload", method: .post, body: form("Sea", file: "unknown"))
        await #expect(throws: ReplayError.self) { try await agent.send(other) }
    }

    @Test("secrets in coded bodies and forms are masked in a recording, and match any other values")
    func secrets() async throws {
        let folder = try Folder()
        let file = folder.file("a.har")
        let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .stub(.text("ok"))))
        func send(_ secret: String, over transport: any Transport) async throws {
            let agent = NetworkAgent(
                baseURL: site, transport: transport, filters: [.bodyCompression(.gzip, minimumBytes: 1)])
            let json = RequestBody.json(["password": secret, "text": String(repeating: "x", count: 2_000)])
            let form = RequestBody.multipart(.field("password", secret), .field("title", "Sea"))
            for body in [json, form] { _ = try await agent.send(Raw(path: "a", method: .post, body: body)) }
        }
        try await send("c4n4ry-s3cr3t", over: cassette)
        try cassette.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("c4n4ry") && text.contains("•••") && text.contains("Sea"))
        let replay = try ReplayTransport(har: file, matching: ReplayMatching(body: true))
        try await send("another", over: replay)
        try replay.checkAllUsed()
    }

    @Test("a body that wrongly claims a coding is compared by its bytes")
    func wrongCoding() async throws {
        let recorded = entry(
            "POST", "\(site)/a", requestHeaders: [("Content-Encoding", "gzip")],
            post: #"{"mimeType":"text/plain","text":"plain"}"#)
        func matches(_ text: String) async throws -> Bool {
            let replay = try ReplayTransport(har: archive(recorded), matching: ReplayMatching(body: true))
            let request = Raw(
                path: "a", method: .post, headers: ["Content-Encoding": "gzip"],
                body: .text(text, contentType: "text/plain"))
            do { _ = try await agent(replay).send(request) } catch is ReplayError { return false }
            return true
        }
        #expect(try await matches("plain"))
        #expect(try await !matches("other"))
    }

    @Test("items of a form are distinguished even if only an escaped character differs")
    func formItems() async throws {
        let type = "application/x-www-form-urlencoded"
        func matches(_ recorded: String, _ requested: String) async throws -> Bool {
            let post = #"{"mimeType":"\#(type)","text":"\#(recorded)"}"#
            return try await self.matches(
                entry("POST", "\(site)/a", post: post), .text(requested, contentType: type), ReplayMatching(body: true))
        }
        #expect(try await matches("a%5B%5D=b+c", "a[]=b%20c"))
        #expect(try await matches("a=b=c", "a=b%3Dc"))
        #expect(try await !matches("a%3Db=c", "a=b=c"))
        #expect(try await !matches("a%253D=b", "a%3D=b"))
    }
}
