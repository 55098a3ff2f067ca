import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Work that began before a removal isn't stored after it", .endsInTime, .leakChecked)
struct RemovalTests {
    enum Mode: CaseIterable { case timed, http, vary, user, both, stream, timedStream }

    private func get(_ mode: Mode, _ tags: [String] = ["t"]) -> Get {
        let (timed, http) = (
            CachePolicy.timed(.seconds(60), partition: "me"), CachePolicy.http(partition: mode == .user ? nil : "me")
        )
        var get = Get("a", mode == .both ? timed.and(http) : mode == .timed || mode == .timedStream ? timed : http)
        get.cacheTags = tags
        if mode == .user { get.headers["Authorization"] = "me" }
        if mode == .vary { get.headers["Foo"] = "1" }
        return get
    }

    private func text(_ mode: Mode, _ f: Fixture, _ tags: [String] = ["t"]) async throws -> String {
        guard mode == .stream || mode == .timedStream else { return try await f.text(get(mode, tags)) }
        let body = try await f.agent.send(StreamedGet(base: get(mode, tags))).value
        return String(decoding: try await body.collect(upTo: 100), as: UTF8.self)
    }

    private struct StreamedGet: CacheableRequest {
        typealias Output = HTTPBody
        let base: Get
        var path: String { base.path }
        var cachePolicy: CachePolicy { base.cachePolicy }
        var cacheTags: [String] { base.cacheTags }
    }

    /// A server that treats every validator as current. Each body is the number of the request.
    private final class Server: Sendable {
        let count = Counter()
        let validations = Counter()
        /// The number of the last body that was sent before a removal finished.
        let floor = Mutex(0)

        func response(to request: HTTPRequest, _ mode: Mode) -> StubResponse {
            var headers: HTTPHeaders = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
            if mode == .vary { headers["Vary"] = "Foo" }
            if request.headers.contains("If-None-Match") {
                validations.increment()
                return .status(304, headers: headers)
            }
            let body = Data("\(count.increment())".utf8)
            guard mode == .stream || mode == .timedStream else { return StubResponse(headers: headers, body: body) }
            return .chunks([body]).header("Cache-Control", "max-age=0").header("ETag", "\"1\"")
        }
    }

    private static func selections(_ mode: Mode) -> [CacheSelection] {
        [.all, .prefix("https://example.com/"), .tag("t")] + (mode == .user ? [] : [.partition("me")])
    }

    @Test(
        "a removal hides the selected entries until it has ended, and entries validated or read meanwhile don't return",
        arguments: Mode.allCases, [false, true])
    func hiding(mode: Mode, isReadBeforeTheEnd: Bool) async throws {
        for selection in Self.selections(mode) {
            let (store, server) = (HeldRemovals(), Server())
            let f = Fixture(store)
            f.stub.on("*") { server.response(to: $0, mode) }
            #expect(try await text(mode, f) == "1")
            await f.cache.flush()
            let removal = Task { try await f.cache.remove(selection) }
            try await store.removal.reached()
            if isReadBeforeTheEnd {
                store.isHoldingReads.withLock { $0 = true }
                let meanwhile = Task { try await text(mode, f) }
                try await store.reading.reached()
                store.removal.open()
                try await removal.value
                store.isHoldingReads.withLock { $0 = false }
                store.reading.open()
                #expect(try await meanwhile.value == "2")
            } else {
                #expect(try await text(mode, f) == "2")
                store.removal.open()
                try await removal.value
            }
            await f.cache.flush()
            #expect(server.validations.value == 0)
            #expect(try await text(mode, f) != "1")
            #expect(try await f.agent.cached(get(mode), includingStale: true)?.value != "1")
        }
    }

    @Test(
        "a response in flight while removeCached finds no entry, or an old entry, isn't stored",
        arguments: Mode.allCases, [false, true])
    func onItsWay(mode: Mode, hasOld: Bool) async throws {
        let server = Server()
        let gate = Gate(isOpen: hasOld)
        let f = Fixture()
        f.stub.on("*") { server.response(to: $0, mode).waiting(for: gate) }
        var expected = "1"
        if hasOld {
            #expect(try await text(mode, f) == "1")
            await f.cache.flush()
            let second = Gate()
            f.stub.on("*") { server.response(to: $0, mode).waiting(for: second) }
            let reload = Task { try await f.text(get(mode), .reloadFromOrigin) }
            try await second.reached()
            #expect(try await f.agent.removeCached(get(mode)))
            second.open()
            expected = try await reload.value
            #expect(expected == "2")
        } else {
            let running = Task { try await text(mode, f) }
            try await gate.reached()
            #expect(try await !f.agent.removeCached(get(mode)))
            gate.open()
            #expect(try await running.value == "1")
        }
        await f.cache.flush()
        #expect(try await f.agent.cached(get(mode), includingStale: true) == nil)
    }

    @Test(
        "removeCached removes the timed and the HTTP entry, with conditions or no-cache, in every matching variant"
    )
    func everyEntry() async throws {
        let f = Fixture()
        let vary = Mutex("Foo")
        let count = Counter()
        f.stub.on("*") { _ in
            StubResponse(
                headers: ["Cache-Control": "no-cache", "ETag": "\"1\"", "Vary": vary.withLock { $0 }],
                body: Data("\(count.increment())".utf8))
        }
        #expect(try await f.text(get(.both)) == "1")
        vary.withLock { $0 = "Bar" }
        #expect(try await f.text(get(.vary), .reloadFromOrigin) == "2")
        await f.cache.flush()
        var request = get(.vary)
        request.headers["If-None-Match"] = "\"2\""
        request.headers["Cache-Control"] = "no-cache"
        #expect(try await f.agent.removeCached(request))
        #expect(try await f.agent.cached(get(.vary), includingStale: true) == nil)
        #expect(try await f.agent.cached(get(.both), includingStale: true) != nil)
        #expect(try await f.agent.removeCached(get(.both)))
        #expect(try await f.agent.cached(get(.both), includingStale: true) == nil)
        #expect(try await f.agent.cached(get(.http), includingStale: true) == nil)
        #expect(try await !f.agent.removeCached(get(.both)))
    }

    @Test("an entry validated by a request with other tags isn't stored after its own tag was removed")
    func tags() async throws {
        let server = Server()
        let f = Fixture()
        f.stub.on("*") { server.response(to: $0, .http) }
        #expect(try await f.text(get(.http, ["old"])) == "1")
        await f.cache.flush()
        let gate = Gate()
        f.stub.on("*") { server.response(to: $0, .http).waiting(for: gate) }
        let validation = Task { try await f.text(get(.http, [])) }
        try await gate.reached()
        try await f.cache.remove(.tag("old"))
        gate.open()
        #expect(try await validation.value == "1")
        await f.cache.flush()
        #expect(try await f.agent.cached(get(.http), includingStale: true) == nil)
    }

    @Test(
        "an entry that a store fails to remove stays hidden, and is removed before the next entry is written",
        arguments: [1, 100])
    func failure(times: Int) async throws {
        let (store, server) = (UnreliableStore(), Server())
        let f = Fixture(store)
        f.stub.on("*") { server.response(to: $0, .http) }
        #expect(try await f.text(get(.http)) == "1")
        await f.cache.flush()
        store.isFailing.withLock { $0 = true }
        for _ in 0..<times {
            await #expect(throws: CacheStoreError.self) { try await f.cache.remove(.partition("me")) }
        }
        #expect(try await f.agent.cached(get(.http), includingStale: true) == nil)
        #expect(try await f.text(get(.http)) == "2")
        await f.cache.flush()
        #expect(try await f.agent.cached(get(.http), includingStale: true) == nil)
        store.isFailing.withLock { $0 = false }
        #expect(try await f.text(get(.http)) == "3")
        await f.cache.flush()
        #expect(try await f.agent.cached(get(.http), includingStale: true)?.value == "3")
        #expect(server.validations.value == 0)
    }

    @Test("after a removal has finished, no earlier response is served, in any order of events", arguments: 0..<12)
    func interleavings(seed: Int) async throws {
        let directory = TemporaryDirectory()
        let noise = SharedGenerator(seed: UInt64(seed + 100))
        let memory = SlowStore(MemoryStore(), noise)
        let store: any CacheStore =
            switch seed % 3 {
            case 0: memory
            case 1: TieredStore(memory, SlowStore(MemoryStore(), noise))
            default: SlowStore(DiskStore(at: directory.url), noise)
            }
        let (f, server) = (Fixture(store), Server())
        let modes: [Mode] = [.timed, .http, .vary, .both]
        f.stub.on("*") { request in server.response(to: request, request.headers.contains("Foo") ? .vary : .http) }
        try await withThrowingTaskGroup { group in
            for task in 0..<10 {
                group.addTask {
                    for _ in 0..<25 {
                        let mode = modes[noise.below(modes.count)]
                        guard task < 3 else {
                            let least = server.floor.withLock { $0 }
                            let text = try await f.text(get(mode), noise.below(5) == 0 ? .reload : .standard)
                            #expect(Int(text) ?? 0 > least, "\(mode)")
                            continue
                        }
                        let selections = Self.selections(mode)
                        let last = server.count.value
                        try await f.cache.remove(selections[noise.below(selections.count)])
                        server.floor.withLock { $0 = max($0, last) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Blocks removals before they begin, and reads after they have ended.
private final class HeldRemovals: CacheStore {
    let removal = Gate()
    let reading = Gate()
    let isHoldingReads = Mutex(false)
    private let memory = MemoryStore()

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        let entry = await memory.entry(for: key)
        if entry != nil, isHoldingReads.withLock({ $0 }) { try await reading.wait() }
        return entry
    }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { try await memory.store(entry, for: key) }
    func remove(_ key: CacheKey) async throws { await memory.remove(key) }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        try await removal.wait()
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}
