import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Common headers and body parameters", .endsInTime, .leakChecked)
struct ParameterFilterTests {
    @Test("the request's own headers are kept, replaced or joined")
    func headers() async throws {
        var call = Call()
        call.headers = ["X-A": "own"]
        for (rule, values) in [(MergeRule.keep, ["own"]), (.replace, ["common"]), (.append, ["own", "common"])] {
            let bench = Bench("https://example.com", .headers(["X-A": "common", "X-B": "b"], merge: rule))
            let sent = try await bench.sent(call)
            #expect(sent.headers.values(of: "X-A") == values)
            #expect(sent.headers["X-B"] == "b")
        }
    }

    @Test("headers can be computed for each request, and secrets stay marked")
    func computedHeaders() async throws {
        let bench = Bench(
            "https://example.com",
            .headers { exchange in
                guard exchange.http.url.path == "/login" else { return [:] }
                return HTTPHeaders(dictionaryLiteral: ("X-Key", "hush")).sensitive("X-Key")
            })
        let login = try await bench.sent(Call(.get, "login"))
        #expect(login.headers["X-Key"] == "hush" && !login.headers.description.contains("hush"))
        #expect(try await bench.sent(Call(.get, "other")).headers["X-Key"] == nil)
    }

    @Test("common parameters are merged over the request's own in queries, forms and JSON")
    func merged() async throws {
        let bench = Bench(
            "https://example.com", .body(["app": "shop", "b": 2]), .urls(.query(["app": "shop"], merge: .replace)))
        #expect(try await bench.url("a?app=own&x=1") == "https://example.com/a?app=shop&x=1")
        #expect(try await bench.body(Call(form: ["a": "1", "app": "own"])) == "a=1&app=shop&b=2")
        let json = try await bench.body(Call(form: ["app": "own"], as: .json))
        #expect(json == #"{"app":"shop","b":2}"#)
    }

    @Test("a JSON object stays unchanged in numbers, spacing, order and escapes")
    func json() async throws {
        let bench = Bench(
            "https://example.com",
            .body(["n": .object(["x": .null, "y": .array([1, true])]), "b": "/é\n"], merge: .replace))
        var call = Call(.post)
        let own = #" { "z" : 1.00000000000000000001e5 , "\u0062":{"c":"}\"]"}, "a":[ {"b":1} ] } "#
        call.body = .data(Data(own.utf8), contentType: "application/vnd.api+json; charset=utf-8")
        let expected =
            #" { "z" : 1.00000000000000000001e5 , "\u0062":"/é\n", "a":[ {"b":1} ],"n":{"x":null,"y":[1,true]} } "#
        #expect(try await bench.body(call) == expected)
        call.body = .data(Data(" {  } ".utf8), contentType: "application/json")
        #expect(try await bench.body(call) == #" {  "n":{"x":null,"y":[1,true]},"b":"/é\n"} "#)
    }

    @Test("names in JSON objects and forms can be kept or appended")
    func rules() async throws {
        for (rule, form) in [(MergeRule.keep, "a=1&b=2"), (.append, "a=1&a=9&b=2"), (.replace, "a=9&b=2")] {
            let bench = Bench("https://example.com", .body(["a": "9", "b": "2"], merge: rule))
            #expect(try await bench.body(Call(form: ["a": "1"])) == form)
            let json = try await bench.body(Call(form: ["a": 1], as: .json))
            #expect(json == (rule == .replace ? #"{"a":"9","b":"2"}"# : #"{"a":1,"b":"2"}"#))
        }
    }

    @Test("a POST without a body gets a form, JSON or no body; a GET gets no body")
    func empty() async throws {
        let form = try await Bench("https://example.com", .body(["a": "1"])).sent(Call(.post))
        #expect(form.body.data == Data("a=1".utf8))
        #expect(form.headers["Content-Type"] == "application/x-www-form-urlencoded")
        let json = try await Bench("https://example.com", .body(["a": 1], empty: .json)).sent(Call(.put))
        #expect(json.body.data == Data(#"{"a":1}"#.utf8) && json.headers["Content-Type"] == "application/json")
        #expect(try await Bench("https://example.com", .body(["a": 1], empty: .nothing)).sent(Call(.put)).body.isNone)
        #expect(try await Bench("https://example.com", .body(["a": 1])).sent(Call(.get)).body.isNone)
        #expect(try await Bench("https://example.com", .body([:])).sent(Call(.post)).body.isNone)
    }

    @Test("bodies that can't contain parameters aren't changed")
    func others() async throws {
        let bench = Bench("https://example.com", .body(["a": "1"]))
        let bodies: [(RequestBody, String)] = [
            (.data(Data("x".utf8)), "x"), (.text("{}"), "{}"),
            (.data(Data("[1]".utf8), contentType: "application/json"), "[1]"),
            (.data(Data("7".utf8), contentType: "application/json"), "7"),
            (.stream(HTTPBody(Data("s".utf8))), "s"),
        ]
        for (body, expected) in bodies {
            var call = Call(.post)
            call.body = body
            #expect(try await bench.body(call) == expected)
        }
        var packed = Call(.post)
        packed.body = .data(Data([1, 2]), contentType: "application/json")
        packed.headers = ["Content-Encoding": "gzip"]
        #expect(try await bench.sent(packed).body.data == Data([1, 2]))
    }

    @Test(
        "an unreadable form or JSON throws an error that names the filter",
        arguments: [
            #"{"a":}"#, #"{"a":1"#, #"{"a" 1}"#, #"{"a":1,}"#, #"{a:1}"#, #"{"a":[1}"#, #"{"a":"1}"#, #"{"a":1}x"#,
            #"{"a":1]"#, "{", #"{"\"#, #"{"a\"#, #"{"a":1 "b":2}"#, #"{"\uD8":1}"#, #"{,}"#, #"{"a"::1}"#,
        ])
    func malformed(text: String) async throws {
        let bench = Bench("https://example.com", .body(["n": "1"], name: "common"))
        var call = Call(.post)
        call.body = .data(Data(text.utf8), contentType: "application/json")
        let error = try #require(try await bench.failure(call) as? URLFilterError)
        #expect(error.code == .invalidBody && error.filter == "common")
    }

    @Test("a form that is a stream or isn't UTF-8 throws, and isn't opened")
    func unreadable() async throws {
        let bench = Bench("https://example.com", .body(["n": "1"]))
        var call = Call(.post)
        call.body = .stream(HTTPBody(Data("a=1".utf8)), contentType: "application/x-www-form-urlencoded")
        #expect((try await bench.failure(call) as? URLFilterError)?.code == .invalidBody)
        call.body = .data(Data([0xFF]), contentType: "application/x-www-form-urlencoded")
        #expect((try await bench.failure(call) as? URLFilterError)?.code == .invalidBody)
    }

    @Test("a JSON body that isn't encoded yet is encoded and extended, and a given length is corrected")
    func deferred() async throws {
        let json = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.http.body = .json(["z": 1])
            return try await next(exchange)
        }
        let bench = Bench("https://example.com", json, .body(["n": "1"]))
        #expect(try await bench.body(Call(.post)) == #"{"z":1,"n":"1"}"#)
        var call = Call(form: ["a": "1"])
        call.headers = ["Content-Length": "3"]
        #expect(try await Bench("https://example.com", .body(["n": "1"])).sent(call).headers["Content-Length"] == "7")
    }

    @Test("objects of any depth are read without recursion, and random damage never traps")
    func depth() async throws {
        let bench = Bench("https://example.com", .body(["n": 1]))
        var call = Call(.post)
        let deep = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
        call.body = .data(Data("{\"a\":\(deep)}".utf8), contentType: "application/json")
        #expect(try await bench.body(call).hasSuffix(#","n":1}"#))
        var random = SeededGenerator(seed: 11)
        let whole = Array(#"{"a":[1,{"b":"c\n\"d"}],"e":null,"f":-1.5e3}"#.utf8)
        var refused = 0
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                bytes[Int.random(in: bytes.indices.dropFirst(), using: &random)] = UInt8.random(
                    in: 0...127, using: &random)
            }
            call.body = .data(Data(bytes), contentType: "application/json")
            do { _ = try await bench.agent.send(call) } catch { refused += error is URLFilterError ? 1 : 0 }
        }
        #expect(refused > 500)
    }
}
