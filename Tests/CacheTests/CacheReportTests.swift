import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Mistakes that users of other caches reported; the reports are in Tests/Lessons.md.
@Suite("Mistakes of other caches", .endsInTime, .leakChecked) struct CacheReportTests {
    private func get(_ path: String = "feed", _ headers: HTTPHeaders = [:], method: HTTPMethod = .get) -> Get {
        var get = Get(path, .http)
        get.headers = headers
        get.method = method
        return get
    }

    @Test(
        "Cache-Control is parsed completely if its arguments are quoted",
        arguments: [
            // The lifetime counts, and the listed fields are left out.
            ("max-age=60, public, no-cache=\"Set-Cookie\"", true), ("no-cache=Set-Cookie, max-age=60", true),
            ("no-cache=\"set-cookie, x-user\", max-age=60", true), ("private=\"X-User\", max-age=60", true),
            // What a quoted argument contains isn't a directive.
            ("ext=\"a, no-store, b\", max-age=60", true), ("ext=\"a\\\", no-store\", max-age=60", true),
            ("ext=\"no-cache\", max-age=\"60\"", true), ("max-age=\"60\"", true),
            // A quotation mark that isn't closed hides nothing.
            ("max-age=60, ext=\"a, no-store", false), ("private=\"X-User, no-store, max-age=60", false),
            ("\"max-age=60, no-store", false), ("ext=\"a\\\", max-age=60", true), ("max-age=60, ext=\"", true),
            ("ext=\"max-age=60\"", false), ("no-store, ext=\"max-age=60\"", false), ("no-cache, max-age=60", false),
            // The same in a long field, which would take too long to read if each quotation mark restarted the search.
            ("max-age=60, \"" + String(repeating: "\\\"", count: 30_000) + ", no-store", false),
        ])
    func quoted(directives: String, isFresh: Bool) async throws {
        let f = Fixture()
        f.respond(["Cache-Control": directives, "Set-Cookie": "a=1", "X-User": "7", "ETag": "\"a\""])
        _ = try await f.text(get())
        f.time.advance(by: .seconds(10))
        let second = try await f.response(get())
        #expect(second.source.isStored == isFresh && f.sent == (isFresh ? 1 : 2))
        if isFresh { #expect(!second.headers.contains(.setCookie)) }
        // A field that only shared caches must not keep is kept, because this cache has one user.
        let hidesUser = directives.contains("x-user")
        if isFresh { #expect(second.headers.contains("X-User") == !hidesUser) }
    }

    @Test(
        "a 304 doesn't change the length or the coding of the stored body",
        arguments: [
            ["Content-Length": "0"], ["Content-Length": "57"], ["Content-Encoding": "gzip"],
            ["Transfer-Encoding": "chunked"], ["Content-Range": "bytes 0-1/9"], ["Content-Encoding": "br, gzip"],
        ] as [[String: String]])
    func notModified(fields: [String: String]) async throws {
        let f = Fixture()
        f.stub.on("*") { request in
            if request.headers.contains(.ifNoneMatch) {
                var headers = HTTPHeaders(fields)
                headers["Cache-Control"] = "max-age=60"
                headers[.entityTag] = "\"a\""
                return StubResponse(status: 304, headers: headers)
            }
            return StubResponse.text("stored").header("ETag", "\"a\"").header("Cache-Control", "max-age=5")
        }
        _ = try await f.text(get())
        for seconds in [10, 1] {
            f.time.advance(by: .seconds(seconds))
            let hit = try await f.response(get())
            #expect(hit.status == 200 && hit.data == Data("stored".utf8))
            for name in fields.keys where name != "Content-Length" {
                #expect(!hit.headers.contains(HTTPHeaderName(name)))
            }
            if let length = hit.headers[.contentLength] { #expect(length == "6") }
        }
        #expect(f.sent == 2)
    }

    @Test("HEAD doesn't use a GET's body, and GET doesn't use a HEAD's missing body, in either order")
    func headAndGet() async throws {
        for order in [[HTTPMethod.head, .get, .head], [.get, .head, .get]] {
            let f = Fixture()
            f.stub.on("*") { request in
                StubResponse(
                    status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "4"],
                    body: Data((request.method == .head ? "" : "body").utf8))
            }
            for method in order {
                let response = try await f.response(get(method: method))
                #expect(response.data == Data((method == .head ? "" : "body").utf8))
                #expect(response.headers[.contentLength] == "4")
            }
        }
    }

    @Test("many requests for a stale response cause one validation in the background, and don't wait for it")
    func oneRevalidation() async throws {
        let f = Fixture()
        let (gate, time) = (Gate(), f.time)
        f.stub.on("*") { request in
            if request.headers.contains(.ifNoneMatch) { try await gate.wait() }
            return StubResponse.text(request.headers.contains(.ifNoneMatch) ? "new" : "old").header("ETag", "\"a\"")
                .header("Cache-Control", "max-age=10, stale-while-revalidate=60").header("Date", httpDate(time.date))
        }
        #expect(try await f.text(get()) == "old")
        f.time.advance(by: .seconds(20))
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await f.text(get()) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts == ["old"])
        try await gate.reached()
        gate.open()
        try await eventually { f.notes.background.withLock { $0 } == 1 }
        #expect(try await f.text(get()) == "new" && f.sent == 2)
    }

    @Test("must-revalidate doesn't keep a response from being stored and served while it is fresh")
    func mustRevalidate() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"a\""])
        for _ in 0..<3 { #expect(try await f.text(get()) == "1") }
        f.time.advance(by: .seconds(61))
        // Not even a request that accepts stale responses gets one.
        #expect(try await f.text(get("feed", ["Cache-Control": "max-stale=600"])) == "2")
        #expect(f.stub.received.last?.headers[.ifNoneMatch] == "\"a\"")
    }

    @Test("a POST's body decides about its response, and no GET gets it")
    func bodies() async throws {
        let f = Fixture()
        let count = Counter()
        f.stub.on("*") { _ in
            StubResponse.text("\(count.increment())").header("Cache-Control", "max-age=60")
        }
        var texts: [String] = []
        for text in ["a", "b", "a"] {
            var post = get(method: .post)
            post.body = .text(text)
            texts.append(try await f.text(post))
        }
        texts.append(try await f.text(get()))
        #expect(texts == ["1", "2", "3", "4"])
    }

    @Test(
        "a URL is one resource in every spelling of its origin, and a POST in one spelling invalidates it in all",
        arguments: [
            "https://EXAMPLE.com", "HTTPS://example.com", "https://example.com:443", "https://Example.com:",
            "https://example.com:0443",
        ])
    func spellings(origin: String) async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=60"])
        for (read, written) in [("feed", "\(origin)/feed"), ("\(origin)/feed", "feed")] {
            let first = try await f.text(get("feed"))
            #expect(try await f.text(get("\(origin)/feed")) == first)
            _ = try await f.text(get(written, method: .post))
            #expect(try await f.text(get(read)) != first)
        }
        var timed = Get("feed")
        let stored = try await f.text(timed)
        timed.path = "\(origin)/feed"
        #expect(try await f.text(timed) == stored)
    }

    @Test(
        "a URL that is longer than a file name, or has characters that file names can't have, is stored on disk",
        arguments: [
            "feed?q=" + String(repeating: "a", count: 5000), "57373197@300-1720981878.jpg", "a@2x.png@/..%2F..%2Fb",
            "%00.", "a:b*c%7C%0A", "caf%C3%A9/", ".",
        ])
    func longURLs(path: String) async throws {
        let directory = TemporaryDirectory()
        for sent in [1, 0] {
            let f = Fixture(.disk(at: directory.url))
            f.respond(["Cache-Control": "max-age=60"])
            #expect(try await f.text(get(path)) == "1" && f.sent == sent)
            #expect(try await f.text(get(path + "b")) == "2")
            await f.cache.flush()
        }
    }

    @Test("a response whose reader stops leaves nothing on the disk, and the next one is stored")
    func stoppedReader() async throws {
        let directory = TemporaryDirectory()
        let f = Fixture(DiskStore(at: directory.url), policy: .http)
        let chunks = (0..<30).map { Data(repeating: UInt8($0), count: 100_000) }
        f.stub.on("*", response: .chunks(chunks).header("Cache-Control", "max-age=60"))
        let call = Call<HTTPBody>(.get, "s")
        do {
            var reader = try await f.agent.send(call).value.makeAsyncIterator()
            #expect(try await reader.next() != nil)
        }
        await f.cache.flush()
        let files = FileManager.default.enumerator(at: directory.url, includingPropertiesForKeys: [.fileSizeKey])
        let sizes = try files?.compactMap { try ($0 as? URL)?.resourceValues(forKeys: [.fileSizeKey]).fileSize }
        #expect((sizes ?? []).allSatisfy { $0 < 50_000 }, "\(sizes ?? [])")
        for _ in 0..<2 {
            #expect(try await f.agent.send(call).value.collect(upTo: 1 << 24) == chunks.reduce(Data(), +))
            await f.cache.flush()
        }
        #expect(f.sent == 2)
    }

    @Test("after a background validation that failed, the stale response is still served, and the next one renews it")
    func failedInBackground() async throws {
        let f = Fixture()
        let isDown = Mutex(false)
        let (time, count) = (f.time, Counter())
        f.stub.on("*") { _ in
            if isDown.withLock({ $0 }) { return .failure(ErrandError(.connectionLost, "gone")) }
            return StubResponse.text("\(count.increment())").header("Date", httpDate(time.date))
                .header("Cache-Control", "max-age=10, stale-while-revalidate=600")
        }
        #expect(try await f.text(get()) == "1")
        for round in 1...3 {
            f.time.advance(by: .seconds(20))
            isDown.withLock { $0 = round < 3 }
            #expect(try await f.text(get()) == "1")
            try await eventually { f.notes.background.withLock { $0 } == round }
        }
        #expect(try await f.text(get()) == "2" && f.sent == 4)
    }

    @Test("a response that is accepted at any age is served without a network, also after a request has failed")
    func offline() async throws {
        let f = Fixture()
        let isDown = Mutex(false)
        f.stub.on("*") { _ in
            if isDown.withLock({ $0 }) { return .failure(ErrandError(.cannotConnect, "offline")) }
            return StubResponse.text("stored").header("Cache-Control", "max-age=0").header("ETag", "1632346287")
        }
        let offline = get("feed", ["Cache-Control": "only-if-cached, max-stale=7776000"])
        _ = try await f.text(get())
        #expect(try await f.text(offline) == "stored" && f.sent == 1)
        isDown.withLock { $0 = true }
        f.time.advance(by: .seconds(60))
        await #expect(throws: ErrandError.self) { try await f.text(get()) }
        for _ in 0..<2 { #expect(try await f.text(offline) == "stored" && f.sent == 2) }
    }

    @Test(
        "a request that forbids sending isn't sent, even if it also demands a validation",
        arguments: ["only-if-cached, no-cache", "no-cache, only-if-cached", "only-if-cached, max-age=0"])
    func contradiction(directives: String) async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=60", "ETag": "\"a\""])
        _ = try await f.text(get())
        #expect(try await f.response(get("feed", ["Cache-Control": directives])).status == 504 && f.sent == 1)
    }

    @Test("a 200 to a validation comes from the network, and has no Age of the response that it replaces")
    func newResponse() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=10"])
        _ = try await f.text(get())
        f.time.advance(by: .seconds(5))
        #expect(try await f.response(get()).headers[.age] == "5")
        f.time.advance(by: .seconds(8))
        let new = try await f.response(get())
        #expect(new.data == Data("2".utf8) && !new.headers.contains(.age) && !new.source.isStored)
        f.time.advance(by: .seconds(1))
        #expect(try await f.response(get()).headers[.age] == "1")
    }

    @Test("a store works after all its entries were removed, in memory and on disk", arguments: [false, true])
    func afterRemoval(isOnDisk: Bool) async throws {
        let directory = TemporaryDirectory()
        let store: any CacheStore = isOnDisk ? DiskStore(at: directory.url) : MemoryStore()
        let f = Fixture(store)
        f.respond(["Cache-Control": "max-age=60"])
        for round in 1...3 {
            for _ in 0..<2 { #expect(try await f.text(get()) == "\(round)") }
            await f.cache.flush()
            try await store.removeAll { _ in true }
        }
    }

    @Test("a 304 without fields of its own renews the response for the lifetime that it was stored with")
    func bareConfirmation() async throws {
        let f = Fixture()
        f.stub.on("*") { request in
            request.headers.contains("If-None-Match")
                ? .status(304)
                : StubResponse.text("body").header("Cache-Control", "max-age=100").header("ETag", "\"a\"")
        }
        for round in 1...3 {
            for _ in 0..<2 { #expect(try await f.text(Get("a", .http)) == "body") }
            #expect(f.sent == round)
            f.time.advance(by: .seconds(99))
            #expect(try await f.text(Get("a", .http)) == "body")
            #expect(f.sent == round)
            f.time.advance(by: .seconds(2))
        }
    }

    @Test("once a resource has gone, a later failure of its server doesn't bring an older response back")
    func goneThenDown() async throws {
        for gone in [StubResponse.status(404), .status(410), .text("new").header("Cache-Control", "no-store")] {
            let f = Fixture()
            f.stub.on(
                "/a",
                response: StubResponse.text("old").header("Cache-Control", "max-age=1, stale-if-error=1000"), gone,
                .status(503))
            #expect(try await f.text(Get("a", .http)) == "old")
            f.time.advance(by: .seconds(5))
            _ = try await f.text(Get("a", .http))
            #expect(try await f.response(Get("a", .http)).status == 503, "\(gone)")
        }
    }

    @Test(
        "a 304 to a request without conditions isn't stored, and doesn't become a success",
        arguments: [CachePolicy.http, .timed(.seconds(60))])
    func unaskedNotModified(policy: CachePolicy) async throws {
        let f = Fixture()
        let count = Counter()
        f.stub.on("*") { request in
            #expect(!request.headers.contains(.ifNoneMatch) && !request.headers.contains(.ifModifiedSince))
            guard count.increment() > 1 else {
                return StubResponse(status: 304, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
            }
            return StubResponse.text("body").header("Cache-Control", "max-age=60").header("ETag", "\"a\"")
        }
        #expect(try await f.response(Get("a", policy)).status == 304)
        #expect(try await f.text(Get("a", policy)) == "body")
        #expect(try await f.text(Get("a", policy)) == "body")
        #expect(f.sent == 2)
    }

    @Test(
        "a timed entry has no response that depends on a condition or a range that its key doesn't contain",
        arguments: [
            (304, ["If-None-Match": "\"a\""], nil), (412, ["If-Match": "\"a\""], nil), (417, ["Expect": "x"], nil),
            (206, ["Range": "bytes=0-1"], "film"), (416, ["Range": "bytes=9-"], "film"), (206, [:], nil),
        ] as [(Int, [String: String], String?)], [false, true])
    func dependent(of one: (status: Int, headers: [String: String], name: String?), reloads: Bool) async throws {
        let f = Fixture()
        let asked = HTTPHeaders(one.headers)
        let count = Counter()
        f.stub.on("*") { request in
            let isFirst = count.increment() == 1
            return isFirst ? StubResponse(status: one.status, body: Data("part".utf8)) : .text("whole")
        }
        var get = Get("a", .timed(.seconds(60)))
        get.headers = asked
        if let name = one.name { get.cacheKey = .named(name) }
        #expect(try await f.response(get, reloads ? .reload : .standard).status == one.status)
        get.headers = [:]
        #expect(try await f.text(get) == "whole")
        #expect(try await f.text(get) == "whole")
        #expect(f.sent == 2)
    }

    @Test("a part is stored for requests with the same range only")
    func parts() async throws {
        let f = Fixture()
        f.stub.on("*") { request in
            request.headers.contains(.range) ? StubResponse(status: 206, body: Data("part".utf8)) : .text("whole")
        }
        var get = Get("a", .timed(.seconds(60)))
        for _ in 0..<2 {
            get.headers = ["Range": "bytes=0-3"]
            #expect(try await f.text(get) == "part")
            get.headers = [:]
            #expect(try await f.text(get) == "whole")
        }
        #expect(f.sent == 2)
    }

    @Test(
        "a stale response replaces a failure of the server, and no other response",
        arguments: [
            (500, true), (502, true), (503, true), (504, true), (501, false), (505, false), (400, false), (401, false),
            (403, false), (404, false), (408, false), (410, false), (429, false),
        ])
    func staleStatuses(status: Int, isReplaced: Bool) async throws {
        let f = Fixture()
        let (count, time) = (Counter(), f.time)
        f.stub.on("*") { _ in
            guard count.increment() == 1 else { return .text("gone", status: status) }
            return StubResponse.text("body").header("Cache-Control", "max-age=60, stale-if-error=86400")
                .header("ETag", "\"a\"").header("Date", httpDate(time.date))
        }
        #expect(try await f.text(get()) == "body")
        f.time.advance(by: .seconds(100))
        let response = try await f.response(get())
        #expect(response.status == (isReplaced ? 200 : status) && f.sent == 2)
        #expect(response.data == Data((isReplaced ? "body" : "gone").utf8))
    }

    @Test("a redirect isn't replaced by a stale response: it's followed")
    func staleRedirect() async throws {
        let f = Fixture()
        let (count, time) = (Counter(), f.time)
        f.stub.on("/feed") { _ in
            guard count.increment() == 1 else { return .redirect(to: "/new", status: 301) }
            return StubResponse.text("old").header("Cache-Control", "max-age=60, stale-if-error=86400")
                .header("Date", httpDate(time.date))
        }
        f.stub.on("/new", response: .text("new"))
        #expect(try await f.text(get()) == "old")
        f.time.advance(by: .seconds(100))
        #expect(try await f.text(get()) == "new")
    }
}
