import Errand
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Faults that users of other recordings have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other replay libraries", .endsInTime, .leakChecked)
struct ReplayLessonsTests {
    private func post(_ json: String) -> Raw {
        Raw(path: "a", method: .post, body: .text(json, contentType: "application/json"))
    }

    private func recorded(_ json: String?, _ response: String) -> String {
        let escaped = json.map { #"{"mimeType":"application/json","text":"\#($0.replacing("\"", with: "\\\""))"}"# }
        return entry("POST", "\(site)/a", post: escaped, content: text(response))
    }

    @Test("a body that wasn't recorded equals a missing body, and the error reports that")
    func missingPostData() async throws {
        let replay = try ReplayTransport(
            har: archive(recorded(nil, "1"), recorded(nil, "2")), matching: ReplayMatching(body: true))
        let error = await #expect(throws: ReplayError.self) { try await agent(replay).send(post(#"{"query":"a"}"#)) }
        #expect(error?.description.contains("body") == true, "\(error?.description ?? "")")
        let lenient = try ReplayTransport(har: archive(recorded(nil, "1"), recorded(nil, "2")))
        for expected in ["1", "2"] {
            #expect(try await agent(lenient).send(post(#"{"query":"a"}"#)).value.text() == expected)
        }
        await #expect(throws: ReplayError.self) { try await agent(lenient).send(post("{}")) }
    }

    @Test("another order of a JSON array, or missing members, make another request")
    func strictJSON() async throws {
        let bodies = [
            #"{"columns":[1,2,3]}"#, #"{"columns":[2,1,3]}"#, #"{"columns":[2,1,3],"x":null}"#, #"{"columns":[2,1]}"#,
        ]
        let replay = try ReplayTransport(
            har: archive(
                recorded(bodies[0], "0"), recorded(bodies[1], "1"), recorded(bodies[2], "2"), recorded(bodies[3], "3")),
            matching: ReplayMatching(body: true))
        for number in [3, 1, 0, 2] {
            #expect(try await agent(replay).send(post(bodies[number])).value.text() == "\(number)")
        }
        try replay.checkAllUsed()
    }

    @Test("query items in another order make another request, and the error reports that")
    func queryOrder() async throws {
        let replay = try ReplayTransport(har: archive(entry("\(site)/a?x=1&y=2", content: text("xy"))))
        let error = await #expect(throws: ReplayError.self) { try await agent(replay).send(Raw(path: "a?y=2&x=1")) }
        #expect(error?.description.contains("the items are in a different order") == true)
        #expect(try await agent(replay).send(Raw(path: "a?x=1&y=2")).value.text() == "xy")
    }

    @Test("a response with masked secrets is replayed completely, with any recorded length")
    func maskedLength() async throws {
        let server = try TestServer()
        let body = #"{"access_token":"a-very-long-secret-that-the-mask-is-shorter-than","user":"ada","pin":"1"}"#
        server.on("/login", .json(body))
        let folder = try Folder()
        let file = folder.file("login.har")
        let live = try ReplayTransport(har: file, mode: .recordAll(over: .system))
        let online = NetworkAgent(baseURL: server.url, transport: live)
        #expect(try await online.send(Raw(path: "login")).value.text() == body)
        try live.save()
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("secret-that"))
        let replay = try ReplayTransport(har: file)
        let response = try await NetworkAgent(baseURL: server.url, transport: replay).send(Raw(path: "login")).value
        let replayed = try response.text()
        #expect(replayed == #"{"access_token":"•••","user":"ada","pin":"•••"}"#)
        let length = response.headers[.contentLength]
        #expect(length == nil || length == "\(replayed.utf8.count)")
    }

    @Test("an archive whose unused parts are invalid is read")
    func brokenParts() async throws {
        let cookie = #"{"name":"a","value":"b","expires":"Fri, 08-May-2020 10:07:30 GMT","httpOnly":"no"}"#
        let pages = #""pages":[{"id":"page_1","title":"x","startedDateTime":"","pageTimings":{"onLoad":null}}],"#
        let odd = entry("\(site)/a", content: text("ok"))
            .replacing(#""cookies":[]"#, with: #""cookies":[\#(cookie)]"#)
            .replacing("2026-01-01T00:00:00.000Z", with: "1970-01-01T05:30:00.000+0530")
            .replacing(
                #""cache":{}"#,
                with: #""cache":{"afterRequest":{"expires":"never"}},"serverIPAddress":"","pageref":"x""#
            )
            .replacing(#""time":1"#, with: #""time":-1"#)
        let whole = String(decoding: archive(odd), as: UTF8.self).replacing(#""entries""#, with: pages + #""entries""#)
        let replay = try ReplayTransport(har: Data(whole.utf8))
        #expect(try await agent(replay).send(Raw(path: "a")).value.text() == "ok")
    }

    @Test(
        "a body that Firefox has labelled as Base64 although it wrote the text is that text, if its size is the text's")
    func mislabelledText() async throws {
        let xml = "<a>ä</a> & more"
        let json = xml.replacing("\"", with: "\\\"")
        let label = #""encoding":"base64","mimeType":"application/octet-stream","text":"\#(json)""#
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/bytes", content: #""size":\#(xml.utf8.count),"# + label),
                entry("\(site)/characters", content: #""size":\#(xml.unicodeScalars.count),"# + label),
                entry("\(site)/other", content: #""size":3,"# + label),
                // Valid Base64 is Base64, whatever its size.
                entry("\(site)/valid", content: #""size":4,"encoding":"base64","text":"AAAA""#)))
        let agent = agent(replay)
        #expect(try await agent.send(Raw(path: "bytes")).value.data == Data(xml.utf8))
        let latin1 = try await agent.send(Raw(path: "characters")).value.data
        #expect(latin1.count == xml.unicodeScalars.count)
        let error = await #expect(throws: HARError.self) { try await agent.send(Raw(path: "other")) }
        #expect(error?.code == .damagedBody)
        #expect(try await agent.send(Raw(path: "valid")).value.data == Data([0, 0, 0]))
    }

    @Test("invalid text that is marked as Base64 is also read in pieces, wherever its first invalid byte is")
    func longMislabelledText() async throws {
        let text = String(repeating: "abcd", count: 1_200_000) + "ä<a>"
        let label = #""encoding":"base64","mimeType":"text/plain","text":"\#(text)""#
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/bytes", content: #""size":\#(text.utf8.count),"# + label),
                entry("\(site)/characters", content: #""size":\#(text.utf8.count - 1),"# + label),
                entry("\(site)/other", content: #""size":3,"# + label)))
        let agent = agent(replay)
        for path in ["bytes", "characters"] {
            #expect(try await agent.send(Raw(path: path)).value.data == Data(text.utf8))
        }
        let error = await #expect(throws: HARError.self) { try await agent.send(Raw(path: "other")) }
        #expect(error?.code == .damagedBody)
    }

    @Test("a response may lack its type, and doesn't announce chunks or a length that its recorded body doesn't have")
    func recordedHeads() async throws {
        let heads = [("Transfer-Encoding", "chunked"), ("Content-Length", "999"), ("Content-Type", "text/plain")]
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/a", headers: heads, content: #""size":2,"text":"ok""#),
                entry("\(site)/b", content: #""size":0,"compression":0"#),
                entry("\(site)/c", content: #""size":0,"text":"","mimeType":null"#)))
        let response = try await agent(replay).send(Raw(path: "a")).value
        #expect(try response.text() == "ok")
        #expect(response.headers[.transferEncoding] == nil && response.headers[.contentLength] ?? "2" == "2")
        for path in ["b", "c"] { #expect(try await agent(replay).send(Raw(path: path)).value.data.isEmpty) }
    }

    @Test(
        "a part of an archive that is null is empty, and doesn't make the other entries unreadable",
        arguments: [
            (#""headers":[]"#, #""headers":null"#, 200), (#""content":{"#, #""content":null,"_content":{"#, 200),
            (#""timings":{}"#, #""timings":null"#, 200), (#""headers":[],"#, "", 200),
            (#""response":{"#, #""response":null,"_response":{"#, nil),
            (#""redirectURL":"""#, #""redirectURL":null"#, 200), (#""statusText":"""#, #""statusText":null"#, 200),
        ] as [(String, String, Int?)])
    func nullParts(part: String, null: String, status: Int?) async throws {
        let odd = entry("\(site)/odd", content: #""size":0"#)
        #expect(odd.contains(part))
        let replay = try ReplayTransport(
            har: archive(odd.replacing(part, with: null), entry("\(site)/a", content: text("ok"))))
        #expect(try await agent(replay).send(Raw(path: "a")).value.text() == "ok")
        do { #expect(try await agent(replay).send(Raw(path: "odd")).value.status == status) } catch {
            #expect(status == nil && (error as? ErrandError)?.code == .connectionLost)
        }
    }
}
