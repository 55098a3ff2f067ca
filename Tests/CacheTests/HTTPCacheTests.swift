import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("The HTTP cache on the way of a request (RFC 9111)", .endsInTime, .leakChecked)
struct HTTPCacheTests {
    private let f = Fixture()

    private func get(_ path: String = "feed", _ headers: HTTPHeaders = [:], method: HTTPMethod = .get) -> Get {
        var get = Get(path, .http)
        get.headers = headers
        get.method = method
        return get
    }

    @Test("a fresh response is served with its age, a stale response is fetched (sections 4.2, 5.1)")
    func freshness() async throws {
        f.respond(["Cache-Control": "max-age=10", "Age": "3"])
        #expect(try await f.text(get()) == "1")
        f.time.advance(by: .seconds(6))
        let hit = try await f.response(get())
        #expect(hit.data == Data("1".utf8) && hit.headers["Age"] == "9" && hit.headers.values(of: "Age").count == 1)
        #expect(hit.source == .cache(age: .seconds(9), reason: "hit; ttl=1"))
        f.time.advance(by: .seconds(1))
        #expect(try await f.text(get()) == "2")
    }

    @Test("a stale response is validated; the 304's fields replace the stored ones (sections 4.3.1 to 4.3.4)")
    func validation() async throws {
        f.stub.on("*") { request in
            if request.headers["If-None-Match"] == "\"a\"" {
                return StubResponse(
                    status: 304,
                    headers: ["ETag": "\"a\"", "Cache-Control": "max-age=100", "X": "2", "Set-Cookie": "s=1"])
            }
            return StubResponse.text("body").header("ETag", "\"a\"").header("Cache-Control", "max-age=5").header(
                "X", "1"
            )
            .header("Y", "1").header("Last-Modified", "Mon, 01 Jan 2001 00:00:00 GMT")
        }
        _ = try await f.text(get())
        f.time.advance(by: .seconds(6))
        let validated = try await f.response(get())
        #expect(validated.status == 200 && validated.data == Data("body".utf8))
        #expect(validated.headers["X"] == "2" && validated.headers["Y"] == "1")
        #expect(validated.headers["Set-Cookie"] == "s=1")
        #expect(validated.source.reason == "fwd=stale; fwd-status=304; stored")
        #expect(f.stub.received.last?.headers["If-Modified-Since"] == "Mon, 01 Jan 2001 00:00:00 GMT")
        f.time.advance(by: .seconds(90))
        let hit = try await f.response(get())
        #expect(f.sent == 2 && hit.headers["X"] == "2" && hit.headers["Set-Cookie"] == nil)
    }

    @Test("a 304 that doesn't match the stored response leads to a full request")
    func foreign304() async throws {
        f.stub.on("*") { request in
            request.headers["If-None-Match"] == nil
                ? StubResponse.text("body").header("ETag", "\"a\"")
                : StubResponse(status: 304, headers: ["ETag": "\"z\""])
        }
        _ = try await f.text(get())
        #expect(try await f.text(get()) == "body")
        #expect(f.sent == 3)
    }

    @Test("Vary keeps several variants of a URL; `*` keeps no variant (section 4.1)")
    func vary() async throws {
        f.respond(["Cache-Control": "max-age=100", "Vary": "Foo, Cookie"])
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1")
        #expect(try await f.text(get("v", ["Foo": "2"])) == "2")
        #expect(try await f.text(get("v")) == "3")
        #expect(try await f.text(get("v", ["Foo": "1", "Other": "x"])) == "1")
        #expect(try await f.text(get("v", ["Foo": "2"])) == "2")
        #expect(try await f.text(get("v", ["Foo": "2", "Cookie": "s"])) == "4")
        #expect(try await f.text(get("v")) == "3")
        #expect(f.notes.all.withLock { $0.contains("fwd=vary-miss") })
        f.respond(["Cache-Control": "max-age=100", "Vary": "*"])
        #expect(try await f.text(get("star")) == "1")
        #expect(try await f.text(get("star")) == "2")
    }

    @Test("invalidated variants don't return with a new variant")
    func varyInvalidated() async throws {
        f.respond(["Cache-Control": "max-age=100", "Vary": "Foo"])
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1")
        f.time.advance(by: .seconds(1))
        #expect(try await f.text(get("v", method: .post)) == "2")
        f.time.advance(by: .seconds(1))
        #expect(try await f.text(get("v", ["Foo": "2"])) == "3")
        #expect(try await f.text(get("v", ["Foo": "1"])) == "4")
    }

    @Test("credentials and partitions separate responses, and only their hashes are stored")
    func owners() async throws {
        f.respond(["Cache-Control": "max-age=100"])
        #expect(try await f.text(get("a", ["Authorization": "A"])) == "1")
        #expect(try await f.text(get("a", ["Authorization": "B"])) == "2")
        #expect(try await f.text(get("a")) == "3")
        #expect(try await f.text(get("a", ["Authorization": "A"])) == "1")
        var mine = Get("a", .http(partition: "me"))
        #expect(try await f.text(mine) == "4")
        mine.headers = ["Authorization": "renewed"]
        #expect(try await f.text(mine) == "4")
        // An unsafe request removes all of them, with any credentials.
        #expect(try await f.text(get("a", method: .put)) == "5")
        #expect(try await f.text(get("a", ["Authorization": "A"])) == "6")
        #expect(try await f.text(mine) == "7")
        #expect(try await f.text(get("a")) == "8")
    }

    @Test(
        "unsafe methods that succeed invalidate the URL, Location and Content-Location of the same origin (section 4.4)"
    )
    func invalidation() async throws {
        let status = Mutex(200)
        let count = Counter()
        f.stub.on("*") { request in
            if request.method == .get {
                return StubResponse.text("\(count.increment())").header("Cache-Control", "max-age=100")
            }
            return StubResponse.status(status.withLock { $0 }).header("Location", "/b")
                .header("Content-Location", "https://other.com/c")
        }
        struct Plain: Request {
            var method: HTTPMethod
            var path: String { "a" }
            var acceptableStatuses: StatusCodes { .any }
        }
        for path in ["a", "b", "c"] { _ = try await f.text(get(path)) }
        status.withLock { $0 = 500 }
        _ = try await f.agent.send(Plain(method: .delete))
        #expect(try await f.text(get("a")) == "1")
        status.withLock { $0 = 204 }
        _ = try await f.agent.send(Plain(method: "M-SEARCH"))
        #expect(try await f.text(get("a")) == "4")
        #expect(try await f.text(get("b")) == "5")
        #expect(try await f.text(get("c")) == "3")
    }

    @Test("the response to a POST that allows it serves a GET")
    func post() async throws {
        f.respond(["Cache-Control": "max-age=100", "Content-Location": "/a"])
        #expect(try await f.text(get("a", method: .post)) == "1")
        #expect(try await f.text(get("a")) == "1")
    }

    @Test("only-if-cached and the cache-only modes don't send a request (section 5.2.1.7)")
    func onlyIfCached() async throws {
        f.respond(["Cache-Control": "max-age=10"])
        #expect(try await f.response(get("a", ["Cache-Control": "only-if-cached"])).status == 504)
        await #expect(throws: CacheMiss.self) { try await f.text(get("a"), .cacheOnly) }
        await #expect(throws: CacheMiss.self) { try await f.text(get("a", method: .post), .cacheOnly) }
        #expect(f.sent == 0)
        _ = try await f.text(get("a"))
        #expect(try await f.response(get("a", ["Cache-Control": "only-if-cached"])).status == 200)
        #expect(try await f.text(get("a"), .cacheOnly) == "1")
        f.time.advance(by: .seconds(11))
        #expect(try await f.response(get("a", ["Cache-Control": "only-if-cached"])).status == 504)
        await #expect(throws: CacheMiss.self) { try await f.text(get("a"), .cacheOnly) }
        #expect(try await f.text(get("a"), .cacheOnlyIncludingStale) == "1")
        #expect(f.sent == 1)
    }

    @Test("only-if-cached doesn't send a request, even if the stored response is damaged")
    func onlyIfCachedDamaged() async throws {
        let f = Fixture(BadURLStore())
        f.respond(["Cache-Control": "max-age=10"])
        _ = try await f.text(get("a"))
        await f.cache.flush()
        #expect(try await f.response(get("a", ["Cache-Control": "only-if-cached"])).status == 504)
        #expect(f.sent == 1)
    }

    @Test("a HEAD is served from a stored GET, and its own response updates that (section 4.3.5)")
    func head() async throws {
        f.respond(["Cache-Control": "max-age=10", "ETag": "\"a\""])
        #expect(try await f.text(get("a")) == "1")
        let head = try await f.response(get("a", method: .head))
        #expect(head.source.isCache && head.data.isEmpty && head.status == 200)
        f.time.advance(by: .seconds(11))
        #expect(try await f.response(get("a", method: .head)).source == .network)
        #expect(try await f.text(get("a")) == "1")
        f.time.advance(by: .seconds(11))
        f.respond(["Cache-Control": "max-age=10", "ETag": "\"b\""])
        _ = try await f.response(get("a", method: .head))
        #expect(try await f.agent.cached(get("a"), includingStale: true) == nil)
    }

    @Test(
        "the caller's own conditions are evaluated against a fresh response, and passed on if it's stale (section 4.3.2)"
    )
    func conditions() async throws {
        f.stub.on("*") { request in
            StubResponse(
                status: request.headers["If-None-Match"] == "\"a\"" ? 304 : 200,
                headers: ["ETag": "\"a\"", "Cache-Control": "max-age=10"],
                body: request.headers["If-None-Match"] == "\"a\"" ? Data() : Data("body".utf8))
        }
        #expect(try await f.response(get("a", ["If-None-Match": "\"a\""])).status == 304)
        _ = try await f.text(get("a"))
        let hit = try await f.response(get("a", ["If-None-Match": "\"x\", W/\"a\""]))
        #expect(hit.status == 304 && hit.source.isCache && hit.data.isEmpty && hit.headers["ETag"] == "\"a\"")
        #expect(try await f.text(get("a", ["If-None-Match": "\"x\""])) == "body")
        #expect(f.sent == 2)
        f.time.advance(by: .seconds(11))
        #expect(try await f.response(get("a", ["If-None-Match": "\"a\""])).source == .network)
        #expect(try await f.response(get("a")).source.isCache)
        #expect(f.sent == 3)
    }

    @Test(
        "a range is cut from a complete response, and a partial response isn't stored (section 3.3, RFC 9110, section 14)"
    )
    func ranges() async throws {
        f.stub.on("*") { request in
            if request.headers.contains("Range") {
                return StubResponse(
                    status: 206, headers: ["Content-Range": "bytes 0-1/10", "Cache-Control": "max-age=9"],
                    body: Data("01".utf8))
            }
            return StubResponse.text("0123456789").header("Cache-Control", "max-age=9").header("ETag", "\"a\"")
        }
        for _ in 0..<2 { #expect(try await f.response(get("a", ["Range": "bytes=0-1"])).status == 206) }
        #expect(f.sent == 2)
        _ = try await f.text(get("a"))
        let part = try await f.response(get("a", ["Range": "bytes=3-5"]))
        #expect(part.status == 206 && part.data == Data("345".utf8))
        #expect(part.headers["Content-Range"] == "bytes 3-5/10" && part.headers["Content-Length"] == "3")
        #expect(try await f.text(get("a", ["Range": "bytes=-2"])) == "89")
        #expect(try await f.text(get("a", ["Range": "bytes=0-1", "If-Range": "\"b\""])) == "0123456789")
        #expect(f.sent == 3)
        _ = try await f.text(get("a", ["Range": "bytes=50-"]))
        #expect(f.sent == 4)
    }

    @Test("stale-while-revalidate serves the stored response at once and validates afterwards (RFC 5861, section 3)")
    func staleWhileRevalidate() async throws {
        f.respond(["Cache-Control": "max-age=10, stale-while-revalidate=60"])
        #expect(try await f.text(get("a")) == "1")
        f.time.advance(by: .seconds(20))
        let stale = try await f.response(get("a"))
        #expect(stale.data == Data("1".utf8) && stale.source.reason?.contains("stale-while-revalidate") == true)
        try await eventually { f.notes.background.withLock { $0 } == 1 }
        #expect(try await f.text(get("a")) == "2")
        #expect(f.sent == 2)
    }

    @Test(
        "if the server fails, a stale response is served if it or the app allows (RFC 5861, section 4, section 4.2.4)"
    )
    func staleIfError() async throws {
        let header = Mutex("max-age=5, stale-if-error=60")
        let isDown = Mutex(0)
        f.stub.on("*") { _ in
            switch isDown.withLock({ $0 }) {
            case 1: return .status(503)
            case 2: return .failure(ErrandError(.connectionLost, "gone"))
            default: return StubResponse.text("good").header("Cache-Control", header.withLock { $0 })
            }
        }
        _ = try await f.text(get("allowed"))
        header.withLock { $0 = "max-age=5" }
        _ = try await f.text(get("silent"))
        header.withLock { $0 = "max-age=5, must-revalidate" }
        _ = try await f.text(get("strict"))
        f.time.advance(by: .seconds(10))
        for down in 1...2 {
            isDown.withLock { $0 = down }
            #expect(try await f.text(get("allowed")) == "good")
            #expect(try await f.text(Get("silent", .http(staleIfError: .seconds(60)))) == "good")
            #expect(try await f.text(get("silent"), .staleIfError) == "good")
        }
        isDown.withLock { $0 = 1 }
        #expect(try await f.response(get("silent")).status == 503)
        #expect(try await f.response(get("strict"), .staleIfError).status == 503)
        isDown.withLock { $0 = 2 }
        await #expect(throws: ErrandError.self) { try await f.text(get("silent")) }
        await #expect(throws: ErrandError.self) {
            try await f.text(Get("strict", .http(staleIfError: .seconds(60))))
        }
    }

    @Test("redirects and errors are stored as responses of their own URLs, and each hop has its own key")
    func redirects() async throws {
        let count = Counter()
        f.stub.on("/old") { _ in
            StubResponse.redirect(to: "/new", status: 301).header("Cache-Control", "max-age=100").header(
                "N", "\(count.increment())")
        }
        f.stub.on("/new", response: StubResponse.text("here").header("Cache-Control", "max-age=5"))
        f.stub.on("/none", response: StubResponse.text("no", status: 404).header("Cache-Control", "max-age=5"))
        #expect(try await f.text(get("old")) == "here")
        #expect(try await f.text(get("old")) == "here")
        #expect(f.sent == 2)
        f.time.advance(by: .seconds(6))
        #expect(try await f.text(get("old")) == "here")
        #expect(f.sent == 3 && f.stub.received.last?.url.path == "/new")
        for _ in 0..<2 { #expect(try await f.response(get("none")).status == 404) }
        #expect(f.sent == 4)
    }

    @Test("the key is the ResourceURL that filters set, on the first hop only")
    func keyURL() async throws {
        let f = Fixture(before: [Stamp()])
        f.stub.on("/a", response: StubResponse.redirect(to: "/b").header("Cache-Control", "max-age=100"))
        f.stub.on("/b", response: StubResponse.text("b").header("Cache-Control", "max-age=100"))
        for _ in 0..<2 { #expect(try await f.text(get("a")) == "b") }
        #expect(f.sent == 2)
    }

    @Test("no-store in a request or response prevents storing and serving the response (section 5.2)")
    func noStore() async throws {
        f.respond(["Cache-Control": "max-age=100"])
        #expect(try await f.text(get("a", ["Cache-Control": "no-store"])) == "1")
        #expect(try await f.text(get("a")) == "2")
        #expect(try await f.text(get("a", ["Cache-Control": "no-store"])) == "3")
        f.respond(["Cache-Control": "no-store"])
        #expect(try await f.text(get("b")) == "1")
        #expect(try await f.text(get("b")) == "2")
    }

    @Test("a request without its own policy uses the agent's")
    func standardPolicy() async throws {
        struct Plain: Request { var path: String { "a" } }
        let f = Fixture(policy: .http)
        f.respond(["Cache-Control": "max-age=100"])
        _ = try await f.agent.send(Plain())
        #expect(try await f.agent.send(Plain()).http.source.isCache)
    }

    @Test("a streamed body, or a part of it, is stored and served as a stream")
    func streams() async throws {
        struct Stream: CacheableRequest {
            typealias Output = HTTPBody
            var headers: HTTPHeaders = [:]
            var path: String { "s" }
            var cachePolicy: CachePolicy { .http }
        }
        let directory = TemporaryDirectory()
        let f = Fixture(DiskStore(at: directory.url))
        let chunks = (0..<30).map { Data(repeating: UInt8($0), count: 100_000) }
        let response = StubResponse.chunks(chunks).header("Cache-Control", "max-age=5").header("ETag", "\"a\"")
        f.stub.on("*") { $0.headers.contains("If-None-Match") ? .status(304) : response }
        let all = chunks.reduce(Data(), +)
        func read(_ request: Stream) async throws -> Data {
            try await f.agent.send(request).value.collect(upTo: 1 << 24)
        }
        for _ in 0..<2 {
            #expect(try await read(Stream()) == all)
            await f.cache.flush()
        }
        #expect(f.sent == 1)
        #expect(try await read(Stream(headers: ["Range": "bytes=99999-2000000"])) == all[99_999...2_000_000])
        f.time.advance(by: .seconds(6))
        #expect(try await read(Stream()) == all)
        await f.cache.flush()
        #expect(try await read(Stream()) == all)
        #expect(f.sent == 2)
    }
}

@Suite("Where the app and the server disagree", .endsInTime, .leakChecked)
struct PrecedenceTests {
    private static let policies: [CachePolicy] = [.timed(.seconds(60)), .http, .timed(.seconds(60)).and(.http)]
    /// Whether each policy serves a second request from the cache after 10 seconds.
    private static let rows: [(String, HTTPHeaders, Int, [Bool])] = [
        ("fresh for an hour", ["Cache-Control": "max-age=3600"], 200, [true, true, true]),
        ("no-store", ["Cache-Control": "no-store"], 200, [true, false, true]),
        ("no-cache", ["Cache-Control": "no-cache"], 200, [true, false, true]),
        ("stale", ["Cache-Control": "max-age=5"], 200, [true, false, true]),
        ("stale and must-revalidate", ["Cache-Control": "max-age=5, must-revalidate"], 200, [true, false, true]),
        ("no word", [:], 200, [true, false, true]), ("Vary: *", ["Vary": "*"], 200, [true, false, true]),
        ("a fresh 404, not accepted", ["Cache-Control": "max-age=3600"], 404, [false, true, true]),
    ]

    @Test("every cell of the table in docs/cache.md is correct", arguments: rows.indices, policies.indices)
    func cell(row: Int, policy: Int) async throws {
        let (name, headers, status, expected) = Self.rows[row]
        let f = Fixture()
        f.respond(headers, status: status)
        var get = Get("feed", Self.policies[policy])
        get.acceptableStatuses = .successful
        _ = try? await f.text(get)
        f.time.advance(by: .seconds(10))
        _ = try? await f.text(get)
        #expect((f.sent == 1) == expected[policy], "\(name)")
    }

    @Test("after the app's lifetime, the combined policy validates with the server")
    func both() async throws {
        let f = Fixture()
        f.stub.on("*") { request in
            request.headers.contains("If-None-Match")
                ? .status(304) : StubResponse.text("body").header("ETag", "\"a\"").header("Cache-Control", "no-cache")
        }
        let get = Get("feed", .timed(.seconds(60)).and(.http))
        #expect(try await f.text(get) == "body")
        f.time.advance(by: .seconds(61))
        #expect(try await f.text(get) == "body")
        #expect(f.sent == 2)
        #expect(try await f.text(get) == "body")
        #expect(f.sent == 2)
    }
}
