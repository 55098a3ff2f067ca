import Errand
import ErrandRecording
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

/// Browsers' own spellings against an app's requests.
@Suite(.endsInTime, .leakChecked)
struct BrowserArchiveTests {
    private func matches(_ recorded: String, _ request: some Request) async throws -> Bool {
        let replay = try ReplayTransport(har: archive(entry(recorded.replacing("\\", with: "\\\\"))))
        do { _ = try await agent(replay).send(request) } catch is ReplayError { return false }
        return true
    }

    private struct Search: Request {
        typealias Output = HTTPResponse
        var path = "search"
        var query: Parameters
        var acceptableStatuses: StatusCodes { .any }
    }

    /// Characters that a browser doesn't escape in a query.
    @Test(
        "an app's parameters equal a browser's query, in which few characters are escaped",
        arguments: [
            "2", "a|b", "{x}", "a,b", "a:b", "a/b", "a?b", "a@b", "a$b", "a!b", "a(b)", "a*b", "a[b]", "a^b", "a`b",
            "a\\b", "a~b", "a-b_c.d", "abc==", "a=b", "a'b", "a;b",
        ])
    func values(value: String) async throws {
        for (name, written) in [("q", "q"), ("page[number]", "page[number]"), ("a:b", "a:b"), ("a|b{c}", "a|b{c}")] {
            let request = Search(query: [name: value])
            #expect(try await matches("\(site)/search?\(written)=\(value)", request), "\(name)")
            // The value is escaped as a browser's form or its URLSearchParams would write it.
            let escaped = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(try await matches("\(site)/search?\(written)=\(escaped)", request))
            #expect(try await !matches("\(site)/search?\(written)=\(value)x", request))
        }
    }

    @Test(
        "an app's paths equal a browser's",
        arguments: ["a|b", "{x}", "a,b", "a:b", "a[b]", "a@b", "a b", "a^b", "ü", "a'b"])
    func paths(name: String) async throws {
        let written = name.replacing(" ", with: "%20")
        #expect(try await matches("\(site)/files/\(written)/x", Raw(path: "files/\(segment: name)/x")))
        #expect(try await !matches("\(site)/files/\(written)", Raw(path: "files/\(segment: name)/x")))
    }

    @Test(
        "URLs of different resources are distinguished, even if they look alike",
        arguments: [
            ("/a%2Fb", "/a/b"), ("/a%3Fb", "/a?b"), ("/a%3Bb", "/a;b"), ("/a%23b", "/a"), ("/a%255Bb", "/a%5Bb"),
            ("/a?q=a%26b", "/a?q=a&b"), ("/a?q=a%2Bb", "/a?q=a+b"), ("/a?q=1%2B1", "/a?q=1%201"),
            ("/a?q=a%23b", "/a?q=a"), ("/a?q=%2541", "/a?q=A"), ("/a?a%3Db=c", "/a?a=b=c"),
            ("/a+b", "/a%20b"), ("/a?q", "/a?q="), ("/a?q=1&p=2", "/a?p=2&q=1"),
        ])
    func apart(one: String, other: String) async throws {
        for (recorded, requested) in [(one, other), (other, one)] {
            #expect(try await !matches(site + recorded, Raw(path: String(requested.dropFirst()))))
            #expect(try await matches(site + recorded, Raw(path: String(recorded.dropFirst()))))
        }
    }

    @Test("a query is compared as a form, as most servers read it, unless an entry matches it exactly")
    func forms() async throws {
        #expect(try await matches("\(site)/a?q=a;b", Raw(path: "a?q=a%3Bb")))
        #expect(try await matches("\(site)/a?q=red+shoes&x=1", Raw(path: "a?q=red%20shoes&x=1")))
        #expect(try await matches("\(site)/a?q=red%20shoes", Raw(path: "a?q=red+shoes")))
        #expect(try await matches("\(site)/search?q=red+shoes", Search(query: ["q": "red shoes"])))
        let both = try ReplayTransport(
            har: archive(
                entry("\(site)/a?q=1+1", content: text("plus")), entry("\(site)/a?q=1%201", content: text("space"))))
        #expect(try await agent(both).send(Get(path: "a?q=1%201")).value == "space")
        #expect(try await agent(both).send(Get(path: "a?q=1+1")).value == "plus")
        let error = await #expect(throws: ReplayError.self) { try await agent(both).send(Get(path: "a?q=1+1")) }
        #expect(error?.code == .exhausted)
        // Each entry is used once, no matter which spelling matched it.
        let twice = try ReplayTransport(har: archive(entry("\(site)/a?q=1+1"), entry("\(site)/a?q=1+1")))
        for path in ["a?q=1%201", "a?q=1%201"] { _ = try await agent(twice).send(Raw(path: path)) }
        try twice.checkAllUsed()
    }

    @Test("a number or Boolean instead of a text is read as that text, without refusing the file")
    func numbers() async throws {
        let har = Data(
            """
            {"log":{"version":1.2,"creator":{"name":"t","version":7},"comment":1,"entries":[
            {"startedDateTime":0,"time":1,"comment":3,"_error":false,"timings":{"wait":5},"cache":{},
            "request":{"method":"POST","url":"\(site)/a","httpVersion":1.1,"headers":[{"name":"X-Id","value":17}],
            "queryString":[{"name":"a","value":1.5}],"postData":{"mimeType":"text/plain","text":42}},
            "response":{"status":200,"statusText":200,"httpVersion":2,"redirectURL":false,
            "headers":[{"name":"X-Count","value":12},{"name":"X-Flag","value":true},{"name":"X-None","value":null}],
            "content":{"size":3,"mimeType":"text/plain","text":123}}},
            {"request":{"method":"GET","url":"\(site)/b"},"response":{"status":200,"content":{"text":"b"}}}]}}
            """.utf8)
        let replay = try ReplayTransport(har: har, matching: ReplayMatching(body: true, headers: ["X-Id"]))
        let request = Raw(
            path: "a", method: .post, headers: ["X-Id": "17"], body: .text("42", contentType: "text/plain"))
        let response = try await agent(replay).send(request).value
        #expect(response.headers["X-Count"] == "12" && response.headers["X-Flag"] == "true")
        #expect(response.headers["X-None"] == "" && response.data == Data("123".utf8))
        #expect(try await agent(replay).send(Raw(path: "b")).value.data == Data("b".utf8))
        let file = try JSONDecoder().decode(HARFile.self, from: har)
        #expect(file.log.version == "1.2" && file.log.creator.version == "7" && file.log.comment == "1")
        #expect(file.log.entries[0].request.headers == [HARFile.Pair(name: "X-Id", value: "17")])
        #expect(file.log.entries[0].response.headers.map(\.value) == ["12", "true", ""])
        #expect(file.log.entries[0].request.queryString.map(\.value) == ["1.5"])
        #expect(file.log.entries[0].request.postData?.text == "42")
        // A value of a wrong type is still an error, with its location.
        let error = #expect(throws: HARError.self) {
            try ReplayTransport(
                har: archive(entry("\(site)/a").replacing("\"redirectURL\":\"\"", with: "\"redirectURL\":{}")))
        }
        #expect(error?.code == .notHAR && error?.path.hasSuffix("response.redirectURL") == true)
    }

    @Test("if no header has the content type, the response has the type of its content in the archive")
    func types() async throws {
        struct User: Codable, Sendable { let name: String }
        struct GetUser: Request {
            typealias Output = User
            var path: String
        }
        let json = #""size":14,"mimeType":"application/json; charset=utf-8","text":"{\"name\":\"Ada\"}""#
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/json", content: json),
                entry(
                    "\(site)/html", headers: [("Content-Type", "application/json")],
                    content: json.replacing("json", with: "html")),
                entry("\(site)/page", content: json.replacing("application/json", with: "text/html")),
                entry("\(site)/none", content: json.replacing("application/json; charset=utf-8", with: "x-unknown")),
                entry("\(site)/bad", content: json.replacing("application/json", with: "a/b\\r\\nX-Evil: 1")),
                entry("\(site)/empty", content: #""size":0,"mimeType":"text/plain""#),
                entry("\(site)/gone", status: 204, content: json)))
        let agent = agent(replay)
        let response = try await agent.send(GetUser(path: "json"))
        #expect(
            response.value.name == "Ada" && response.http.headers[.contentType] == "application/json; charset=utf-8")
        // The field takes precedence, if there is one.
        #expect(try await agent.send(GetUser(path: "html")).http.headers[.contentType] == "application/json")
        await #expect(throws: ErrandError.self) { try await agent.send(GetUser(path: "page")) }
        #expect(try await agent.send(Raw(path: "empty")).value.headers[.contentType] == nil)
        #expect(try await agent.send(GetUser(path: "none")).http.headers[.contentType] == nil)
        #expect(try await agent.send(Raw(path: "bad")).value.headers[.contentType] == nil)
        #expect(try await agent.send(Raw(path: "gone")).value.headers[.contentType] == nil)
    }
}
