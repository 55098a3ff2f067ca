import Errand
import ErrandCache
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("How long a response stays fresh, over several validations", .endsInTime, .leakChecked)
struct FreshnessTests {
    private func get(_ path: String = "feed", _ headers: HTTPHeaders = [:]) -> Get {
        var get = Get(path, .http)
        get.headers = headers
        return get
    }

    /// Responds 304 to each conditional request.
    private func respond(_ f: Fixture, first: HTTPHeaders, later: HTTPHeaders) {
        let time = f.time
        f.stub.on("*") { request in
            let isConditional = request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
            var headers: HTTPHeaders = ["Date": httpDate(time.date), "ETag": "\"a\""]
            headers.merge(isConditional ? later : first)
            return StubResponse(status: isConditional ? 304 : 200, headers: headers, body: Data())
        }
    }

    @Test("an Age from before a 304 isn't the age of the renewed response")
    func renewedAge() async throws {
        let f = Fixture()
        respond(f, first: ["Cache-Control": "max-age=150", "Age": "100"], later: ["Cache-Control": "max-age=150"])
        _ = try await f.text(get())
        f.time.advance(by: .seconds(60))
        _ = try await f.text(get())
        f.time.advance(by: .seconds(149))
        let hit = try await f.response(get())
        #expect(f.sent == 2 && hit.headers.values(of: "Age") == ["149"])
        f.time.advance(by: .seconds(1))
        _ = try await f.text(get())
        #expect(f.sent == 3)
    }

    @Test("100 requests, one a second, for a response that is fresh for 50 seconds send two, in memory and on disk")
    func hundred() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fresh-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for store in [MemoryStore(), DiskStore(at: folder)] as [any CacheStore] {
            let f = Fixture(store)
            respond(f, first: ["Cache-Control": "max-age=50"], later: ["Cache-Control": "max-age=50"])
            for _ in 0..<100 {
                _ = try await f.text(get())
                f.time.advance(by: .seconds(1))
            }
            #expect(f.sent == 2)
        }
    }

    @Test("a response that isn't stored keeps its own Age")
    func passedAge() async throws {
        let f = Fixture()
        respond(f, first: ["Cache-Control": "no-store", "Age": "100"], later: [:])
        for _ in 0..<2 {
            f.time.advance(by: .seconds(5))
            #expect(try await f.response(get()).headers.values(of: "Age") == ["100"])
        }
        #expect(f.sent == 2)
    }

    @Test("a stored response keeps the Date of its origin, and its Age grows")
    func originDate() async throws {
        let f = Fixture()
        let date = httpDate(f.time.date)
        respond(f, first: ["Cache-Control": "max-age=150"], later: [:])
        _ = try await f.text(get())
        f.time.advance(by: .seconds(60))
        let hit = try await f.response(get())
        #expect(hit.headers[.date] == date && hit.headers.values(of: "Age") == ["60"] && f.sent == 1)
    }

    @Test("an Expires in a 304 counts from the Date of the 304")
    func renewedExpires() async throws {
        let f = Fixture()
        let start = f.time.date
        let time = f.time
        f.stub.on("*") { request in
            let headers: HTTPHeaders = [
                "Date": httpDate(time.date), "Expires": httpDate(time.date + 30), "Last-Modified": httpDate(start - 9),
            ]
            return StubResponse(status: request.headers.contains(.ifModifiedSince) ? 304 : 200, headers: headers)
        }
        for second in 0..<90 {
            _ = try await f.text(get())
            #expect(f.sent == second / 30 + 1)
            f.time.advance(by: .seconds(1))
        }
    }

    @Test("a 200 to a validation replaces the stored response, and the next validation has the new tag")
    func replaced() async throws {
        let f = Fixture()
        let tag = Mutex("\"a\"")
        f.stub.on("*") { request in
            let current = tag.withLock { $0 }
            if request.headers["If-None-Match"] == current {
                return StubResponse(status: 304, headers: ["ETag": current])
            }
            return StubResponse.text(current).header("ETag", current).header("Cache-Control", "public, max-age=0")
        }
        var texts: [String] = []
        for round in 0..<5 {
            if round == 2 { tag.withLock { $0 = "\"b\"" } }
            texts.append(try await f.text(get()))
        }
        #expect(texts == ["\"a\"", "\"a\"", "\"b\"", "\"b\"", "\"b\""])
        #expect(
            f.stub.received.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", "\"a\"", "\"b\"", "\"b\""])
    }

    @Test("a response with must-revalidate is served while it is fresh, but never when stale, even with max-stale")
    func mustRevalidate() async throws {
        let f = Fixture()
        let isDown = Mutex(false)
        f.stub.on("*") { _ in
            if isDown.withLock({ $0 }) { return .failure(ErrandError(.connectionLost, "gone")) }
            return StubResponse.text("ok").header("Cache-Control", "max-age=10, must-revalidate")
        }
        let request = get("feed", ["Cache-Control": "max-stale=1000"])
        _ = try await f.text(request)
        f.time.advance(by: .seconds(9))
        isDown.withLock { $0 = true }
        #expect(try await f.text(request) == "ok" && f.sent == 1)
        f.time.advance(by: .seconds(1))
        await #expect(throws: ErrandError.self) { try await f.text(request) }
        #expect(f.sent == 2)
    }

    @Test("a response without ETag and Last-Modified is fetched without conditions: a Date isn't a validator")
    func noValidator() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=10"])
        _ = try await f.text(get())
        f.time.advance(by: .seconds(20))
        #expect(try await f.text(get()) == "2")
        let conditions: [HTTPHeaderName] = [.ifModifiedSince, .ifNoneMatch, .ifUnmodifiedSince]
        #expect(f.stub.received.allSatisfy { request in !conditions.contains { request.headers.contains($0) } })
    }

    @Test("a response with a lifetime of zero isn't served after the clock was set back, by however little")
    func clockSetBack() async throws {
        for seconds in [1.0, 30, 59, 61, 86_400] {
            let f = Fixture()
            f.respond()
            _ = try await f.text(get())
            f.time.date -= seconds
            #expect(try await f.text(get()) == "2", "\(seconds)")
        }
    }

    @Test("a Date in the future doesn't extend a response's freshness beyond its lifetime")
    func dateInFuture() async throws {
        for ahead in [60.0, 86_400, 1e9] {
            let f = Fixture()
            f.respond(["Cache-Control": "max-age=10", "Date": httpDate(f.time.date + ahead)])
            _ = try await f.text(get("age"))
            f.time.advance(by: .seconds(9))
            #expect(try await f.text(get("age")) == "1")
            f.time.advance(by: .seconds(1))
            #expect(try await f.text(get("age")) == "2", "\(ahead)")
            let late = f.time.date + ahead
            f.respond(["Expires": httpDate(late + 10), "Date": httpDate(late)])
            _ = try await f.text(get("expires"))
            f.time.advance(by: .seconds(10))
            #expect(try await f.text(get("expires")) == "2", "\(ahead)")
        }
    }

    @Test("a request's max-age accepts a response of exactly that age, but no older response")
    func requestedAge() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        let request = get("feed", ["Cache-Control": "max-age=20"])
        _ = try await f.text(request)
        f.time.advance(by: .seconds(20))
        #expect(try await f.text(request) == "1")
        f.time.advance(by: .seconds(1))
        #expect(try await f.text(request) == "2")
    }

    @Test("s-maxage is for shared caches: it has no effect, alone or next to max-age")
    func sharedAge() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "s-maxage=0, max-age=60"])
        for _ in 0..<2 { #expect(try await f.text(get("both")) == "1") }
        f.respond(["Cache-Control": "s-maxage=600"])
        _ = try await f.text(get("alone"))
        #expect(try await f.text(get("alone")) == "2")
        f.respond(["Cache-Control": "s-maxage=5, max-age=10"])
        _ = try await f.text(get("stale"))
        f.time.advance(by: .seconds(15))
        #expect(try await f.text(get("stale", ["Cache-Control": "max-stale=60"])) == "1")
    }

    @Test(
        "a redirect is kept if its server sends a lifetime, and requested again otherwise",
        arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let f = Fixture()
        f.respond()
        f.stub.on("/kept") { _ in .redirect(to: "/there", status: status).header("Cache-Control", "max-age=100") }
        f.stub.on("/asked") { _ in .redirect(to: "/there", status: status) }
        f.stub.on("/refused") { _ in
            .redirect(to: "/there", status: status).header("Cache-Control", "no-cache, no-store")
        }
        for path in ["kept", "asked", "refused"] {
            for _ in 0..<2 { _ = try await f.text(get(path)) }
        }
        let paths = f.stub.received.map(\.url.path)
        #expect(paths.count { $0 == "/kept" } == 1)
        #expect(paths.count { $0 == "/asked" } == 2 && paths.count { $0 == "/refused" } == 2)
    }
}

@Suite("Choice of the variant that is served and renewed", .endsInTime, .leakChecked) struct VariantTests {
    private func get(_ path: String = "feed", _ headers: HTTPHeaders = [:]) -> Get {
        var get = Get(path, .http)
        get.headers = headers
        return get
    }

    /// Responds with the value of the header `Foo`, and 304 with these fields to conditional requests.
    private func respond(_ f: Fixture, _ cacheControl: String, notModified: HTTPHeaders) {
        f.stub.on("*") { request in
            let value = request.headers["Foo"] ?? "none"
            if request.headers.contains(.ifNoneMatch) {
                var headers: HTTPHeaders = ["ETag": "\"\(value)\"", "Cache-Control": "max-age=100"]
                headers.merge(notModified)
                return StubResponse(status: 304, headers: headers)
            }
            return StubResponse.text(value).header("ETag", "\"\(value)\"").header("Vary", "Foo")
                .header("Cache-Control", cacheControl)
        }
    }

    @Test("a 304 without a Vary keeps the variants apart")
    func withoutVary() async throws {
        let f = Fixture()
        respond(f, "max-age=5", notModified: [:])
        _ = try await f.text(get("v", ["Foo": "1"]))
        f.time.advance(by: .seconds(6))
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1")
        #expect(try await f.text(get("v", ["Foo": "2"])) == "2")
        #expect(try await f.text(get("v")) == "none")
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1" && f.sent == 4)
    }

    @Test("if a 304's Vary names another field, the renewed response isn't served to requests that differ in it")
    func otherVary() async throws {
        for vary in ["Foo, Bar", "Bar", "*"] {
            let f = Fixture()
            respond(f, "max-age=5", notModified: ["Vary": vary])
            _ = try await f.text(get("v", ["Foo": "1", "Bar": "1"]))
            f.time.advance(by: .seconds(6))
            _ = try await f.text(get("v", ["Foo": "1", "Bar": "1"]))
            #expect(f.sent == 2)
            #expect(try await f.text(get("v", ["Foo": "1", "Bar": "2"])) == "1")
            #expect(f.sent == 3, "\(vary)")
        }
    }

    @Test("a mode that accepts a response of any age doesn't accept another variant")
    func otherVariantAtAnyAge() async throws {
        let f = Fixture()
        respond(f, "max-age=5", notModified: [:])
        _ = try await f.text(get("v", ["Foo": "1"]))
        f.time.advance(by: .seconds(1000))
        #expect(try await f.text(get("v", ["Foo": "2"]), .preferCache) == "2" && f.sent == 2)
        #expect(try await f.text(get("v"), .preferCache) == "none" && f.sent == 3)
        #expect(try await f.text(get("v", ["Foo": "1"]), .preferCache) == "1" && f.sent == 3)
    }

    @Test("a background validation requests the variant that was served, and renews only that variant")
    func inBackground() async throws {
        let f = Fixture()
        respond(f, "max-age=5, stale-while-revalidate=60", notModified: [:])
        _ = try await f.text(get("v", ["Foo": "1"]))
        _ = try await f.text(get("v"))
        f.time.advance(by: .seconds(6))
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1")
        try await eventually { f.notes.background.withLock { $0 } == 1 }
        #expect(f.stub.received.last?.headers["Foo"] == "1" && f.sent == 3)
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1" && f.sent == 3)
        #expect(try await f.text(get("v")) == "none")
        try await eventually { f.notes.background.withLock { $0 } == 2 }
        #expect(f.stub.received.last?.headers["Foo"] == nil && f.sent == 4)
    }

    @Test("a redirect and its target, both with a Vary, are served without sending anything")
    func redirectOffline() async throws {
        let f = Fixture()
        let fields: HTTPHeaders = ["Cache-Control": "max-age=100", "Vary": "Accept, Accept-Encoding, User-Agent"]
        f.respond(fields)
        f.stub.on(
            "/record", response: StubResponse(status: 302, headers: HTTPHeaders(fields + [.init(.location, "/7")])))
        #expect(try await f.text(get("record")) == "1")
        let offline = try await f.response(get("record"), .cacheOnly)
        #expect(offline.data == Data("1".utf8) && offline.url.path == "/7" && f.sent == 2)
        #expect(try await f.text(get("record", ["Cache-Control": "only-if-cached"])) == "1" && f.sent == 2)
    }

    @Test("a response that varies by Accept-Encoding hits although the transport has added that field and decoded it")
    func encoded() async throws {
        let (server, requests) = (try TestServer(), Counter())
        // "hello" in gzip.
        let gzip = Data([
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ])
        server.on("/a") { request in
            requests.increment()
            let isAccepted = request.headers["Accept-Encoding"]?.contains("gzip") == true
            let response = isAccepted ? TestResponse.data(gzip).header("Content-Encoding", "gzip") : .text("plain")
            return response.header("Vary", "Accept, Accept-Encoding").header("Cache-Control", "max-age=1000")
        }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [ResponseCache(MemoryStore(), policy: .http)])
        for _ in 0..<3 { #expect(try await agent.send(get("a")).value == "hello") }
        #expect(requests.value == 1)
    }

    @Test("a caller's weak tag gets a 304 from the cache, like its strong form")
    func weakTag() async throws {
        let f = Fixture()
        for (stored, asked) in [("\"a\"", "W/\"a\""), ("W/\"a\"", "\"a\""), ("W/\"a\"", "\"x\", W/\"a\"")] {
            f.respond(["Cache-Control": "max-age=100", "ETag": stored])
            let path = "tag\(asked.utf8.count)\(stored.utf8.count)"
            _ = try await f.text(get(path))
            let count = f.sent
            #expect(try await f.response(get(path, ["If-None-Match": asked])).status == 304)
            #expect(f.sent == count)
        }
    }
}
