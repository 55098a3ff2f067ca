import Errand
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ReplayMatchingTests {
    /// Whether a replay of one entry responds.
    private func matches(
        _ recorded: String, _ requested: Raw, _ matching: ReplayMatching = .methodAndURL
    ) async throws -> Bool {
        let replay = try ReplayTransport(har: archive(recorded), matching: matching)
        do { _ = try await agent(replay).send(requested) } catch is ReplayError { return false }
        return true
    }

    private func matches(json recorded: String, _ requested: String) async throws -> Bool {
        let escaped = recorded.replacing("\"", with: "\\\"")
        return try await matches(
            entry("POST", "\(site)/a", post: #"{"mimeType":"application/json","text":"\#(escaped)"}"#),
            Raw(path: "a", method: .post, body: .text(requested, contentType: "application/json")),
            ReplayMatching(body: true))
    }

    @Test(
        "equivalent spellings of a URL match",
        arguments: [
            ("https://api.example.com/a", "a"), ("HTTPS://API.example.com:443/a#part", "a"),
            ("https://api.example.com:/%61?x=%C3%BC&y", "a?x=%c3%bc&y"), ("https://u:p@api.example.com/a", "a"),
            ("https://api.example.com/a?x=ü", "a?x=%C3%BC"),
        ])
    func writings(recorded: String, path: String) async throws {
        #expect(try await matches(entry(recorded), Raw(path: path)))
    }

    @Test(
        "requests with another method or URL don't match",
        arguments: [
            "https://api.example.com/b", "https://api.example.com/a?x=1", "http://api.example.com/a",
            "https://api.example.com:444/a", "https://api.example.com/A", "https://api.example.com/a?",
        ])
    func different(recorded: String) async throws {
        #expect(try await matches(entry(recorded), Raw(path: "a")) == recorded.hasSuffix("?"))
        #expect(try await !matches(entry("POST", "https://api.example.com/a"), Raw(path: "a")))
    }

    @Test("query items and the origin can be ignored")
    func leniency() async throws {
        let recorded = entry("http://127.0.0.1:8080/a?t=1&page=2")
        #expect(try await !matches(recorded, Raw(path: "a?page=2&t=7")))
        let lenient = ReplayMatching(ignoredQueryItems: ["t"], ignoresOrigin: true)
        #expect(try await matches(recorded, Raw(path: "a?page=2&t=7"), lenient))
        #expect(try await !matches(recorded, Raw(path: "a?page=3&t=1"), lenient))
    }

    @Test("names and texts in JSON are compared byte by byte")
    func composition() async throws {
        let (composed, decomposed, masked) = ("\u{E9}", "e\u{301}", #""m":"\#(Redaction.mask)","#)
        for mask in ["", masked] {
            let both = #"{\#(mask)"\#(composed)":1,"\#(decomposed)":2}"#
            #expect(try await matches(json: both, both))
            #expect(try await !matches(json: both, #"{\#(mask)"\#(composed)":2,"\#(decomposed)":1}"#))
            #expect(try await !matches(json: #"{\#(mask)"\#(composed)":1}"#, #"{\#(mask)"\#(decomposed)":1}"#))
            #expect(try await !matches(json: #"{\#(mask)"a":"\#(composed)"}"#, #"{\#(mask)"a":"\#(decomposed)"}"#))
        }
    }

    @Test("names in JSON are compared completely, at any length", arguments: [200, 255, 256, 300, 100_000])
    func longNames(length: Int) async throws {
        let long = String(repeating: "n", count: length)
        let recorded = #"{"\#(long)a":1,"\#(long)b":{"\#(long)c":2}}"#
        #expect(try await matches(json: recorded, #"{"\#(long)b":{"\#(long)c":2.0},"\#(long)a":1}"#))
        #expect(try await !matches(json: recorded, #"{"\#(long)a":3,"\#(long)b":{"\#(long)c":2}}"#))
        #expect(try await !matches(json: recorded, #"{"\#(long)b":{"\#(long)c":2}}"#))
        #expect(try await !matches(json: recorded, #"{"\#(long)a":1,"\#(long)b":{"\#(long)d":2}}"#))
        // If the recording contains a mask, a table of keys doesn't find it.
        let masked = #"{"x":"\#(Redaction.mask)","\#(long)b":{"\#(long)c":2}}"#
        #expect(try await matches(json: masked, #"{"\#(long)b":{"\#(long)c":2},"x":"secret"}"#))
        #expect(try await !matches(json: masked, #"{"\#(long)b":{"\#(long)d":2},"x":"secret"}"#))
    }

    @Test("bodies are compared on request: JSON by value, forms by item, others byte by byte")
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
        #expect(try await matches(json, requested("application/json", #"{"a":1.0,"b":[true,null,"x"]}"#), rule))
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
        let items = entry(
            "POST", "\(site)/a",
            post: #"{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"b"}]}"#)
        #expect(try await matches(items, requested("application/x-www-form-urlencoded", "a=b"), rule))
    }

    @Test(
        "the type of a recorded form may have a charset, or be missing, and its items may replace its text",
        arguments: [
            #"{"mimeType":"application/x-www-form-urlencoded; charset=UTF-8","text":"a=b&c="}"#,
            #"{"text":"a=b&c="}"#, #"{"mimeType":null,"text":"a=b&c="}"#,
            #"{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"b"},{"name":"c"}]}"#,
            #"{"mimeType":"application/x-www-form-urlencoded","text":"","params":[{"name":"a","value":"b"},{"name":"c","value":""}]}"#,
            #"{"mimeType":"application/x-www-form-urlencoded","params":null,"text":"a=b&c="}"#,
        ])
    func formTypes(post: String) async throws {
        let recorded = entry("POST", "\(site)/a", post: post)
        func request(_ text: String) -> Raw {
            Raw(path: "a", method: .post, body: .text(text, contentType: "application/x-www-form-urlencoded"))
        }
        #expect(try await matches(recorded, request("a=b&c="), ReplayMatching(body: true)))
        #expect(try await !matches(recorded, request("a=c&c="), ReplayMatching(body: true)))
    }

    @Test(
        "numbers in JSON bodies are compared by value, in any notation",
        arguments: [
            ("1", "1.0", true), ("1", "1e0", true), ("100", "1E+2", true), ("0.001", "1.00e-3", true),
            ("0", "-0.0e9", true),
            ("-12.50", "-125e-1", true), ("123456789012345678901234567890", "1.2345678901234567890123456789e29", true),
            ("123456789012345678901234567890", "123456789012345678901234567891", false),
            ("0.1", "0.10000000000000001", false),
            ("1", "-1", false), ("1", "10", false), ("1", "\"1\"", false), ("1", "true", false), ("0", "null", false),
            ("1e999999999999999999999", "1e999999999999999999999", true), ("1e400", "10e399", true),
            ("1e400", "1e401", false),
            ("0e99999999999999999999999", "0", true), ("1e99999999999999999999999", "1e99999999999999999999998", false),
        ])
    func numbers(recorded: String, requested: String, isEqual: Bool) async throws {
        let rule = ReplayMatching(body: true)
        // The second one is found by its masks, not by its key.
        for mask in ["\\\"x\\\"", "\\\"•••\\\""] {
            let escaped = recorded.replacing("\"", with: "\\\"")
            let post = #"{"mimeType":"application/json","text":"{\"n\":[\#(escaped)],\"m\":\#(mask)}"}"#
            let request = Raw(
                path: "a", method: .post,
                body: .text(#"{"n":[\#(requested)],"m":"x"}"#, contentType: "application/json"))
            #expect(try await matches(entry("POST", "\(site)/a", post: post), request, rule) == isEqual)
        }
    }

    @Test("field lines that a program has joined are separate fields, with any line end")
    func joinedFields() async throws {
        for end in ["\\n", "\\r\\n", "\\r"] {
            let recorded = entry(
                "\(site)/a", headers: [("Set-Cookie", "a=1\(end)b=2\(end)c=3"), ("X-One", "x\(end)y")])
            let http = try await agent(ReplayTransport(har: archive(recorded))).send(Raw(path: "a")).value
            #expect(http.headers.values(of: .setCookie) == ["a=1", "b=2", "c=3"], "\(end)")
            #expect(http.headers.values(of: "X-One") == ["x", "y"], "\(end)")
        }
    }

    /// Returns the CPU time of a replay with one entry, as the minimum of several runs.
    private func work(_ recorded: String, _ request: HTTPRequest, _ matching: ReplayMatching) async throws -> Double {
        func processorTime() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        var least = Double.infinity
        for _ in 0..<3 {
            let replay = try ReplayTransport(har: archive(recorded), matching: matching)
            let start = processorTime()
            await #expect(throws: ReplayError.self) { try await replay.send(request, options: TransportOptions()) }
            least = min(least, processorTime() - start)
        }
        return least
    }

    @Test("masks and near misses take linear time")
    func nearMisses() async throws {
        func growth(_ make: (Int) throws -> (recorded: String, request: HTTPRequest, matching: ReplayMatching))
            async throws
        {
            let (small, large) = (try make(1), try make(8))
            let one = try await work(small.recorded, small.request, small.matching)
            let eight = try await work(large.recorded, large.request, large.matching)
            // Eight times the bytes; quadratic work would take 64 times as long.
            #expect(eight < max(one, 0.0005) * 24, "\(one) s, \(eight) s")
        }
        func run(_ count: Int) -> String { String(repeating: "a", count: count) }
        try await growth { size in
            let url = try #require(URL(string: "\(site)/\(run(4_000 * size))c"))
            return (entry("\(site)/•••\(run(1_000 * size))b•••c"), HTTPRequest(.get, url), .methodAndURL)
        }
        try await growth { size in
            let url = try #require(URL(string: "\(site)/?x=\(run(4_000 * size))c"))
            return (entry("\(site)/?x=•••\(run(1_000 * size))b•••c"), HTTPRequest(.get, url), .methodAndURL)
        }
        let url = try #require(URL(string: "\(site)/a"))
        try await growth { size in
            let post = #"{"mimeType":"text/plain","text":"•••\#(run(2_000 * size))b•••c"}"#
            let request = HTTPRequest(.post, url, body: .text(run(8_000 * size) + "c"))
            return (entry("POST", "\(site)/a", post: post), request, ReplayMatching(body: true))
        }
        try await growth { size in
            let name = run(2_000 * size)
            let zeros = Array(repeating: "0", count: 500 * size).joined(separator: ",")
            let post = #"{"mimeType":"application/json","text":"{\"\#(name)\":[\"•••\",\#(zeros),1]}"}"#
            let request = HTTPRequest(.post, url, body: .text(#"{"\#(name)":["x",\#(zeros),2]}"#))
            return (entry("POST", "\(site)/a", post: post), request, ReplayMatching(body: true))
        }
    }

    @Test("two requests that differ only in the body get their own responses, in any order")
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

    @Test("selected headers are compared")
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

    @Test("a secret's mask matches any value within one item, and an exact match takes precedence")
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

    @Test("an unmatched request names the nearest entry and the differences, without secrets")
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
        #expect(error?.description.hasPrefix("unmatched: ") == true)
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
            try await ErrandReplayTests.agent(empty).send(Raw(path: "a"))
        }
        #expect(none?.nearest == nil && none?.description.contains("empty") == true)
    }
}
