import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("The timed cache", .endsInTime, .leakChecked)
struct TimedCacheTests {
    @Test("a request misses, hits, and misses after expiry; an entry whose age equals its lifetime is a hit")
    func expiry() async throws {
        let f = Fixture()
        f.respond()
        let get = Get()
        #expect(try await f.text(get) == "1")
        #expect(try await f.text(get) == "1")
        f.time.advance(by: .seconds(60))
        #expect(try await f.text(get) == "1")
        f.time.advance(by: .milliseconds(1))
        #expect(try await f.text(get) == "2")
        #expect(f.sent == 2)
    }

    @Test("a hit has the URL of the response that was stored, after redirects")
    func responseURL() async throws {
        let f = Fixture()
        f.stub.on("/old", response: StubResponse.redirect(to: "/new?a=1"))
        f.stub.on("/new", response: StubResponse.text("here"))
        for _ in 0..<2 {
            let response = try await f.response(Get("old"))
            #expect(response.url.absoluteString == "https://example.com/new?a=1")
        }
        #expect(f.sent == 2)
    }

    @Test("an entry without a valid URL is a miss, not an error", arguments: [CachePolicy.timed(.seconds(60)), .http])
    func damagedURL(policy: CachePolicy) async throws {
        let store = BadURLStore()
        let f = Fixture(store)
        f.respond(["Cache-Control": "max-age=60"])
        #expect(try await f.text(Get("feed", policy)) == "1")
        await f.cache.flush()
        #expect(try await f.text(Get("feed", policy)) == "2")
        #expect(store.reads.value > 0)
    }

    @Test("an entry with the longest possible lifetime hits")
    func longestLifetime() async throws {
        let f = Fixture()
        f.respond()
        for _ in 0..<2 { #expect(try await f.text(Get("feed", .timed(.seconds(Int64.max)))) == "1") }
    }

    @Test("without a policy, or with a lifetime of zero, responses aren't stored")
    func off() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=600"])
        for policy in [CachePolicy.off, .timed(.zero), .timed(.seconds(-1))] {
            let before = f.sent
            _ = try await f.text(Get("feed", policy))
            _ = try await f.text(Get("feed", policy))
            #expect(f.sent == before + 2)
        }
        #expect(try await f.agent.cached(Get()) == nil)
    }

    @Test("reloading bypasses a valid entry and still stores, so the next request hits")
    func reload() async throws {
        let f = Fixture()
        f.respond()
        #expect(try await f.text(Get()) == "1")
        #expect(try await f.text(Get(), .reload) == "2")
        #expect(try await f.text(Get()) == "2")
        #expect(try await f.text(Get(), .off) == "3")
        #expect(try await f.text(Get()) == "2")
    }

    @Test("another version misses at first, then hits")
    func version() async throws {
        let f = Fixture()
        f.respond()
        #expect(try await f.text(Get("feed", .timed(.seconds(60)))) == "1")
        #expect(try await f.text(Get("feed", .timed(.seconds(60), version: 1))) == "2")
        #expect(try await f.text(Get("feed", .timed(.seconds(60), version: 1))) == "2")
    }

    @Test("a partition doesn't hit another partition's entry, and replaces it")
    func partition() async throws {
        let f = Fixture()
        f.respond()
        func get(_ partition: String?) -> Get { Get("feed", .timed(.seconds(60), partition: partition)) }
        let expected = ["1", "1", "2", "3", "4", "4"]
        for (partition, text) in zip(["A", "A", "B", nil, "B", "B"], expected) {
            #expect(try await f.text(get(partition)) == text)
        }
    }

    @Test("an entry of another version of the app is a miss")
    func appVersion() async throws {
        let store = MemoryStore()
        let (old, new) = (Fixture(store, appVersion: "1.0"), Fixture(store, appVersion: "1.1"))
        old.respond()
        #expect(try await old.text(Get()) == "1")
        await old.cache.flush()
        await #expect { try await new.text(Get(), .cacheOnly) } throws: { error in
            (error as? CacheMiss)?.reason == .appVersionMismatch
        }
    }

    @Test("each reason for a miss is typed")
    func reasons() async throws {
        let f = Fixture()
        f.respond()
        func reason(_ policy: CachePolicy) async -> CacheMiss.Reason? {
            do { _ = try await f.text(Get("feed", policy), .cacheOnly) } catch { return (error as? CacheMiss)?.reason }
            return nil
        }
        #expect(await reason(.timed(.seconds(60))) == .notStored)
        #expect(await reason(.off) == .off)
        _ = try await f.text(Get("feed", .timed(.seconds(60), version: 1, partition: "A")))
        #expect(await reason(.timed(.seconds(60), version: 1, partition: "A")) == nil)
        #expect(await reason(.timed(.seconds(60), version: 2, partition: "A")) == .versionMismatch)
        #expect(await reason(.timed(.seconds(60), version: 1, partition: "B")) == .partitionMismatch)
        f.time.advance(by: .seconds(61))
        #expect(await reason(.timed(.seconds(60), version: 1, partition: "A")) == .expired)
        #expect(f.sent == 1)
    }

    @Test("text, data and JSON from the cache equal the originals, also for a new instance of the request")
    func equal() async throws {
        let f = Fixture()
        f.stub.on("*", response: .json(#"{"a":[1,2,{"b":"ü"}]}"#).header("X-Kept", "1"))
        let fresh = try await f.response(Get())
        let stored = try await f.response(Get())
        #expect(stored.data == fresh.data && stored.status == fresh.status && stored.url == fresh.url)
        #expect(stored.headers == fresh.headers && stored.mediaType == "application/json")
        #expect(try stored.text() == fresh.text())
        #expect(fresh.source == .network && stored.source.isCache && stored.source.age == .zero)
        #expect(stored.source.reason == "hit; ttl=60; detail=\"timed\"")
        #expect(f.sent == 1)
    }

    @Test("a hit passes status, checks and accessories like any response")
    func judged() async throws {
        let f = Fixture()
        f.respond()
        _ = try await f.text(Get())
        var strict = Get()
        strict.checks = [ResponseCheck("never") { _ in throw ErrandError(.checkFailed, "no") }]
        await #expect { try await f.text(strict) } throws: { ($0 as? ErrandError)?.code == .checkFailed }
        strict = Get()
        strict.acceptableStatuses = [204]
        await #expect { try await f.text(strict) } throws: { ($0 as? ErrandError)?.code == .unacceptableStatus }
        let recorder = RecordingAccessory()
        _ = try await f.agent.send(Get(), options: CallOptions(accessories: [recorder]))
        #expect(f.notes.last?.hasPrefix("hit; ttl=") == true)
        #expect(f.sent == 1)
    }

    @Test("only accepted responses are stored")
    func accepted() async throws {
        let f = Fixture()
        f.stub.on("*", response: .text("bad", status: 500), .text("refused"), .text("good"))
        var get = Get()
        get.acceptableStatuses = .successful
        await #expect(throws: ErrandError.self) { try await f.text(get) }
        get.checks = [
            ResponseCheck("good") { response in
                if try response.text() != "good" { throw ErrandError(.checkFailed, "not good") }
            }
        ]
        await #expect(throws: ErrandError.self) { try await f.text(get) }
        #expect(try await f.text(get) == "good")
        #expect(try await f.text(get) == "good")
        #expect(f.sent == 3)
    }

    @Test("an empty response is kept and served")
    func empty() async throws {
        let f = Fixture()
        f.stub.on("*", response: .status(204))
        for _ in 0..<2 { #expect(try await f.text(Get()) == "") }
        #expect(f.sent == 1)
    }

    @Test("an entry is stored under the key and partition that its request had when it was sent")
    func snapshot() async throws {
        let store = HeldStore()
        let f = Fixture(store)
        f.respond()
        func get(_ user: String) -> Get { Get("feed", .timed(.seconds(60), version: 1, partition: user)) }
        // Both responses wait to be written. The first user's response must not be stored under the second user's name.
        #expect(try await f.text(get("A")) == "1")
        #expect(try await f.text(get("B")) == "2")
        #expect(try await f.text(get("B")) == "2")
        store.release()
        await f.cache.flush()
        #expect(try await f.text(get("B")) == "2")
        let heads = store.written()
        // The first entry may have been replaced before it was written.
        #expect(heads.count == Set(heads.map(\.partition)).count && (1...2).contains(heads.count))
        #expect(heads.allSatisfy { $0.partition?.count == 64 && $0.partition != "A" && $0.partition != "B" })
    }

    @Test("by default, a response doesn't wait until it is stored, but it can")
    func waiting() async throws {
        let store = HeldStore()
        let f = Fixture(store)
        f.respond()
        #expect(try await f.text(Get()) == "1")
        #expect(store.written().isEmpty)
        store.release()
        #expect(try await f.text(Get("other", .timed(.seconds(60)).waitingForWrite())) == "2")
        #expect(store.written().count == 2)
    }

    @Test("an entry can be read without sending, and a miss is nil")
    func readOnly() async throws {
        let f = Fixture()
        f.respond()
        #expect(try await f.agent.cached(Get()) == nil)
        _ = try await f.text(Get())
        let stored = try await f.agent.cached(Get())
        #expect(stored?.value == "1" && stored?.http.source.isCache == true)
        f.time.advance(by: .seconds(100))
        #expect(try await f.agent.cached(Get()) == nil)
        #expect(try await f.agent.cached(Get(), includingStale: true)?.value == "1")
        #expect(f.sent == 1)
    }

    @Test("a response can be stored for two other requests, and both get it with its charset")
    func put() async throws {
        let f = Fixture()
        f.stub.on("*", response: .data(Data([0xE4]), contentType: "text/plain; charset=iso-8859-1"))
        let first = try await f.response(Get("first"))
        let again = try await f.response(Get("first"))
        #expect(again.source.isCache)
        try await f.agent.store(again, for: Get("second"))
        try await f.agent.store(first, for: Get("third"))
        for path in ["second", "third"] {
            let response = try await f.agent.send(Get(path))
            #expect(response.value == "ä" && response.http.source.isCache)
        }
        #expect(f.sent == 1)
        await #expect(throws: CacheMiss.self) { try await f.agent.store(first, for: Get("fourth", .off)) }
    }

    @Test("cached-then-fresh returns one response, two different responses, or the same response twice")
    func cachedThenFresh() async throws {
        let f = Fixture()
        f.stub.on("*", response: .text("old"), .text("new"), .text("new"))
        func all(always: Bool = false) async throws -> [String] {
            var result: [String] = []
            for try await response in f.agent.cachedThenFresh(Get(), always: always) { result.append(response.value) }
            return result
        }
        #expect(try await all() == ["old"])
        f.time.advance(by: .seconds(1000))
        #expect(try await all() == ["old", "new"])
        #expect(try await all() == ["new"])
        #expect(try await all(always: true) == ["new", "new"])
        #expect(f.sent == 4)
        f.stub.on("*", response: .failure(ErrandError(.cannotConnect, "offline")))
        var seen: [String] = []
        await #expect(throws: ErrandError.self) {
            for try await response in f.agent.cachedThenFresh(Get()) { seen.append(response.value) }
        }
        #expect(seen == ["new"])
    }

    @Test("a stored response is shown while a silent fetch renews it for the next time")
    func refresh() async throws {
        let f = Fixture()
        f.respond()
        #expect(try await f.text(Get(), .staleWhileRevalidate) == "1")
        f.time.advance(by: .seconds(1000))
        #expect(try await f.text(Get(), .staleWhileRevalidate) == "1")
        try await eventually { f.notes.background.withLock { $0 } == 1 }
        #expect(try await f.text(Get()) == "2")
        #expect(f.sent == 2)
    }

    @Test("a stale response is served if the request fails")
    func staleIfError() async throws {
        let f = Fixture()
        f.stub.on("*", response: .text("good"), .text("down", status: 503), .failure(ErrandError(.cannotConnect, "x")))
        #expect(try await f.text(Get(), .staleIfError) == "good")
        f.time.advance(by: .seconds(1000))
        for why in ["the server failed", "the request failed"] {
            let response = try await f.response(Get(), .staleIfError)
            #expect(response.source.isCache && response.source.reason?.contains(why) == true)
        }
        await #expect(throws: ErrandError.self) { try await f.text(Get()) }
    }

    @Test(
        "a stale response is served if another transport or a filter throws a retryable error",
        arguments: [CachePolicy.timed(.seconds(5)), .http(staleIfError: .seconds(60))])
    func foreignErrors(policy: CachePolicy) async throws {
        struct Refused: RequestFailure {
            let isRetryable: Bool
        }
        let f = Fixture()
        f.stub.on(
            "*", response: .text("good").header("Cache-Control", "max-age=5"), .failure(Refused(isRetryable: true)),
            .failure(Refused(isRetryable: false)))
        #expect(try await f.text(Get("feed", policy), .staleIfError) == "good")
        f.time.advance(by: .seconds(10))
        #expect(try await f.text(Get("feed", policy), .staleIfError) == "good")
        #expect(f.sent == 2)
        await #expect(throws: Refused.self) { try await f.text(Get("feed", policy), .staleIfError) }
    }

    @Test("a request may bring its own store, such as another directory, which is created on demand")
    func ownStore() async throws {
        let directory = TemporaryDirectory()
        let f = Fixture()
        f.respond()
        var get = Get()
        let nested = directory.url.appending(path: "users/7")
        get.store = DiskStore(at: nested)
        #expect(try await f.text(get) == "1")
        await f.cache.flush()
        #expect(FileManager.default.fileExists(atPath: nested.path))
        get.store = DiskStore(at: nested)
        #expect(try await f.text(get) == "1")
        #expect(try await f.text(Get()) == "2")
    }

    @Test("a plain file in place of the directory is renamed and kept")
    func fileInTheWay() async throws {
        let directory = TemporaryDirectory()
        try Data("x".utf8).write(to: directory.url)
        let kept = URL(filePath: directory.url.path + ".replaced", directoryHint: .notDirectory)
        defer { try? FileManager.default.removeItem(at: kept) }
        let f = Fixture(DiskStore(at: directory.url))
        f.respond()
        _ = try await f.text(Get())
        await f.cache.flush()
        #expect(try await f.text(Get()) == "1")
        #expect(f.sent == 1)
        #expect(try String(contentsOf: kept, encoding: .utf8) == "x")
    }

    @Test("downloads and streamed uploads are never read or written")
    func downloads() async throws {
        struct Download: CacheableRequest {
            typealias Output = HTTPResponse
            let file: URL
            var path: String { "feed" }
            var cachePolicy: CachePolicy { .timed(.seconds(60)).and(.http) }
            var delivery: BodyDelivery { .file(file) }
        }
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        _ = try await f.text(Get())
        for number in 2...3 {
            let file = directory.url.appending(path: "file")
            _ = try await f.agent.send(Download(file: file))
            #expect(try String(contentsOf: file, encoding: .utf8) == "\(number)")
        }
        var upload = Get()
        upload.method = .post
        upload.body = .stream { HTTPBody(Data("x".utf8)) }
        #expect(try await f.text(upload) == "4")
        #expect(try await f.text(upload) == "5")
    }

    @Test("a failing store causes a miss and a note, not a failure, and clearing removes waiting writes")
    func failingStore() async throws {
        let f = Fixture(FailingStore())
        f.respond()
        #expect(try await f.text(Get()) == "1")
        _ = try await f.text(Get())
        await f.cache.flush()
        #expect(try await f.text(Get()) == "\(f.sent)")
        try await eventually { f.notes.all.withLock { $0.contains { $0.contains("couldn't be written: no room") } } }
        #expect(f.notes.all.withLock { $0.contains { $0.contains("couldn't be read: out of order") } })
    }

    @Test("entries can be removed by request, prefix, tag, partition or expiry, or all at once")
    func removing() async throws {
        let f = Fixture()
        f.respond()
        var tagged = Get("a/1")
        tagged.cacheTags = ["news"]
        let gets = [tagged, Get("a/2", .timed(.seconds(60), partition: "A")), Get("b/3", .timed(.seconds(5)))]
        func stored() async throws -> [Bool] {
            var result: [Bool] = []
            for get in gets { result.append(try await f.agent.cached(get, includingStale: true) != nil) }
            return result
        }
        func fill() async throws { for get in gets { _ = try await f.text(get, .reload) } }
        try await fill()
        #expect(try await stored() == [true, true, true])
        try await f.cache.remove(.tag("news"))
        #expect(try await stored() == [false, true, true])
        try await f.cache.remove(.partition("B"))
        try await f.cache.remove(.partition("A"))
        #expect(try await stored() == [false, false, true])
        f.time.advance(by: .seconds(6))
        try await f.cache.remove(.expired)
        #expect(try await stored() == [false, false, false])
        try await fill()
        try await f.cache.remove(.prefix("https://example.com/a/"))
        #expect(try await stored() == [false, false, true])
        #expect(try await f.agent.removeCached(gets[2]))
        #expect(try await !f.agent.removeCached(gets[2]))
        #expect(try await stored() == [false, false, false])
        try await fill()
        try await f.cache.remove(.all)
        #expect(try await stored() == [false, false, false])
    }

    @Test("a response that was in flight when its owner signed out isn't kept")
    func removalInFlight() async throws {
        let f = Fixture()
        let gate = Gate()
        f.stub.on("*", response: StubResponse.text("secret").waiting(for: gate))
        let get = Get("feed", .timed(.seconds(60), partition: "A"))
        let task = Task { try await f.text(get) }
        try await gate.reached()
        try await f.cache.remove(.partition("A"))
        gate.open()
        #expect(try await task.value == "secret")
        await f.cache.flush()
        #expect(try await f.agent.cached(get) == nil)
    }

    @Test("a streamed response is stored only if it arrived completely")
    func streams() async throws {
        struct Stream: CacheableRequest {
            typealias Output = HTTPBody
            var path: String { "stream" }
            var cachePolicy: CachePolicy { .timed(.seconds(60)) }
        }
        let directory = TemporaryDirectory()
        let f = Fixture(DiskStore(at: directory.url))
        let chunks = (0..<40).map { Data(repeating: UInt8($0), count: 100_000) }
        f.stub.on("*", response: .chunks(chunks))
        func read(_ limit: Int = .max) async throws -> Data {
            var data = Data()
            let response: Response<HTTPBody> = try await f.agent.send(Stream(), options: CallOptions())
            let body = response.value
            for try await chunk in body {
                data += chunk
                if data.count >= limit { break }
            }
            return data
        }
        #expect(try await read(300_000).count < 4_000_000)
        await f.cache.flush()
        #expect(try await read() == chunks.reduce(Data(), +))
        #expect(f.sent == 2)
        await f.cache.flush()
        #expect(try await read() == chunks.reduce(Data(), +))
        #expect(f.sent == 2)
    }

    @Test("a silent fetch that is cancelled before it begins doesn't prevent the next silent fetch")
    func cancelledRefresh() async throws {
        final class CancelFirst: Accessory {
            private let count = Counter()

            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event, activity.kind == .background, count.increment() == 1 { activity.cancel() }
            }
        }
        let f = Fixture()
        f.agent.configure { $0.accessories.append(CancelFirst()) }
        f.respond()
        #expect(try await f.text(Get(), .staleWhileRevalidate) == "1")
        f.time.advance(by: .seconds(1000))
        for count in 1...2 {
            #expect(try await f.text(Get(), .staleWhileRevalidate) == "1")
            try await eventually { f.notes.background.withLock { $0 } == count }
        }
        #expect(try await f.text(Get()) == "2")
        #expect(f.sent == 2)
    }

    @Test(
        "work that inner filters stage for a failure is discarded if a stale response replaces it",
        arguments: [(CachePolicy.timed(.seconds(60)), FilterStages.call), (.http, .hop)])
    func staleStaging(policy: CachePolicy, stage: FilterStages) async throws {
        let log = Log<String>()
        let f = Fixture()
        f.agent.configure {
            $0.filters.append(
                .closure(stage) { exchange, next in
                    let response = try await next(exchange)
                    exchange.whenAccepted {
                        log.add("commit \(response.status)")
                    } otherwise: {
                        log.add("discard \(response.status)")
                    }
                    return response
                })
        }
        f.stub.on(
            "*", response: StubResponse.text("good").header("Cache-Control", "max-age=60"), .text("down", status: 503))
        #expect(try await f.text(Get("a", policy)) == "good")
        f.time.advance(by: .seconds(1000))
        #expect(try await f.text(Get("a", policy), .staleIfError) == "good")
        #expect(log.all == ["commit 200", "discard 503"])
    }
}
