import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCache

@Suite("Reloading and validating", .endsInTime, .leakChecked)
struct RevalidationTests {
    private let f = Fixture()

    private func get(_ headers: HTTPHeaders = [:], _ path: String = "a") -> Get {
        var get = Get(path, .http)
        get.headers = headers
        return get
    }

    @Test("a reload validates end to end with max-age=0, like Fetch's no-cache")
    func reload() async throws {
        f.respond(["Cache-Control": "max-age=100", "ETag": "\"a\""])
        for request in [get(), Get("b", .timed(.seconds(60))), Get("c", .off)] {
            _ = try await f.text(request)
            _ = try await f.text(request, .reload)
            let sent = try #require(f.stub.received.last)
            #expect(sent.headers.values(of: "Cache-Control") == ["max-age=0"] && sent.headers["Pragma"] == nil)
            #expect(sent.headers["If-None-Match"] == (request.path == "a" ? "\"a\"" : nil))
        }
        _ = try await f.text(get(["Cache-Control": "max-age=5"]), .reload)
        #expect(f.stub.received.last?.headers.values(of: "Cache-Control") == ["max-age=5"])
    }

    @Test("reloadFromOrigin sends no-cache without validators, like Fetch's reload, and stores the response")
    func reloadFromOrigin() async throws {
        f.respond(["Cache-Control": "max-age=100, immutable, stale-if-error=1000", "ETag": "\"a\""])
        #expect(try await f.text(get()) == "1")
        #expect(try await f.text(get(), .reloadFromOrigin) == "2")
        let sent = try #require(f.stub.received.last)
        #expect(sent.headers["Cache-Control"] == "no-cache" && sent.headers["Pragma"] == "no-cache")
        #expect(!sent.headers.contains("If-None-Match"))
        #expect(try await f.text(get()) == "2")
        f.stub.on("*", response: .failure(ErrandError(.cannotConnect, "offline")))
        await #expect(throws: ErrandError.self) { try await f.text(get(), .reloadFromOrigin) }
        let timed = Fixture()
        timed.respond()
        _ = try await timed.text(Get())
        #expect(try await timed.text(Get(), .reloadFromOrigin) == "2")
        #expect(try await timed.text(Get()) == "2")
    }

    @Test("a reload doesn't validate a fresh immutable response (RFC 8246, section 2), only a stale one")
    func immutable() async throws {
        f.respond(["Cache-Control": "max-age=100, immutable", "ETag": "\"a\""])
        _ = try await f.text(get())
        #expect(try await f.response(get(), .reload).source.isCache)
        f.time.advance(by: .seconds(101))
        _ = try await f.text(get(), .reload)
        #expect(f.sent == 2 && f.stub.received.last?.headers["If-None-Match"] == "\"a\"")
    }

    @Test("a stored response is used at any age, and otherwise a request is sent, like Fetch's force-cache")
    func preferCache() async throws {
        f.respond(["Cache-Control": "max-age=1, must-revalidate"])
        for request in [get(), Get("b", .timed(.seconds(1)))] {
            let before = f.sent
            let first = try await f.text(request, .preferCache)
            f.time.advance(by: .seconds(1000))
            #expect(try await f.text(request, .preferCache) == first)
            #expect(f.sent == before + 1)
        }
    }

    private func stale(_ validated: @escaping @Sendable (HTTPRequest) -> StubResponse) async throws {
        f.stub.on("*") { request in
            request.headers.contains("If-None-Match")
                ? validated(request)
                : StubResponse.text("body").header("ETag", "\"a\"").header("Cache-Control", "max-age=5")
        }
        _ = try await f.text(get())
        f.time.advance(by: .seconds(6))
    }

    @Test("sixty-four requests for one stale entry send one conditional request", arguments: [true, false])
    func joined(isValidated: Bool) async throws {
        let gate = Gate()
        try await stale { _ in
            isValidated
                ? StubResponse.status(304).waiting(for: gate)
                : StubResponse.text("new").header("Cache-Control", "max-age=5").waiting(for: gate)
        }
        let tasks = (0..<64).map { _ in Task { try await f.response(get()) } }
        try await eventually { f.cache.sharedValidations.waitingCount == 63 }
        gate.open()
        var collapsed = 0
        for task in tasks {
            let response = try await task.value
            #expect(response.status == 200 && response.data == Data((isValidated ? "body" : "new").utf8))
            if response.source.reason?.contains("collapsed") == true { collapsed += 1 }
        }
        #expect(f.sent == 2 && collapsed == 63)
    }

    @Test(
        "a cancelled request doesn't fail requests that wait for it, and a cancelled waiting request ends immediately"
    )
    func cancelled() async throws {
        let gate = Gate()
        try await stale { _ in StubResponse.status(304).waiting(for: gate) }
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        let others = (0..<8).map { _ in Task { try await f.text(get()) } }
        try await eventually { f.cache.sharedValidations.waitingCount == 8 }
        others[0].cancel()
        await #expect { try await others[0].value } throws: { ($0 as? ErrandError)?.code == .cancelled }
        first.cancel()
        await #expect { try await first.value } throws: { ($0 as? ErrandError)?.code == .cancelled }
        try await gate.reached(by: 2)
        gate.open()
        for task in others.dropFirst() { #expect(try await task.value == "body") }
        #expect(f.sent == 3)
    }

    @Test("after a failed validation without stale-if-error, each waiting request validates itself")
    func failed() async throws {
        let (gate, count) = (Gate(), Counter())
        try await stale { _ in
            count.increment() == 1
                ? StubResponse.failure(ErrandError(.timedOut, "slow")).waiting(for: gate) : StubResponse.status(304)
        }
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        let others = (0..<8).map { _ in Task { try await f.text(get()) } }
        try await eventually { f.cache.sharedValidations.waitingCount == 8 }
        gate.open()
        await #expect { try await first.value } throws: { ($0 as? ErrandError)?.code == .timedOut }
        for task in others { #expect(try await task.value == "body") }
    }

    @Test(
        "after a failed validation, waiting requests get the stale response if stale-if-error allows it",
        arguments: [503, nil])
    func failedWithStale(status: Int?) async throws {
        let gate = Gate()
        f.stub.on("*") { request in
            guard request.headers.contains("If-None-Match") else {
                return StubResponse.text("body").header("ETag", "\"a\"")
                    .header("Cache-Control", "max-age=5, stale-if-error=1000")
            }
            let failure = status.map { StubResponse.status($0) } ?? .failure(ErrandError(.timedOut, "slow"))
            return failure.waiting(for: gate)
        }
        _ = try await f.text(get())
        f.time.advance(by: .seconds(6))
        let first = Task { try await f.response(get()) }
        try await gate.reached()
        let others = (0..<8).map { _ in Task { try await f.response(get()) } }
        try await eventually { f.cache.sharedValidations.waitingCount == 8 }
        gate.open()
        let suffix = status.map { "; fwd-status=\($0)" } ?? ""
        #expect(try await first.value.source.reason?.contains("collapsed") == false)
        for task in others {
            let response = try await task.value
            #expect(response.data == Data("body".utf8))
            let reason = response.source.reason ?? ""
            #expect(reason.contains("collapsed") && reason.contains("fwd=stale\(suffix)"), "\(reason)")
        }
        #expect(f.sent == 2)
    }

    @Test(
        "after a failed validation, a waiting request that must not get the stale response is sent",
        arguments: [
            ["Cache-Control": "max-age=60"], [:] as HTTPHeaders,
        ])
    func failedWithout(headers: HTTPHeaders) async throws {
        let (gate, count) = (Gate(), Counter())
        try await stale { _ in
            count.increment() == 1 ? StubResponse.status(503, headers: headers).waiting(for: gate) : .status(304)
        }
        // The leader and one of the others don't allow a stale response.
        let first = Task { try await f.response(get()) }
        try await gate.reached()
        let lenient = Task { try await f.response(get(["Cache-Control": "stale-if-error=1000"])) }
        try await eventually { f.cache.sharedValidations.waitingCount == 1 }
        let strict = Task { try await f.response(get()) }
        try await eventually { f.cache.sharedValidations.waitingCount == 2 }
        gate.open()
        #expect(try await first.value.status == 503)
        #expect(try await lenient.value.data == Data("body".utf8))
        // A stored failure is shared. Otherwise, the strict request is sent.
        #expect(try await strict.value.status == (headers.isEmpty ? 200 : 503))
        #expect(f.sent == (headers.isEmpty ? 3 : 2))
    }

    @Test("validations aren't shared across credentials, or with requests for another variant")
    func separate() async throws {
        let gate = Gate()
        f.stub.on("*") { request in
            let user = request.headers["Authorization"] ?? request.headers["Foo"] ?? "none"
            let response = StubResponse.text(user).header("ETag", "\"\(user)\"").header("Cache-Control", "max-age=5")
            // The new responses vary by a header that didn't distinguish the old ones.
            return request.headers.contains("If-None-Match")
                ? response.header("Vary", "Foo").waiting(for: gate) : response
        }
        let users = ["A", "B"].map { get(["Authorization": $0]) }
        for request in users + [get(["Foo": "1"])] { _ = try await f.text(request) }
        f.time.advance(by: .seconds(6))
        let all = users + [get(["Foo": "1"]), get(["Foo": "2"])]
        let tasks = all.map { request in Task { try await f.text(request) } }
        try await gate.reached(by: 3)
        try await eventually { f.cache.sharedValidations.waitingCount == 1 }
        gate.open()
        var texts: [String] = []
        for task in tasks { texts.append(try await task.value) }
        #expect(texts == ["A", "B", "1", "2"])
    }

    @Test("a request after an invalidation does not join a validation from before it")
    func afterInvalidation() async throws {
        let gate = Gate()
        let isOld = Mutex(true)
        f.stub.on("*") { request in
            if request.method == .put { return .status(200) }
            let response = StubResponse.text(isOld.withLock { $0 } ? "old" : "new").header("ETag", "\"a\"")
                .header("Cache-Control", "max-age=5")
            return request.headers.contains("If-None-Match") ? StubResponse.status(304).waiting(for: gate) : response
        }
        _ = try await f.text(get())
        f.time.advance(by: .seconds(6))
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        isOld.withLock { $0 = false }
        var put = get()
        put.method = .put
        _ = try await f.text(put)
        #expect(try await f.text(get()) == "new")
        gate.open()
        #expect(try await first.value == "old")
        #expect(try await f.text(get()) == "new")
    }

    @Test("no policy stores Set-Cookie and Set-Cookie2, not even in memory")
    func cookies() async throws {
        f.respond(["Cache-Control": "max-age=100", "Set-Cookie": "a=1", "Set-Cookie2": "b=2"])
        for request in [get(), Get("b")] {
            #expect(try await f.response(request).headers["Set-Cookie"] == "a=1")
            let stored = try await f.response(request)
            #expect(stored.source.isCache && !stored.headers.contains("Set-Cookie"))
            #expect(!stored.headers.contains("Set-Cookie2"))
        }
    }

    @Test("a call's deadline takes precedence over stale-if-error, a request's timeout doesn't")
    func deadline() async throws {
        struct Slow: CacheableRequest {
            typealias Output = String
            var path: String { "a" }
            var cachePolicy: CachePolicy { .http }
            var timeout: Duration?
            var deadline: Duration?
        }
        let gate = Gate()
        f.stub.on("*") { request in
            let response = StubResponse.text("old").header("Cache-Control", "max-age=5, stale-if-error=1000")
                .header("ETag", "\"a\"")
            return request.headers.contains("If-None-Match") ? response.waiting(for: gate) : response
        }
        _ = try await f.agent.send(Slow())
        f.time.advance(by: .seconds(6))
        let late = Task { try await f.agent.send(Slow(deadline: .seconds(1))).value }
        try await gate.reached()
        f.time.advance(by: .seconds(1))
        await #expect { try await late.value } throws: { ($0 as? ErrandError)?.code == .deadlineExceeded }
        let silent = Task { try await f.agent.send(Slow(timeout: .seconds(1))).value }
        try await gate.reached(by: 2)
        try await f.time.waitForSleepers()
        f.time.advance(by: .seconds(2))
        #expect(try await silent.value == "old")
    }

    @Test("a HEAD or a 304 of another version, or of an unknown version, doesn't renew the entry")
    func otherVersions() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let (tag, other): (HTTPHeaders, HTTPHeaders) = (["ETag": "\"a\""], ["ETag": "\"b\""])
        let modified: HTTPHeaders = ["Last-Modified": date]
        let both: HTTPHeaders = ["ETag": "\"a\"", "Last-Modified": date]
        /// The stored fields, the caller's own condition or nil for HEAD, the received fields, and whether they renew
        /// the entry.
        let cases: [(HTTPHeaders, HTTPHeaders?, HTTPHeaders, Bool)] = [
            (tag, nil, modified, false), (modified, nil, tag, false), (tag, nil, both, false), (tag, nil, other, false),
            (both, nil, modified, true), (both, nil, both, true), (tag, nil, ["Content-Length": "9"], false),
            (tag, ["If-None-Match": "\"b\""], [:], false), (tag, ["If-None-Match": "\"b\", \"a\""], [:], false),
            (tag, ["If-None-Match": "*"], [:], false), (tag, ["If-None-Match": "\"b\""], modified, false),
            (tag, ["If-Modified-Since": date], [:], false), (both, ["If-None-Match": "\"b\""], modified, true),
            (both, ["If-None-Match": "\"b\""], ["ETag": "\"b\"", "Last-Modified": date], false),
            (tag, ["If-None-Match": "\"a\""], [:], true), (tag, ["If-None-Match": "\"b\", \"a\""], tag, true),
        ]
        for (index, (stored, condition, new, isRenewed)) in cases.enumerated() {
            let f = Fixture()
            f.stub.on("*") { request in
                var headers: HTTPHeaders = ["Cache-Control": "max-age=1000"]
                headers.merge(new)
                if request.method == .head { return StubResponse(headers: headers, body: Data()) }
                if request.headers["X"] == "own" { return .status(304, headers: headers) }
                headers = stored
                headers.set("Cache-Control", "max-age=5")
                return StubResponse(headers: headers, body: Data("1".utf8))
            }
            #expect(try await f.text(Get("a", .http)) == "1")
            f.time.advance(by: .seconds(6))
            var request = Get("a", .http)
            request.method = condition == nil ? .head : .get
            if var condition {
                condition.set("X", "own")
                request.headers = condition
            }
            _ = try await f.response(request, condition == nil ? .reload : .standard)
            await f.cache.flush()
            #expect(try await f.response(Get("a", .http)).source.isCache == isRenewed, "\(index)")
        }
    }
}
