import Errand
import ErrandRecording
import ErrandTesting
import Foundation
import Testing

/// Which recorded request a request is equal to, and what an error says where it is equal to none.
@Suite(.timeLimit(.minutes(10)), .leakChecked)
struct ReplayMatchingTests {
    /// Whether a replay of one entry responds.
    private func matches(
        _ recorded: String, _ requested: Raw, _ matching: ReplayMatching = .methodAndURL
    ) async throws -> Bool {
        let replay = try ReplayTransport(har: archive(recorded), matching: matching)
        do { _ = try await agent(replay).send(requested) } catch is ReplayError { return false }
        return true
    }

    @Test(
        "a URL may be written in several ways",
        arguments: [
            ("https://api.example.com/a", "a"), ("HTTPS://API.example.com:443/a#part", "a"),
            ("https://api.example.com:/%61?x=%C3%BC&y", "a?x=%c3%bc&y"), ("https://u:p@api.example.com/a", "a"),
            ("https://api.example.com/a?x=ü", "a?x=%C3%BC"),
        ])
    func writings(recorded: String, path: String) async throws {
        #expect(try await matches(entry(recorded), Raw(path: path)))
    }

    @Test(
        "what differs in method or URL is another request",
        arguments: [
            "https://api.example.com/b", "https://api.example.com/a?x=1", "http://api.example.com/a",
            "https://api.example.com:444/a", "https://api.example.com/A", "https://api.example.com/a?",
        ])
    func different(recorded: String) async throws {
        #expect(try await matches(entry(recorded), Raw(path: "a")) == recorded.hasSuffix("?"))
        #expect(try await !matches(entry("POST", "https://api.example.com/a"), Raw(path: "a")))
    }

    @Test("query items and the origin may be left out")
    func leniency() async throws {
        let recorded = entry("http://127.0.0.1:8080/a?t=1&page=2")
        #expect(try await !matches(recorded, Raw(path: "a?page=2&t=7")))
        let lenient = ReplayMatching(ignoredQueryItems: ["t"], ignoresOrigin: true)
        #expect(try await matches(recorded, Raw(path: "a?page=2&t=7"), lenient))
        #expect(try await !matches(recorded, Raw(path: "a?page=3&t=1"), lenient))
    }

    @Test("bodies count on demand: JSON by its values, a form by its items, anything else byte by byte")
    func bodies() async throws {
        let rule = ReplayMatching(body: true)
        func recorded(_ type: String, _ text: String) -> String {
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return entry("POST", "\(site)/a", post: #"{"mimeType":"\#(type)","text":"\#(escaped)"}"#)
        }
        func requested(_ type: String, _ text: String) -> Raw {
            Raw(path: "a", method: .post, body: .text(text, contentType: type))
        }
        let json = recorded("application/json", #"{"a":1,"b":[true,null,"x"]}"#)
        #expect(
            try await matches(
                json, requested("application/json; charset=utf-8", #"{ "b" : [true,null,"\u0078"], "a":1 }"#), rule))
        #expect(try await !matches(json, requested("application/json", #"{"a":1,"b":[true,null,"y"]}"#), rule))
        #expect(try await !matches(json, requested("application/json", #"{"a":1.0,"b":[true,null,"x"]}"#), rule))
        #expect(try await matches(json, requested("application/json", "{}")))
        let form = recorded("application/x-www-form-urlencoded", "a=b+c&d=%C3%BC")
        #expect(try await matches(form, requested("application/x-www-form-urlencoded", "a=b%20c&d=%c3%bc"), rule))
        #expect(try await !matches(form, requested("application/x-www-form-urlencoded", "a=b%20c"), rule))
        let text = recorded("text/plain", "hello")
        #expect(try await matches(text, requested("text/plain", "hello"), rule))
        #expect(try await !matches(text, requested("text/plain", "hello "), rule))
        let none = entry("POST", "\(site)/a")
        #expect(try await matches(none, Raw(path: "a", method: .post), rule))
        #expect(try await !matches(none, requested("text/plain", "x"), rule))
        // A form that has items and no text.
        let items = entry(
            "POST", "\(site)/a",
            post: #"{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"b"}]}"#)
        #expect(try await matches(items, requested("application/x-www-form-urlencoded", "a=b"), rule))
    }

    @Test("two requests that differ in the body only get their own responses, in any order")
    func bodyOrder() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry(
                    "POST", "\(site)/q", post: #"{"mimeType":"application/json","text":"{\"q\":1}"}"#,
                    content: text("one")),
                entry(
                    "POST", "\(site)/q", post: #"{"mimeType":"application/json","text":"{\"q\":2}"}"#,
                    content: text("two"))),
            matching: ReplayMatching(body: true))
        let agent = agent(replay)
        for (number, expected) in [(2, "two"), (1, "one")] {
            let request = Raw(path: "q", method: .post, body: .json(["q": number]))
            #expect(try await agent.send(request).value.data == Data(expected.utf8))
        }
    }

    @Test("chosen headers count")
    func headers() async throws {
        let rule = ReplayMatching(headers: ["Accept-Language", "Authorization"])
        let recorded = entry(
            "GET", "\(site)/a", requestHeaders: [("accept-language", "de"), ("authorization", "•••")])
        #expect(
            try await matches(
                recorded, Raw(path: "a", headers: ["Accept-Language": "de", "Authorization": "Bearer x"]), rule))
        #expect(try await !matches(recorded, Raw(path: "a", headers: ["Accept-Language": "en"]), rule))
        let typed = entry("POST", "\(site)/a", post: #"{"mimeType":"text/a","text":"x"}"#)
        let type = ReplayMatching(headers: ["Content-Type"])
        #expect(try await matches(typed, Raw(path: "a", method: .post, body: .text("y", contentType: "text/a")), type))
        #expect(try await !matches(typed, Raw(path: "a", method: .post, body: .text("y", contentType: "text/b")), type))
    }

    @Test("the mask of a secret stands for any value, within one item; what is there letter by letter goes first")
    func masks() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/a?token=•••&page=1", content: text("masked")),
                entry("\(site)/a?token=12345678&page=1", content: text("exact")),
                entry("\(site)/users/•••/posts", content: text("path"))))
        let agent = agent(replay)
        #expect(try await agent.send(Get(path: "a?token=12345678&page=1")).value == "exact")
        #expect(try await agent.send(Get(path: "a?token=other&page=1")).value == "masked")
        #expect(try await agent.send(Get(path: "users/abcdefgh/posts")).value == "path")
        let error = await #expect(throws: ReplayError.self) { try await agent.send(Get(path: "a?token=x&page=1&b=c")) }
        #expect(error?.code == .unmatched)
        let body = ReplayMatching(body: true)
        let recorded = entry(
            "POST", "\(site)/a",
            post: #"{"mimeType":"application/json","text":"{\"user\":\"ada\",\"password\":\"•••\"}"}"#)
        for password in ["\"hunter2\"", "17", "{\"a\":[]}"] {
            let sent = RequestBody.text("{\"password\":\(password),\"user\":\"ada\"}", contentType: "application/json")
            #expect(try await matches(recorded, Raw(path: "a", method: .post, body: sent), body))
        }
        let other = RequestBody.text("{\"password\":\"hunter2\",\"user\":\"eve\"}", contentType: "application/json")
        #expect(try await !matches(recorded, Raw(path: "a", method: .post, body: other), body))
    }

    @Test("an unmatched request names the nearest entry and what differs, without secrets")
    func nearest() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/users/8?page=2&token=abcdefgh&sort=up"), entry("\(site)/other"),
                entry("POST", "\(site)/users/7", post: #"{"mimeType":"application/json","text":"{\"a\":{\"b\":1}}"}"#)),
            matching: ReplayMatching(body: true, headers: ["Accept", "X-Own"]))
        let agent = agent(replay)
        let canary = "c4n4ry-s3cr3t"
        let request = Raw(
            path: "users/7?page=3&token=\(canary)&sort=up", headers: ["Accept": "text/html", "X-Own": canary])
        let error = await #expect(throws: ReplayError.self) { try await agent.send(request) }
        #expect(error?.nearest?.index == 0 && error?.code == .unmatched && error?.errorCode == 1)
        #expect(
            error?.differences == [
                "path: recorded /users/8, requested /users/7", "query page: recorded 2, requested 3",
                "query token: recorded •••, requested •••", "header Accept: recorded none, requested text/html",
                "header X-Own: recorded •••, requested •••",
            ])
        #expect(error?.description.contains(canary) == false && error?.description.contains("abcdefgh") == false)
        #expect(error?.localizedDescription == error?.description)
        let posted = await #expect(throws: ReplayError.self) {
            try await agent.send(Raw(path: "users/7", method: .post, body: .json(["a": ["b": 2]])))
        }
        #expect(posted?.nearest?.index == 2 && posted?.differences == ["body: the value at /a/b"])
        let method = await #expect(throws: ReplayError.self) {
            try await agent.send(Raw(path: "other", method: .delete))
        }
        #expect(method?.differences == ["method: recorded GET, requested DELETE"])
        let empty = try ReplayTransport(har: archive())
        let none = await #expect(throws: ReplayError.self) {
            try await ErrandRecordingTests.agent(empty).send(Raw(path: "a"))
        }
        #expect(none?.nearest == nil && none?.description.contains("empty") == true)
    }
}
