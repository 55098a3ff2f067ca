import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCache

@Suite("Invalidated responses don't come back", .endsInTime, .leakChecked)
struct InvalidationTests {
    private func get(_ path: String = "a", _ headers: HTTPHeaders = [:], method: HTTPMethod = .get) -> Get {
        var get = Get(path, .http)
        get.headers = headers
        get.method = method
        return get
    }

    /// A server with versioned resources. PUT creates a new version.
    private final class Versions: Sendable {
        let current = Mutex<[String: Int]>([:])
        let completed = Mutex<[String: Int]>([:])

        func version(_ path: String) -> Int { current.withLock { $0[path, default: 1] } }

        @discardableResult
        func change(_ path: String) -> Int {
            current.withLock { versions in
                versions[path, default: 1] += 1
                return versions[path, default: 1]
            }
        }

        func floor(_ path: String) -> Int { completed.withLock { $0[path, default: 0] } }

        func complete(_ path: String, _ version: Int) {
            completed.withLock { $0[path] = max($0[path, default: 0], version) }
        }

        func response(to request: HTTPRequest, vary: String?) -> StubResponse {
            let path = request.url.path
            if request.method == .put { return .status(200, headers: ["Version": "\(change(path))"]) }
            let version = version(path)
            var headers: HTTPHeaders = ["Cache-Control": "max-age=1000", "ETag": "\"\(version)\""]
            if let vary { headers["Vary"] = vary }
            if request.headers["If-None-Match"] == "\"\(version)\"" { return .status(304, headers: headers) }
            return StubResponse(headers: headers, body: request.method == .head ? Data() : Data("\(version)".utf8))
        }
    }

    @Test("a response that is still being written isn't served after a HEAD found it outdated")
    func head() async throws {
        for isOnItsWay in [false, true] {
            let (store, versions) = (HeldStore(), Versions())
            let f = Fixture(store)
            let gate = Gate(isOpen: !isOnItsWay)
            let first = Counter()
            f.stub.on("*") { request in
                let response = versions.response(to: request, vary: nil)
                return request.method == .get && first.increment() == 1 ? response.waiting(for: gate) : response
            }
            let old = Task { try await f.text(get()) }
            if isOnItsWay { try await gate.reached() } else { #expect(try await old.value == "1") }
            versions.change("/a")
            _ = try await f.response(get(method: .head), .reload)
            gate.open()
            #expect(try await old.value == "1")
            #expect(try await f.text(get()) == "2")
            store.release()
            await f.cache.flush()
            #expect(try await f.text(get()) == "2")
        }
    }

    @Test("writes that are waiting when a PUT completes are dropped, for all users and variants")
    func put() async throws {
        let (store, versions) = (HeldStore(), Versions())
        let f = Fixture(store)
        f.stub.on("*") { versions.response(to: $0, vary: "Foo") }
        let all =
            (0..<50).map { get("a", ["Authorization": "\($0)", "Foo": "\($0 % 3)"]) } + [get(), get("a", ["Foo": "x"])]
        for request in all { #expect(try await f.text(request) == "1") }
        _ = try await f.response(get(method: .put))
        for request in all { #expect(try await f.text(request) == "2") }
        store.release()
        await f.cache.flush()
        let sent = f.sent
        for request in all { #expect(try await f.text(request) == "2") }
        #expect(f.sent == sent)
    }

    @Test("responses in flight when a PUT completes aren't stored, for any user or variant")
    func onTheirWay() async throws {
        let versions = Versions()
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*") { request in
            let response = versions.response(to: request, vary: "Foo")
            return request.method == .get ? response.waiting(for: gate) : response
        }
        let all = (0..<20).map { get("a", ["Authorization": "\($0)", "Foo": "\($0 % 3)"]) } + [get()]
        let tasks = all.map { request in Task { try await f.text(request) } }
        try await gate.reached(by: all.count)
        _ = try await f.response(get(method: .put))
        gate.open()
        for task in tasks { #expect(try await task.value == "1") }
        await f.cache.flush()
        for request in all { #expect(try await f.text(request) == "2") }
    }

    @Test("a 304 that arrives after an invalidation doesn't bring the entry back")
    func notModified() async throws {
        let versions = Versions()
        let f = Fixture()
        f.stub.on("*") { versions.response(to: $0, vary: nil) }
        #expect(try await f.text(get()) == "1")
        let gate = Gate()
        f.stub.on("*") { request in
            let response = versions.response(to: request, vary: nil)
            return request.method == .get ? response.waiting(for: gate) : response
        }
        let validation = Task { try await f.text(get(), .reload) }
        try await gate.reached()
        _ = try await f.response(get(method: .delete))
        versions.change("/a")
        gate.open()
        #expect(try await validation.value == "1")
        await f.cache.flush()
        #expect(try await f.text(get()) == "2")
    }

    @Test(
        "an entry written during a removal isn't served, even before a second removal deletes it",
        arguments: [false, true])
    func writtenDuringRemoval(isStream: Bool) async throws {
        let (store, versions) = (StagedStore(), Versions())
        let f = Fixture(store)
        f.stub.on("*") { request in
            guard isStream, request.method == .get else { return versions.response(to: request, vary: nil) }
            return .chunks([Data("\(versions.version("/a"))".utf8)]).header("Cache-Control", "max-age=1000")
        }
        let writing = store.hold(.beforeStore, 1)
        let returning = store.hold(.afterRemove, 1)
        let erasing = store.hold(.beforeRemove, 2)
        if isStream {
            let body = try await f.agent.send(StreamedGet()).value
            #expect(try await body.collect(upTo: 10) == Data("1".utf8))
        } else {
            #expect(try await f.text(get()) == "1")
        }
        try await writing.reached()
        // The store has removed the entry, but writes it anyway before its `remove` returns.
        let change = Task { try await f.response(get(method: .put)) }
        try await returning.reached()
        writing.open()
        try await erasing.reached()
        returning.open()
        _ = try await change.value
        #expect(try await f.text(get()) == "2")
        erasing.open()
        await f.cache.flush()
        #expect(try await f.text(get()) == "2")
    }

    private struct StreamedGet: CacheableRequest {
        typealias Output = HTTPBody
        var path: String { "a" }
        var cachePolicy: CachePolicy { .http }
    }

    @Test("a response that arrives while a HEAD finds it outdated isn't served")
    func storedDuringHead() async throws {
        let f = Fixture()
        let gate = Gate()
        let gets = Counter()
        f.stub.on("*") { request in
            let version = request.method == .head ? 2 : gets.increment()
            let headers: HTTPHeaders = ["Cache-Control": "max-age=1000", "ETag": "\"\(version)\""]
            if request.method == .head { return StubResponse(headers: headers, body: Data()).waiting(for: gate) }
            return StubResponse(headers: headers, body: Data("\(version)".utf8))
        }
        let head = Task { try await f.response(get(method: .head)) }
        try await gate.reached()
        #expect(try await f.text(get()) == "1")
        await f.cache.flush()
        gate.open()
        _ = try await head.value
        #expect(try await f.text(get()) == "2")
    }

    @Test("a key whose entry couldn't be removed is visible again once the removal succeeds")
    func removalThatFailed() async throws {
        let (store, versions) = (UnreliableStore(), Versions())
        let f = Fixture(store)
        f.stub.on("*") { versions.response(to: $0, vary: nil) }
        #expect(try await f.text(get()) == "1")
        await f.cache.flush()
        store.isFailing.withLock { $0 = true }
        _ = try await f.response(get(method: .put))
        #expect(try await f.text(get()) == "2")
        await f.cache.flush()
        #expect(try await f.text(get()) == "2")
        #expect(f.sent == 4)
        await f.cache.flush()
        store.isFailing.withLock { $0 = false }
        #expect(try await f.text(get()) == "2")
        await f.cache.flush()
        #expect(try await f.response(get()).source.isCache)
        #expect(f.sent == 5)
    }

    private enum Kind: CaseIterable { case slow, tiers, disk }

    @Test(
        "after an invalidation has finished, no earlier response is served, in any order of events",
        arguments: 0..<24)
    func interleavings(seed: Int) async throws {
        let directory = TemporaryDirectory()
        let kind = Kind.allCases[seed % 3]
        let noise = SharedGenerator(seed: UInt64(seed + 1))
        let store: any CacheStore
        switch kind {
        case .slow: store = SlowStore(MemoryStore(), noise)
        case .tiers:
            store = TieredStore(SlowStore(MemoryStore(), noise), SlowStore(MemoryStore(), noise))
        case .disk: store = SlowStore(DiskStore(at: directory.url), noise)
        }
        let versions = Versions()
        let f = Fixture(store)
        let vary = seed % 2 == 0 ? "Foo" : nil
        f.stub.on("*") { versions.response(to: $0, vary: vary) }
        try await withThrowingTaskGroup { group in
            for task in 0..<12 {
                group.addTask {
                    for _ in 0..<25 {
                        let path = "/\(noise.below(2))"
                        if task < 2 {
                            try await invalidate(path, noise.below(4), versions, f)
                            continue
                        }
                        var headers: HTTPHeaders = ["Foo": "\(noise.below(2))"]
                        if noise.below(2) == 0 { headers["Authorization"] = "\(noise.below(3))" }
                        let floor = versions.floor(path)
                        let text = try await f.text(get(path, headers), noise.below(5) == 0 ? .reload : .standard)
                        #expect(Int(text) ?? 0 >= floor, "\(kind) \(path)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func invalidate(_ path: String, _ mode: Int, _ versions: Versions, _ f: Fixture) async throws {
        let version: Int
        switch mode {
        case 0, 1:
            let response = try await f.response(get(path, method: .put))
            version = response.headers["Version"].flatMap { Int($0) } ?? 0
        case 2:
            version = versions.change(path)
            try await f.cache.remove(.prefix("https://example.com\(path)"))
        default:
            version = versions.change(path)
            try await f.cache.remove(.all)
        }
        versions.complete(path, version)
    }

    @Test("a URL with Vary still hits after the clock was set back")
    func clockSetBack() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=1000", "Vary": "Foo"])
        #expect(try await f.text(get("v", ["Foo": "1"])) == "1")
        f.time.date -= 70
        #expect(try await f.text(get("v", ["Foo": "2"])) == "2")
        #expect(try await f.text(get("v", ["Foo": "2"])) == "2")
        #expect(try await f.text(get("v", ["Foo": "1"])) == "3")
        #expect(try await f.text(get("v", ["Foo": "1"])) == "3")
    }

    @Test("a variant that a POST invalidated isn't served after the clock was set back")
    func variantAfterClockSetBack() async throws {
        for headers: HTTPHeaders in [[:], ["Authorization": "me"]] {
            let f = Fixture()
            f.respond(["Cache-Control": "max-age=1000", "Vary": "Foo"])
            var first = get("v", headers)
            first.headers["Foo"] = "1"
            var second = first
            second.headers["Foo"] = "2"
            #expect(try await f.text(first) == "1")
            f.time.date -= 50
            #expect(try await f.text(get("v", method: .post)) == "2")
            #expect(try await f.text(second) == "3")
            f.time.date += 20
            #expect(try await f.text(first) == "4")
        }
    }

    @Test("two hundred users of a URL all get cache hits, even concurrently, and a PUT makes all of them miss")
    func users() async throws {
        for headers: HTTPHeaders in [
            ["Cache-Control": "max-age=1000"], ["Cache-Control": "max-age=1000", "Vary": "Foo"],
        ] {
            let f = Fixture()
            f.respond(headers)
            let all = (0..<200).map { get("a", ["Authorization": "\($0)", "Foo": "\($0)"]) }
            try await withThrowingTaskGroup { group in
                for request in all { group.addTask { _ = try await f.text(request) } }
                try await group.waitForAll()
            }
            for request in all { #expect(try await f.response(request).source.isCache) }
            #expect(f.sent == 200)
            _ = try await f.response(get("a", method: .put))
            for request in all { #expect(try await !f.response(request).source.isCache) }
        }
    }

    enum Others: CaseIterable { case posts, heads }

    @Test(
        "a response is stored although hundreds of requests to other URLs, which invalidate responses, ended meanwhile",
        arguments: Others.allCases)
    func others(kind: Others) async throws {
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*") { request in
            switch request.method {
            case .post: .status(201, headers: ["Location": "/b/1"])
            case .head: .status(200)
            default: StubResponse.text("1").header("Cache-Control", "max-age=1000").waiting(for: gate)
            }
        }
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        for _ in 0..<300 {
            var other = Get("b", kind == .posts ? .off : .http)
            other.method = kind == .posts ? .post : .head
            _ = try await f.response(other)
        }
        gate.open()
        #expect(try await first.value == "1")
        await f.cache.flush()
        #expect(try await f.response(get()).source.isCache)
    }

    @Test("hundreds of requests to other URLs don't hide that one of them invalidated a response in flight")
    func oneOfMany() async throws {
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*") { request in
            if request.method == .post { return .status(201) }
            return StubResponse.text("1").header("Cache-Control", "max-age=1000").waiting(for: gate)
        }
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        for number in 0..<300 { _ = try await f.response(get(number == 0 ? "a" : "b", method: .post)) }
        gate.open()
        #expect(try await first.value == "1")
        await f.cache.flush()
        #expect(try await !f.response(get()).source.isCache)
    }

    @Test(
        "if too many URLs were invalidated to remember them, a response in flight isn't stored, and a note reports it")
    func tooMany() async throws {
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*") { request in
            let path = request.url.path
            if request.method == .post {
                return .status(201, headers: ["Location": "\(path)/1", "Content-Location": "\(path)/2"])
            }
            return StubResponse.text("1").header("Cache-Control", "max-age=1000").waiting(for: gate)
        }
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        for number in 0..<2000 { _ = try await f.response(get("b\(number)", method: .post)) }
        gate.open()
        #expect(try await first.value == "1")
        await f.cache.flush()
        #expect(try await !f.response(get()).source.isCache)
        try await eventually {
            f.notes.all.withLock { $0.contains { $0.contains("too many removals") } }
        }
    }

    @Test("requests share a validation although hundreds of requests to other URLs end meanwhile")
    func sharedValidation() async throws {
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*") { request in
            if request.method == .post { return .status(201) }
            if request.headers.contains("If-None-Match") { return .status(304).waiting(for: gate) }
            return StubResponse.text("1").header("ETag", "\"a\"").header("Cache-Control", "max-age=5")
        }
        _ = try await f.text(get())
        f.time.advance(by: .seconds(6))
        let first = Task { try await f.text(get()) }
        try await gate.reached()
        for _ in 0..<300 { _ = try await f.response(get("b", method: .post)) }
        let others = (0..<8).map { _ in Task { try await f.text(get()) } }
        try await eventually { f.cache.sharedValidations.waitingCount == 8 }
        gate.open()
        for task in [first] + others { #expect(try await task.value == "1") }
        #expect(f.sent == 302)
    }
}

final class SlowStore: CacheStore {
    private let base: any CacheStore
    private let noise: SharedGenerator

    init(_ base: any CacheStore, _ noise: SharedGenerator) { (self.base, self.noise) = (base, noise) }

    private func wait() async { for _ in 0..<noise.below(40) { await Task.yield() } }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        await wait()
        let entry = try await base.entry(for: key)
        await wait()
        return entry
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        await wait()
        try await base.store(entry, for: key)
        await wait()
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        await wait()
        let isDone = try await base.update(head, replacing: old, for: key)
        await wait()
        return isDone
    }

    func remove(_ key: CacheKey) async throws {
        await wait()
        try await base.remove(key)
        await wait()
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await wait()
        try await base.removeAll(where: matches)
        await wait()
    }

    func secret() async throws -> Data { try await base.secret() }
}
