import Errand
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct HARFileTests {
    @Test("a real exchange has its phases, two entries for a redirect, and all required fields")
    func wire() async throws {
        let server = try TestServer()
        server.on(.get, "/old", .redirect(to: "/new?token=12345678"))
        server.on(.get, "/new", .json(#"{"name":"Ada", "token" :"abcdefgh"}"#))
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recorder])
        _ = try await agent.send(Get(path: "old"))
        let data = try recorder.harFile().encoded()
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let log = try #require(root["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2")
        #expect((log["pages"] as? [Any])?.isEmpty == true)
        #expect((log["creator"] as? [String: Any])?["name"] as? String == "Errand")
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(entries.count == 2)
        for entry in entries {
            for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
                #expect(entry[name] != nil, "\(name)")
            }
            let request = try #require(entry["request"] as? [String: Any])
            for name in [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize",
            ] { #expect(request[name] != nil, "\(name)") }
            let response = try #require(entry["response"] as? [String: Any])
            for name in [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ] { #expect(response[name] != nil, "\(name)") }
            let content = try #require(response["content"] as? [String: Any])
            #expect(content["size"] is Int && content["mimeType"] is String)
            let timings = try #require(entry["timings"] as? [String: Double])
            #expect(["send", "wait", "receive"].allSatisfy { timings[$0] ?? -1 >= 0 })
            #expect((entry["time"] as? Double ?? -1) > 0)
            let started = try #require(entry["startedDateTime"] as? String)
            #expect(
                abs(try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(started).timeIntervalSinceNow)
                    < 600)
        }
        let file = try JSONDecoder().decode(HARFile.self, from: data)
        #expect(file.log.entries.map(\.response.status) == [302, 200])
        #expect(file.log.entries[0].response.redirectURL == "/new?token=•••")
        #expect(file.log.entries[1].request.url.hasSuffix("/new?token=•••"))
        #expect(file.log.entries[1].request.queryString.map(\.value) == ["•••"])
        #expect(file.log.entries[1].response.content.text == #"{"name":"Ada", "token" :"•••"}"#)
        #expect(file.log.entries[1].response.content.size == 35 && file.log.entries[1].response.bodySize == 35)
        #expect(file.log.entries[1].comment == "Get, hop 2")
        #expect(file.log.entries[1].serverIPAddress == "127.0.0.1")
        #expect(!String(decoding: data, as: UTF8.self).contains("abcdefgh"))
    }

    /// Records one POST, and returns the bodies of its entry.
    private func recorded(
        _ body: String, _ type: String, cutTo limit: Int = 1 << 20, response: StubResponse = .text("ok")
    ) async throws -> (request: String, response: String, whole: String) {
        let recorder = ExchangeRecorder(maximumBodyBytes: limit)
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
        _ = try await agent.send(Post(body: .data(Data(body.utf8), contentType: type)))
        let file = recorder.harFile()
        let entry = try #require(file.log.entries.first)
        return (
            entry.request.postData?.text ?? "", entry.response.content.text ?? "",
            String(decoding: try file.encoded(), as: UTF8.self)
        )
    }

    @Test("the secret fields of a multipart form are masked in both directions, and the rest is unchanged")
    func multipart() async throws {
        func form(_ secret: String, boundary: String = "b0") -> String {
            """
            preamble\r
            --\(boundary)\r
            Content-Disposition: form-data; name="title"\r
            \r
            Sea\r
            --\(boundary) \t\r
            content-disposition: FORM-DATA; NAME=password\r
            \r
            \(secret)\r
            \r
            more \(secret)\r
            --\(boundary)\r
            Content-Type: text/plain\r
            Content-Disposition: form-data; filename="a.txt"; name="api%5Fkey"\r
            \r
            \(secret)\r
            --\(boundary)\r
            Content-Disposition: form-data; name="data"\r
            Content-Type: Application/JSON\r
            X-Part-Key: \(secret)\r
            \r
            {"token":"\(secret)","open":1}\r
            --\(boundary)\r
            Content-Disposition: form-data; name="form"\r
            Content-Type: application/x-www-form-urlencoded\r
            \r
            pin=\(secret)&open=2\r
            --\(boundary)--\r
            epilogue
            """
        }
        let expected = form("•••").replacing("•••\r\n\r\nmore •••", with: "•••").replacing("\"•••\"", with: "\"•••\"")
        for type in [
            "multipart/form-data; boundary=b0", "Multipart/Form-Data; charset=utf-8; Boundary=\"b0\"",
            "multipart/mixed; boundary=b0",
        ] {
            let response = StubResponse.data(Data(form("canary-2").utf8), contentType: type)
            let (sent, received, whole) = try await recorded(form("canary-1"), type, response: response)
            #expect(!whole.contains("canary"), "\(type)")
            #expect(sent == expected && received == expected, "\(type)")
        }
    }

    @Test("a multipart form that is truncated, nested, or has no or another boundary shows no secrets")
    func multipartEdges() async throws {
        let head = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ncanary-canary"
        for end in ["", "\r\n--", "\r\n--b", "\r\n--b--", "\n--b--"] {
            let (sent, _, whole) = try await recorded(head + end, "multipart/form-data; boundary=b")
            #expect(!whole.contains("canary") && sent.hasPrefix("--b\r\nContent-Disposition"), "\(end)")
        }
        for count in 1..<head.utf8.count {
            #expect(try await !recorded(head, "multipart/form-data; boundary=b", cutTo: count).whole.contains("canary"))
        }
        let nested =
            "--a\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" + head + "\r\n--b--\r\n--a--\r\n"
        for type in [
            "multipart/mixed; boundary=a", "multipart/form-data", "multipart/form-data; boundary=other",
            "multipart/form-data; boundary=",
        ] {
            #expect(try await !recorded(nested, type).whole.contains("canary"), "\(type)")
        }
        // An unparseable head, and other line endings.
        for text in [
            "--b\r\nnonsense\r\n\r\ncanary\r\n--b--",
            "--b\nContent-Disposition: form-data; name=password\n\ncanary\n--b--",
            "--b\r\nContent-Disposition: form-data; name=\"pass\\word\"\r\n\r\ncanary\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\r\n\r\ncanary\r\n--b--",
            "--b\r\nContent-Disposition: form-data;\r\n name=password\r\n\r\ncanary\r\n--b--",
            "--b\r\n\r\n{\"password\":\"canary\"}\r\n--b--",
        ] {
            #expect(try await !recorded(text, "multipart/form-data; boundary=b").whole.contains("canary"), "\(text)")
        }
    }

    @Test("phases add up: TLS is part of connecting, and unknown phases are -1")
    func phases() async throws {
        var timings = TransferTimings()
        (timings.queued, timings.nameLookup, timings.connected) = (.milliseconds(1), .milliseconds(3), .milliseconds(6))
        (timings.secured, timings.firstByte, timings.total) = (.milliseconds(10), .milliseconds(15), .milliseconds(21))
        func entry(_ timings: TransferTimings) async throws -> HARFile.Entry {
            let recorder = ExchangeRecorder()
            let response = StubResponse.text("ok").reporting(.timings(timings))
            let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
            _ = try await agent.send(Get())
            return try #require(
                try JSONDecoder().decode(HARFile.self, from: recorder.harFile().encoded()).log.entries.first)
        }
        let full = try await entry(timings)
        let times = full.timings
        #expect([times.blocked, times.dns, times.connect, times.ssl] == [1, 2, 7, 4])
        #expect([times.send, times.wait, times.receive] == [0, 5, 6] && full.time == 21)
        timings.requestSent = .milliseconds(12)
        let upload = try await entry(timings)
        #expect([upload.timings.send, upload.timings.wait, upload.timings.receive] == [2, 3, 6] && upload.time == 21)
        // A server may respond before it has the whole body.
        timings.requestSent = .milliseconds(18)
        let early = try await entry(timings)
        #expect([early.timings.send, early.timings.wait, early.timings.receive] == [8, 0, 3] && early.time == 21)
        timings.requestSent = nil
        (timings.queued, timings.nameLookup, timings.connected, timings.secured) = (nil, nil, nil, nil)
        let reused = try await entry(timings)
        #expect(
            [reused.timings.blocked, reused.timings.dns, reused.timings.connect, reused.timings.ssl] == [
                -1, -1, -1, -1,
            ])
        #expect(reused.time == 21 && reused.timings.wait == 15)
        #expect(try await entry(TransferTimings()).timings.wait >= 0)
    }

    private func entry(
        _ response: StubResponse, maximumBodyBytes bytes: Int = 10_000, body: RequestBody = .none
    ) async throws -> HARFile.Entry {
        let recorder = ExchangeRecorder(maximumBodyBytes: bytes)
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
        _ = try await agent.send(Post(body: body))
        return try #require(
            try JSONDecoder().decode(HARFile.self, from: recorder.harFile().encoded()).log.entries.first)
    }

    @Test(
        "a body is archived unchanged",
        arguments: [
            ("application/json", "{ \"b\":1.50,\r\n\t\"a\" : [ ] }\n"), ("text/plain", " words\n\n é "),
            ("", "{\"x\" : 1}"),
            ("application/xml", "<a>\r\n</a>"), ("application/x-www-form-urlencoded", "a=1&b=%20+&&c"),
            ("text/plain", "{not json"), ("application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n"),
        ])
    func verbatim(type: String, text: String) async throws {
        let response = StubResponse.data(Data(text.utf8)).header("Content-Type", type)
        let content = try await entry(response).response.content
        #expect(content.text == text && content.encoding == nil && content.comment == nil)
        #expect(content.size == Int64(text.utf8.count) && content.compression == 0)
    }

    @Test("in a body with secrets, only the secrets differ")
    func secretBytes() async throws {
        let text =
            #"{"user" : "Ada",  "password":"hunter2hunter2","list":[ {"apiKey" : [1, {"x":"y"}] } ],"echo":"hunter2hunter2"}"#
        let content = try await entry(.json(text)).response.content
        #expect(
            content.text
                == #"{"user" : "Ada",  "password":"•••","list":[ {"apiKey" : "•••" } ],"echo":"•••"}"#)
        #expect(content.size == Int64(text.utf8.count))
        let sent = try await entry(.text("ok"), body: .form(["secret": "hunter2hunter2", "a": "1"])).request.postData
        #expect(sent?.text.contains("hunter2") == false && sent?.text.contains("a=1") == true)
        let broken = try await entry(.json(#"{"password" "hunter2hunter2""#)).response.content
        #expect(broken.text == "" && broken.comment?.contains("left out") == true)
    }

    @Test("bytes that aren't text are Base64, and a truncated copy is marked")
    func binary() async throws {
        let bytes = Data([0, 1, 2, 0xFF, 0xFE])
        let content = try await entry(.data(bytes).header("Content-Type", "image/png")).response.content
        #expect(content.encoding == "base64" && content.text == bytes.base64EncodedString() && content.size == 5)
        let latin = Data([0x67, 0x72, 0xFC, 0x6E])
        let old = try await entry(.data(latin).header("Content-Type", "text/plain; charset=latin1")).response.content
        #expect(old.encoding == "base64" && old.text == latin.base64EncodedString())
        let cut = try await entry(.text("ééé"), maximumBodyBytes: 3).response.content
        #expect(cut.text == "é" && cut.comment == "the first 3 of 6 bytes" && cut.size == 6 && cut.encoding == nil)
        let post = try await entry(.text("ok"), body: .data(bytes, contentType: "image/png")).request
        #expect(post.postData?.text == "" && post.postData?.comment != nil && post.bodySize == 5)
    }

    @Test("the size is the body's, and the compression is the number of bytes that the coding saved")
    func sizes() async throws {
        var timings = TransferTimings()
        timings.bytesReceived = 40
        let stub = StubResponse.text(String(repeating: "a", count: 1_000)).reporting(.timings(timings))
        let response = try await entry(stub).response
        #expect(response.content.size == 1_000 && response.bodySize == 40 && response.content.compression == 960)
    }

    @Test("failures and cancellations have entries, and the newest are kept")
    func ends() async throws {
        let recorder = ExchangeRecorder(maximumExchanges: 10)
        for number in 0..<25 {
            let agent = NetworkAgent(
                baseURL: base, transport: .stub(.failure(ErrandError(.timedOut, "late"))), accessories: [recorder])
            _ = try? await agent.send(Get(path: "\(number)"))
        }
        let log = try JSONDecoder().decode(HARFile.self, from: recorder.harFile().encoded()).log
        #expect(log.entries.count == 10 && log.comment == "15 earlier entries were dropped")
        #expect(log.entries.last?.request.url.hasSuffix("/24") == true)
        #expect(log.entries.last?.response.status == 0 && log.entries.last?.comment == "Get, timedOut")
    }

    @Test("no secret appears anywhere in an archive or a waterfall")
    func canary() async throws {
        let canary = "c4n4ry-s3cr3t"
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000)
        let response = StubResponse.text("no such token: \(canary)", status: 500).header("Set-Cookie", "a=\(canary)")
            .header("Location", "https://u:\(canary)@example.com/?key=\(canary)")
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), accessories: [recorder])
        let headers: HTTPHeaders = ["Authorization": "Bearer \(canary)", "Cookie": "a=\(canary)", "X-Own": canary]
        for body in [RequestBody.json(["password": canary]), .form(["secret": canary])] {
            _ = try? await agent.send(Post(path: "a?api_key=\(canary)", headers: headers, body: body))
            _ = try? await agent.send(
                Post(path: "https://u:\(canary)@example.com/#\(canary)", headers: headers, body: body))
        }
        let text = String(decoding: try recorder.harFile().encoded(), as: UTF8.self)
        #expect(text.contains("startedDateTime") && !text.contains(canary))
        let page = recorder.waterfallPage().html
        #expect(page.contains("4 activities") && !page.contains(canary))
    }

    @Test(
        "the error of another program's entry is read in the entry or the response, and another type isn't an error",
        arguments: [
            (#""_error":"net::ERR_A""#, "", "net::ERR_A"), ("", #""_error":"net::ERR_B""#, "net::ERR_B"),
            ("", #""_failureText":"net::ERR_C""#, "net::ERR_C"), (#""_error":{"code":1}"#, "", nil),
            (#""_error":null"#, #""_failureText":[]"#, nil), ("", "", nil),
        ])
    func foreignErrors(entry: String, response: String, error: String?) throws {
        func member(_ text: String) -> String { text.isEmpty ? "" : "," + text }
        let text = """
            {"log":{"entries":[{"request":{"method":"GET","url":"https://e.com"},"response":{"status":200\(member(response))}\(member(entry))}]}}
            """
        let file = try JSONDecoder().decode(HARFile.self, from: Data(text.utf8))
        #expect(file.log.entries.map(\.error) == [error])
    }
}
