import Errand
import ErrandRecording
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

/// Archives that users of other tools couldn't replay; Tests/Lessons.md has the reports.
@Suite("Archives of other tools", .endsInTime, .leakChecked)
struct ReplayReportTests {
    @Test("the error about a request that isn't in the archive shows no secret of its URL")
    func unmatchedSecrets() async throws {
        let replay = try ReplayTransport(har: archive(entry("\(site)/other", content: text("a"))))
        let path = "geocode/v1/json/?q=New%20York%2C%20NY&limit=1&key=%2208c2339f937d4c8ecanary%22"
        let error = await #expect(throws: ReplayError.self) { try await agent(replay).send(Raw(path: path)) }
        let texts = [error?.description, error?.localizedDescription, String(reflecting: error)].compactMap(\.self)
        #expect(texts.count == 3 && texts.allSatisfy { !$0.contains("canary") }, "\(texts)")
        #expect(texts[0].contains("limit=1"))
    }

    @Test("a body that was recorded decoded isn't decoded again, whatever its coding was")
    func decodedBodies() async throws {
        let json = #"[{\"first_name\":true}]"#
        let recorded = entry(
            "\(site)/a", headers: [("Content-Encoding", "gzip"), ("Content-Type", "application/json")],
            content: text(json))
        let response = try await agent(try ReplayTransport(har: archive(recorded))).send(Raw(path: "a")).value
        #expect(try response.text() == #"[{"first_name":true}]"#)
    }

    @Test("a form may have its text and its items")
    func textAndItems() async throws {
        let post =
            #"{"mimeType":"application/x-www-form-urlencoded","text":"a=1&b=2","#
            + #""params":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}"#
        let replay = try ReplayTransport(
            har: archive(entry("POST", "\(site)/a", post: post, content: text("ok"))),
            matching: ReplayMatching(body: true))
        let body = RequestBody.text("a=1&b=2", contentType: "application/x-www-form-urlencoded")
        #expect(try await agent(replay).send(Raw(path: "a", method: .post, body: body)).value.text() == "ok")
    }

    @Test(
        "an archive is read although its times are null, parts are missing, or it begins with a byte order mark",
        arguments: [
            (#""time":1"#, #""time":null"#), (#""cache":{},"#, #""cache":{"afterRequest":null},"#),
            (#""cache":{},"#, ""),
            (#""timings":{},"#, ""), (#""timings":{}"#, #""timings":{"receive":null,"wait":null}"#),
            (#"{"log""#, "\u{FEFF}{\"log\""),
            (#""creator":{"#, #""pages":[{"pageTimings":{"onLoad":null}}],"creator":{"#),
        ])
    func oddParts(part: String, other: String) async throws {
        let whole = String(decoding: archive(entry("\(site)/a", content: text("ok"))), as: UTF8.self)
        #expect(whole.contains(part))
        let replay = try ReplayTransport(har: Data(whole.replacing(part, with: other).utf8))
        #expect(try await agent(replay).send(Raw(path: "a")).value.text() == "ok")
    }

    @Test(
        "an entry with a property of another type doesn't make the other entries unreadable",
        arguments: [
            (#""status":200"#, #""status":"error""#, nil), (#""status":200"#, #""status":null"#, nil),
            (#""status":200"#, #""status":"201""#, 201), (#""status":200"#, #""status":200.0"#, 200),
            (#""httpVersion":"http/1.1""#, #""httpVersion":"HTTP/Q}T3X\f\u000b0Q}T3""#, 200),
            (#""httpVersion":"http/1.1""#, #""httpVersion":null"#, 200),
            (#""headers":[],"queryString""#, #""headers":[{"name":"X","value":null}],"queryString""#, 200),
            (#""headers":[],"queryString""#, #""headers":[{"name":"X","value":7}],"queryString""#, 200),
            (#""size":2"#, #""size":"2""#, 200), (#""size":2"#, #""size":null"#, 200),
            (#""cache":{}"#, #""cache":{},"_error":{"code":1}"#, 200),
            (#""redirectURL":"""#, #""redirectURL":null"#, 200),
            (#""timings":{}"#, #""timings":{"wait":"5","receive":-1}"#, 200),
        ] as [(String, String, Int?)])
    func otherTypes(part: String, other: String, status: Int?) async throws {
        let odd = entry("\(site)/a", content: text("ok"))
        #expect(odd.contains(part))
        let replay = try ReplayTransport(
            har: archive(odd.replacing(part, with: other), entry("\(site)/b", content: text("b"))))
        #expect(try await agent(replay).send(Raw(path: "b")).value.text() == "b")
        if let status {
            let response = try await agent(replay).send(Raw(path: "a")).value
            #expect(try response.text() == "ok")
            #expect(response.status == status)
        } else {
            await #expect(throws: (any Error).self) { try await agent(replay).send(Raw(path: "a")) }
        }
    }

    @Test(
        "an entry with a status and an error isn't a success: its body ends with the error",
        arguments: [
            (#""_failureText":"net::ERR_ABORTED""#, ErrandError.Code.connectionLost),
            (#""_error":"net::ERR_TIMED_OUT""#, .timedOut), (#""_error":"""#, nil), (#""_failureText":null"#, nil),
        ], [nil, "ok", String(repeating: "x", count: 5 << 20)])
    func failedBodies(field: (String, ErrandError.Code?), body: String?) async throws {
        let whole = entry(
            "\(site)/a", headers: [("Content-Length", "9000000")], content: body.map(text) ?? #""size":-1"#)
        let cut = whole.replacing(#""headersSize":-1,"bodySize":-1}"#, with: #""headersSize":-1,\#(field.0)}"#)
        #expect(cut != whole)
        let replay = try ReplayTransport(har: archive(cut, cut, entry("\(site)/a", content: text("again"))))
        let agent = agent(replay)
        func code(_ read: () async throws -> Void) async -> ErrandError.Code? {
            do { try await read() } catch { return (error as? ErrandError)?.code }
            return nil
        }
        #expect(await code { _ = try await agent.send(Raw(path: "a")) } == field.1)
        var count = 0
        let end = await code {
            let stream = try await agent.send(Call<HTTPBody>(.get, "a")).value
            for try await chunk in stream { count += chunk.count }
        }
        #expect(end == field.1)
        #expect(count == body?.utf8.count ?? 0)
        #expect(try await agent.send(Raw(path: "a")).value.text() == "again")
    }

    @Test("a redirect whose target is relative, or recorded only as the redirect's URL, is followed")
    func relativeRedirects() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/a/b", status: 302, headers: [("Location", "../c?x=1")]),
                entry("\(site)/c?x=1", status: 301, redirectURL: "d"), entry("\(site)/d", content: text("here"))))
        let response = try await agent(replay).send(Raw(path: "a/b")).value
        #expect(try response.text() == "here" && response.url.absoluteString == "\(site)/d")
        try replay.checkAllUsed()
    }

    @Test(
        "an entry without a response is a request that failed, and the other entries are read",
        arguments: ["", #","response":null"#])
    func missingResponse(response: String) async throws {
        let lonely = #"{"startedDateTime":"","time":1,"request":{"method":"GET","url":"\#(site)/a"}\#(response)}"#
        let har = archive(lonely, entry("\(site)/b", content: text("b")))
        let replay = try ReplayTransport(har: har)
        let error = await #expect(throws: ErrandError.self) { try await agent(replay).send(Raw(path: "a")) }
        #expect(error?.code == .connectionLost)
        #expect(try await agent(replay).send(Raw(path: "b")).value.text() == "b")
        let file = try JSONDecoder().decode(HARFile.self, from: har)
        #expect(file.log.entries.map(\.response.status) == [0, 200])
    }

    @Test("cookies of a response that an archive contains only in its list of cookies are replayed")
    func listedCookies() async throws {
        let list = #"""
            [{"name":"sid","value":"a=b","path":"/","domain":".example.com","expires":"2026-01-02T03:04:05.678Z",\#
            "httpOnly":true,"secure":true,"sameSite":"Lax","comment":""},{"name":"b","value":"2","expires":null},\#
            {"name":"c","value":"3","expires":"soon","httpOnly":false},{"name":"bad\n","value":"4"},\#
            {"name":"d","value":"5","expires":-1,"secure":null},{"value":"6"},{"name":"e;f","value":"7"}]
            """#
        func cookies(_ headers: [(String, String)], _ list: String = list) async throws -> [String] {
            let whole = String(
                decoding: archive(entry("\(site)/a", headers: headers, content: text("ok"))), as: UTF8.self)
            let parts = whole.components(separatedBy: #""cookies":[]"#)
            #expect(parts.count == 3)
            let data = Data("\(parts[0])\"cookies\":[]\(parts[1])\"cookies\":\(list)\(parts[2])".utf8)
            let response = try await agent(try ReplayTransport(har: data)).send(Raw(path: "a")).value
            return response.headers.values(of: .setCookie)
        }
        #expect(
            try await cookies([]) == [
                "sid=a=b; Path=/; Domain=.example.com; Expires=Fri, 02 Jan 2026 03:04:05 GMT; Secure; HttpOnly; SameSite=Lax",
                "b=2", "c=3", "d=5",
            ])
        #expect(try await cookies([("Set-Cookie", "sid=1")]) == ["sid=1"])
        for other in ["null", "{}", "7", "[null,7,[]]", #"[{"name":null}]"#] {
            #expect(try await cookies([], other).isEmpty, "\(other)")
        }
    }

    @Test("the parts of a recorded form match although their fields were folded")
    func foldedParts() async throws {
        let folded =
            #"--b\r\nContent-Disposition: form-data;\r\n name=\"a\";\r\n\tfilename=\"x.txt\"\r\n"#
            + #"Content-Type: text/plain\r\n\r\n1\r\n--b--\r\n"#
        let post = #"{"mimeType":"multipart/form-data; boundary=b","text":"\#(folded)"}"#
        func send(_ name: String) async throws -> String {
            let replay = try ReplayTransport(
                har: archive(entry("POST", "\(site)/a", post: post, content: text("ok"))),
                matching: ReplayMatching(body: true))
            let form = """
                --c\r\nContent-Disposition: form-data; name="\(name)"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\n\
                1\r\n--c--\r\n
                """
            let body = RequestBody.text(form, contentType: "multipart/form-data; boundary=c")
            return try await agent(replay).send(Raw(path: "a", method: .post, body: body)).value.text()
        }
        #expect(try await send("a") == "ok")
        await #expect(throws: ReplayError.self) { try await send("b") }
    }
}
