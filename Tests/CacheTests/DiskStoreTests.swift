import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandCache

@Suite("The disk store", .endsInTime, .leakChecked)
struct DiskStoreTests {
    private let directory = TemporaryDirectory()

    private func entry(_ text: String, _ path: String = "a") throws -> CacheEntry {
        let url = try #require(URL(string: "https://example.com/\(path)"))
        return CacheEntry(
            head: CacheEntryHead(url: url, received: .now, expires: .now + 60), body: HTTPBody(Data(text.utf8)))
    }

    private func path(_ key: CacheKey) -> URL { directory.url.appending(path: "errand-cache/entries/\(key.digest)") }

    private func text(_ key: CacheKey, _ store: DiskStore) async throws -> String? {
        try await store.entry(for: key)?.body.data.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("entries outlive the store, and so does the secret")
    func persistence() async throws {
        let (first, second) = (DiskStore(at: directory.url), DiskStore(at: directory.url))
        let key = CacheKey("k")
        let secret = try await first.secret()
        try await first.store(entry("kept"), for: key)
        #expect(try await text(key, second) == "kept")
        #expect(try await second.secret() == secret && secret.count == 32)
        #expect(try await second.usage().entries == 1)
    }

    @Test("creating a store doesn't touch the disk")
    func lazy() async throws {
        let store = DiskStore(at: directory.url)
        #expect(try await store.entry(for: CacheKey("k")) == nil)
        #expect(!FileManager.default.fileExists(atPath: directory.url.path))
        try await store.remove(CacheKey("k"))
        try await store.removeAll { _ in true }
    }

    @Test("a store that has reached its limit says so, and doesn't call the directory unusable")
    func limitReached() async throws {
        let store = DiskStore(at: directory.url, limit: .megabytes(1).entries(0))
        let error = await #expect(throws: CacheStoreError.self) {
            try await store.store(entry("1"), for: CacheKey("k"))
        }
        #expect(error?.description == "the store has reached its limit, and no entry could be evicted")
    }

    @Test("only their owner can read the files, and they hold no secret in the clear")
    func permissions() async throws {
        let store = DiskStore(at: directory.url)
        let f = Fixture(store)
        f.respond(["Set-Cookie": "session-s3cret"])
        var get = Get("feed", .timed(.seconds(60), partition: "user-s3cret").and(.http))
        get.headers = ["Authorization": "token-s3cret"]
        _ = try await f.text(get)
        await f.cache.flush()
        var count = 0
        let files = try #require(FileManager.default.subpaths(atPath: directory.url.path))
        for name in files + [""] {
            let path = directory.url.appending(path: name).path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isDirectory ? 0o700 : 0o600), "\(name)")
            if isDirectory { continue }
            count += 1
            let data = try Data(contentsOf: URL(filePath: path))
            #expect(data.range(of: Data("s3cret".utf8)) == nil, "\(name)")
        }
        #expect(count >= 5)
    }

    @Test("an entry with any flipped byte is a miss, and its file is removed")
    func flips() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        try await store.store(entry("the body, some bytes long"), for: key)
        let good = try Data(contentsOf: path(key))
        for index in good.indices {
            for bit in [UInt8(1), 0x80] {
                var bad = good
                bad[index] ^= bit
                try bad.write(to: path(key))
                #expect(try await store.entry(for: key) == nil, "byte \(index)")
                #expect(!FileManager.default.fileExists(atPath: path(key).path))
            }
        }
        try good.write(to: path(key))
        #expect(try await text(key, store) == "the body, some bytes long")
    }

    @Test("an entry that is truncated at any length, or too long, is a miss")
    func truncation() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        try await store.store(entry("the body, some bytes long"), for: key)
        let good = try Data(contentsOf: path(key))
        for length in 0..<good.count {
            try good.prefix(length).write(to: path(key))
            #expect(try await store.entry(for: key) == nil, "\(length) bytes")
        }
        try (good + [0]).write(to: path(key))
        #expect(try await store.entry(for: key) == nil)
    }

    @Test("an entry under another key's name, a foreign file and a file of a later format are misses")
    func swapped() async throws {
        let store = DiskStore(at: directory.url)
        let keys = [CacheKey("a"), CacheKey("b")]
        for key in keys { try await store.store(entry(key.text), for: key) }
        let files = try keys.map { try Data(contentsOf: path($0)) }
        try files[0].write(to: path(keys[1]))
        try files[1].write(to: path(keys[0]))
        for key in keys { #expect(try await store.entry(for: key) == nil) }
        var future = files[0]
        future[7] = UInt8(ascii: "3")
        for foreign in [future, Data("<html>".utf8), Data(count: 4096), Data()] {
            try foreign.write(to: path(keys[0]))
            #expect(try await store.entry(for: keys[0]) == nil)
            #expect(!FileManager.default.fileExists(atPath: path(keys[0]).path))
        }
        try FileManager.default.createSymbolicLink(at: path(keys[0]), withDestinationURL: URL(filePath: "/etc/passwd"))
        #expect((try? await store.entry(for: keys[0])) == nil)
    }

    @Test("a long body is checked piece by piece: a damaged piece ends the body and removes the entry")
    func longBodies() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        let url = try #require(URL(string: "https://example.com/"))
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 8 ^ $0) })
        let head = CacheEntryHead(url: url, received: .now, expires: .now)
        try await store.store(CacheEntry(head: head, body: HTTPBody(body)), for: key)
        let whole = try #require(try await store.entry(for: key))
        #expect(whole.body.data == nil && whole.body.length == 3_000_000)
        #expect(try await whole.body.collect(upTo: 1 << 24) == body)
        var bad = try Data(contentsOf: path(key))
        bad[2_000_000] ^= 1
        try bad.write(to: path(key))
        let damaged = try #require(try await store.entry(for: key))
        var read = Data()
        await #expect(throws: (any Error).self) { for try await chunk in damaged.body { read += chunk } }
        #expect(!read.isEmpty && body.starts(with: read) && read.count < 2_000_000)
        #expect(try await store.entry(for: key) == nil)
        #expect(try await store.usage().entries == 0)
    }

    @Test(
        "limits are never exceeded, the least recently used entry is removed first, and a damaged usage file is rebuilt"
    )
    func limits() async throws {
        let store = DiskStore(at: directory.url, limit: .bytes(200_000).entries(20))
        func files() throws -> [URL] {
            try FileManager.default.contentsOfDirectory(
                at: directory.url.appending(path: "errand-cache/entries"), includingPropertiesForKeys: nil)
        }
        for number in 0..<20 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        _ = try await store.entry(for: CacheKey("0"))
        for number in 20..<25 {
            try await store.store(entry("\(number)"), for: CacheKey("\(number)"))
            #expect(try files().count <= 20)
        }
        #expect(try await text(CacheKey("0"), store) == "0")
        for number in 1...5 { #expect(try await store.entry(for: CacheKey("\(number)")) == nil) }
        for number in 6..<25 { #expect(try await text(CacheKey("\(number)"), store) == "\(number)") }
        let long = String(repeating: "x", count: 30_000)
        for number in 0..<40 {
            try await store.store(entry(long), for: CacheKey("long \(number)"))
            let bytes = try files().reduce(0) { try $0 + Data(contentsOf: $1).count }
            #expect(bytes <= 200_000)
            #expect(try await store.usage().bytes == Int64(bytes))
            if number == 20 { try Data("nonsense".utf8).write(to: directory.url.appending(path: "errand-cache/usage")) }
            if number == 30 { for file in try files() { try FileManager.default.removeItem(at: file) } }
        }
        #expect(try await text(CacheKey("long 39"), store) == long)
        await #expect(throws: CacheStoreError.self) {
            try await store.store(entry(String(repeating: "x", count: 60_000)), for: CacheKey("too long"))
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path + "/errand-cache/partial").isEmpty)
    }

    @Test("a directory that disappears is created again, and a directory that isn't writable only affects the store")
    func directories() async throws {
        let store = DiskStore(at: directory.url)
        try await store.store(entry("1"), for: CacheKey("k"))
        try FileManager.default.removeItem(at: directory.url)
        #expect(try await store.entry(for: CacheKey("k")) == nil)
        try await store.store(entry("2"), for: CacheKey("k"))
        #expect(try await text(CacheKey("k"), store) == "2")
        #expect(try await store.usage().entries == 1)
        let f = Fixture(DiskStore(at: URL(filePath: "/proc/nowhere")))
        f.respond(["Cache-Control": "max-age=9"])
        #expect(try await f.text(Get("a", .timed(.seconds(9)).and(.http))) == "1")
        #expect(
            f.notes.all.withLock {
                $0.contains { $0.hasPrefix("the cache isn't used, because its store couldn't provide its secret") }
            })
    }

    @Test("the remains of a killed writer are removed")
    func sweeping() async throws {
        let partial = directory.url.appending(path: "errand-cache/partial")
        try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true)
        let (old, new) = ("1234567890123456789", "2345678901234567890")
        for (name, age) in [(old, 7200.0), (new, 0), ("12", 7200), ("notes.txt", 7200)] {
            try Data(count: 9).write(to: partial.appending(path: name))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: partial.appending(path: name).path)
        }
        try await DiskStore(at: directory.url).store(entry("1"), for: CacheKey("k"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: partial.path).sorted() == ["12", new, "notes.txt"])
    }

    @Test("at the limit, a large store removes its oldest entries, or the oldest of a sample in a new process")
    func large() async throws {
        let limit = CacheLimit.megabytes(100).entries(3000)
        let store = DiskStore(at: directory.url, limit: limit)
        for number in 0..<3000 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        // A refresh may already be running.
        repeat { store.files.refreshCandidates() } while store.files.candidateCount < 100
        for number in 3000..<3100 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        for number in 0..<3100 {
            #expect((try await store.entry(for: CacheKey("\(number)")) != nil) == (number >= 100), "\(number)")
        }
        let other = DiskStore(at: directory.url, limit: limit)
        for number in 3100..<3200 {
            try await other.store(entry("\(number)"), for: CacheKey("\(number)"))
            #expect(try await other.entry(for: CacheKey("\(number)")) != nil)
        }
        #expect(try await other.usage().entries == 3000)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path + "/errand-cache/entries").count
                == 3000)
    }

    @Test("a new head of a long entry is written next to the old one, without moving the body")
    func heads() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        let body = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 >> 7) })
        let old = try entry("", "a").head
        try await store.store(CacheEntry(head: old, body: HTTPBody(body)), for: key)
        func file() throws -> (UInt64?, UInt64?) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path(key).path)
            return (attributes[.systemFileNumber] as? UInt64, attributes[.size] as? UInt64)
        }
        let before = try file()
        var last = old
        for number in 0..<5 {
            let url = try #require(URL(string: "https://example.com/\(number)"))
            let head = CacheEntryHead(url: url, headers: ["X": "\(number)"], received: .now, expires: .now + 90)
            let done = try await store.update(head, replacing: last, for: key)
            #expect(done)
            last = try #require(try await store.entry(for: key)?.head)
            #expect(last.url == url.absoluteString)
        }
        #expect(try file() == before)
        #expect(try await store.entry(for: key)?.body.collect(upTo: 1 << 24) == body)
        // If a writer is killed while it writes a head, the previous head stays valid.
        let head = try entry("", "torn").head
        let whole = try Data(contentsOf: path(key))
        let done = try await store.update(head, replacing: last, for: key)
        #expect(done)
        let next = try Data(contentsOf: path(key))
        let mark = try #require(next.firstRange(of: Data("/torn".utf8)))
        var torn = whole
        torn.replaceSubrange(
            (mark.lowerBound - 40)..<mark.upperBound, with: next[(mark.lowerBound - 40)..<mark.upperBound])
        try torn.write(to: path(key))
        #expect(try await store.entry(for: key)?.head == last)
        // If a writer is killed before it clears the previous head, the new head is valid.
        let length = Int(whole[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) })
        let slot =
            (80 + (mark.lowerBound - 80) / length * length)..<(80 + ((mark.lowerBound - 80) / length + 1) * length)
        var both = whole
        both.replaceSubrange(slot, with: next[slot])
        try both.write(to: path(key))
        #expect(try await store.entry(for: key)?.head.url == head.url)
        try whole.write(to: path(key))
        // If the head doesn't fit, the whole entry is written again.
        let url = try #require(URL(string: "https://example.com/"))
        let long = CacheEntryHead(
            url: url, headers: ["X": String(repeating: "x", count: 5000)], received: .now, expires: .now)
        let rewritten = try await store.update(long, replacing: last, for: key)
        #expect(rewritten)
        #expect(try await store.entry(for: key)?.head.url == url.absoluteString)
        #expect(try await store.entry(for: key)?.body.collect(upTo: 1 << 24) == body)
        #expect(try await store.usage().bytes == Int64(try file().1 ?? 0))
    }

    @Test("an update that copies the entry doesn't undo a concurrent removal, entry or update")
    func changesDuringUpdate() async throws {
        let (store, key) = (DiskStore(at: directory.url), CacheKey("k"))
        let (old, other, head) = (try entry("old", "old"), try entry("other", "other"), try entry("", "head").head)

        /// Changes the store while the update copies the body. Returns whether the update took place.
        func update(while change: @escaping @Sendable () async throws -> Void) async throws -> Bool {
            try await store.store(old, for: key)
            let body = HTTPBody {
                try await change()
                return nil
            }
            return try await store.store(CacheEntry(head: head, body: body), for: key, replacing: old.head)
        }
        #expect(try await update {})
        #expect(try await store.entry(for: key)?.head.url == head.url)
        #expect(try await update { try await store.remove(key) } == false)
        #expect(try await store.entry(for: key) == nil)
        #expect(try await update { try await store.store(other, for: key) } == false)
        #expect(try await store.entry(for: key)?.head.url == other.head.url)
        #expect(try await update { _ = try await store.update(other.head, replacing: old.head, for: key) } == false)
        #expect(try await store.entry(for: key)?.head.url == other.head.url)
        #expect(try await store.entry(for: key)?.body.collect(upTo: 100) == Data("old".utf8))
        let partial = directory.url.appending(path: "errand-cache/partial").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: partial).isEmpty)
    }

    @Test("a damaged byte of a renewed entry loses the entry or has no effect, but never restores an older head")
    func damageAfterRenewal() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        var heads = [try entry("", "0").head]
        try await store.store(CacheEntry(head: heads[0], body: HTTPBody(Data(count: 40_000))), for: key)
        for number in 1...2 {
            let head = try entry("", "\(number)").head
            #expect(try await store.update(head, replacing: heads[number - 1], for: key))
            heads.append(head)
            let good = try Data(contentsOf: path(key))
            let start = good.count - 40_000 - 12
            for index in 0..<start {
                var bad = good
                bad[index] = index % 2 == 0 && good[index] != 0 ? 0 : good[index] ^ 1
                try bad.write(to: path(key))
                let found = try await store.entry(for: key)?.head
                #expect(found == nil || found?.url == head.url, "byte \(index)")
            }
            // A block of zeros, as it's left after a machine crash.
            for index in stride(from: 0, to: start, by: 32) {
                var bad = good
                let end = min(index + 512, start)
                bad.replaceSubrange(index..<end, with: Data(count: end - index))
                try bad.write(to: path(key))
                let found = try await store.entry(for: key)?.head
                #expect(found == nil || found?.url == head.url, "from byte \(index)")
            }
            try good.write(to: path(key))
        }
    }

    @Test("other files in the directory are kept, with any names and dates")
    func otherFiles() async throws {
        let files = FileManager.default
        let digest = CacheKey("k").digest
        let names = [
            "usage", "secret", "notes.txt", "entries/a.txt", "entries/\(digest)", "entries/.hidden",
            "partial/1234567890123456789",
            "partial/old", "errand-cache/readme", "errand-cache/entries/a.txt",
            "errand-cache/entries/\(digest.uppercased())x",
            "errand-cache/partial/old",
        ]
        for name in names {
            let place = directory.url.appending(path: name)
            try files.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine: \(name)".utf8).write(to: place)
            try files.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: place.path)
        }
        try files.createDirectory(
            at: directory.url.appending(path: "errand-cache/entries/folder"), withIntermediateDirectories: true)
        let store = DiskStore(at: directory.url, limit: .bytes(50_000).entries(10))
        let secret = try await store.secret()
        for number in 0..<30 {
            try await store.store(entry(String(repeating: "x", count: 3000)), for: CacheKey("\(number)"))
        }
        #expect(try await store.entry(for: CacheKey("k")) == nil)
        try await store.store(entry("mine"), for: CacheKey("k"))
        #expect(try await text(CacheKey("k"), store) == "mine")
        try await store.removeAll { _ in true }
        #expect(try await store.usage().entries == 0)
        #expect(try await DiskStore(at: directory.url).secret() == secret)
        for name in names {
            #expect(try Data(contentsOf: directory.url.appending(path: name)) == Data("mine: \(name)".utf8), "\(name)")
        }
    }

    @Test("a pipe, a link or a hard link in place of the store's file doesn't block the store, and isn't written to")
    func planted() async throws {
        let files = FileManager.default
        try await DiskStore(at: directory.url).store(entry("1"), for: CacheKey("k"))
        _ = try await DiskStore(at: directory.url).secret()
        let root = directory.url.appending(path: "errand-cache")
        let precious = directory.url.appending(path: "precious")
        let places = [root.appending(path: "secret"), root.appending(path: "usage"), path(CacheKey("k"))]
        for (number, place) in places.enumerated() {
            for mode in 0..<4 {
                try Data("precious bytes, thirty-two of them".utf8).write(to: precious)
                try files.removeItem(at: place)
                switch mode {
                case 0: #expect(mkfifo(place.path, 0o600) == 0)
                case 1: try files.linkItem(at: precious, to: place)
                case 2: try files.createSymbolicLink(at: place, withDestinationURL: precious)
                default: try files.createSymbolicLink(at: place, withDestinationURL: URL(filePath: "/dev/zero"))
                }
                let store = DiskStore(at: directory.url)
                #expect(try await store.secret().count == 32, "\(number) \(mode)")
                _ = try? await store.entry(for: CacheKey("k"))
                try await store.store(entry("\(mode)"), for: CacheKey("k"))
                #expect(try await text(CacheKey("k"), store) == "\(mode)", "\(number) \(mode)")
                #expect(try Data(contentsOf: precious) == Data("precious bytes, thirty-two of them".utf8))
            }
        }
    }

    @Test("a 304 for a long body on disk writes the head only")
    func notModified() async throws {
        let f = Fixture(DiskStore(at: directory.url))
        let body = Data(repeating: 1, count: 3_000_000)
        f.stub.on("*") { request in
            request.headers.contains("If-None-Match")
                ? .status(304, headers: ["Cache-Control": "max-age=5", "X": "2"])
                : StubResponse(headers: ["Cache-Control": "max-age=5", "ETag": "\"a\""], body: body)
        }
        let get = Get("a", .http)
        _ = try await f.response(get)
        await f.cache.flush()
        let entries = directory.url.appending(path: "errand-cache/entries")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: entries.path).first)
        func file() throws -> UInt64? {
            try FileManager.default.attributesOfItem(atPath: entries.appending(path: name).path)[.systemFileNumber]
                as? UInt64
        }
        let before = try file()
        f.time.advance(by: .seconds(6))
        #expect(try await f.response(get).data == body)
        await f.cache.flush()
        let hit = try await f.response(get)
        #expect(hit.data == body && hit.headers["X"] == "2" && hit.source.isCache && f.sent == 2)
        #expect(try file() == before)
    }

    @Test("a timestamp in the future, from before the clock was set back, counts as the oldest")
    func future() async throws {
        let limit = CacheLimit.megabytes(1).entries(20)
        let store = DiskStore(at: directory.url, limit: limit)
        for number in 0..<20 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        for number in 0..<10 {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 3600 + Double(number))],
                ofItemAtPath: path(CacheKey("\(number)")).path)
        }
        for number in 20..<30 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        for number in 0..<30 {
            #expect((try await store.entry(for: CacheKey("\(number)")) != nil) == (number >= 10), "\(number)")
        }
    }

    @Test("a use within a minute of the last one isn't written to the file, but counts at the next eviction")
    func recentUses() async throws {
        let limit = CacheLimit.megabytes(1).entries(20)
        let store = DiskStore(at: directory.url, limit: limit)
        for number in 0..<20 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        func modified(_ number: Int) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: path(CacheKey("\(number)")).path)[.modificationDate]
                as? Date
        }
        let before = try (0..<10).map(modified)
        for number in 0..<10 { _ = try await store.entry(for: CacheKey("\(number)")) }
        #expect(try (0..<10).map(modified) == before)
        // An old last use is updated immediately.
        let old = Date(timeIntervalSinceNow: -3600)
        try FileManager.default.setAttributes(
            [.modificationDate: old], ofItemAtPath: path(CacheKey("9")).path)
        _ = try await store.entry(for: CacheKey("9"))
        #expect(try #require(try modified(9)) > old + 3000)
        for number in 20..<30 { try await store.store(entry("\(number)"), for: CacheKey("\(number)")) }
        for number in 0..<30 {
            let isKept = !(10..<20).contains(number)
            #expect((try await store.entry(for: CacheKey("\(number)")) != nil) == isKept, "\(number)")
        }
    }

    @Test("bodies of every length around the boundaries of memory and chunks are read back whole, sealed too")
    func lengths() async throws {
        let seal = DiskStore.Seal(seal: { Data($0.reversed()) }, open: { Data($0.reversed()) })
        for (name, seal) in [("plain", nil), ("sealed", seal)] {
            let store = DiskStore(at: directory.url.appending(path: name), seal: seal)
            for count in [0, 1, 4095, 4096, 4097, 32_768, 32_769, 262_143, 262_144, 262_145, 1_000_000, 1_100_000] {
                let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                let key = CacheKey("\(count)")
                let head = try entry("").head
                try await store.store(CacheEntry(head: head, body: HTTPBody(body)), for: key)
                let found = try #require(try await store.entry(for: key))
                var copy = try await found.body.collect(upTo: 1 << 24)
                #expect(
                    found.head.encoded() == head.encoded() && copy == body && copy.startIndex == 0, "\(name) \(count)")
                copy.append(1)
                #expect(copy.count == count + 1 && copy.last == 1)
            }
        }
    }

    @Test("checksums are XXH64")
    func checksum() {
        #expect(DiskChecksum.of(Data()) == 0xEF46_DB37_51D8_E999)
        #expect(DiskChecksum.of(Data("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
        #expect(DiskChecksum.of(Data("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        #expect(DiskChecksum.of(Data("Nobody inspects the spammish repetition".utf8)) == 0xFBCE_A83C_8A37_8BF1)
    }

    #if os(Linux) || os(macOS)
    /// Starts another process that uses the directory. `ended` finishes when the process ends.
    private func start(seconds: Double, limit: Int, tasks: Int) throws -> (Process, ended: AsyncStream<Void>) {
        try start(
            URL(filePath: Program(built: "errand-cache-process").path),
            [directory.url.path, "\(limit)", "\(seconds)", "\(tasks)"])
    }

    private func start(_ program: URL, _ arguments: [String]) throws -> (Process, ended: AsyncStream<Void>) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let (ended, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        return (process, ended)
    }

    private func check(_ store: DiskStore, limit: Int) async throws {
        for number in 0..<200 {
            guard let found = try await store.entry(for: CacheKey("key \(number)")) else { continue }
            let data = try #require(found.body.data)
            let mark = Data("\(number):".utf8)
            let fill = try #require(data.last)
            #expect(data.starts(with: mark) && data.count == mark.count + 100 + number * 50 + Int(fill))
            #expect(data.dropFirst(mark.count).allSatisfy { $0 == fill })
        }
        let entries = directory.url.appending(path: "errand-cache/entries")
        let names = try FileManager.default.contentsOfDirectory(atPath: entries.path)
        let bytes = try names.reduce(0) { try $0 + Data(contentsOf: entries.appending(path: $1)).count }
        #expect(bytes <= limit)
        let usage = try await store.usage()
        #expect(usage.bytes == Int64(bytes) && usage.entries == names.count)
    }

    @Test("a full disk: some writes fail, no read is torn, and no half-written file stays")
    func full() async throws {
        // A file-size limit fails like a full disk, in the middle of a write.
        let arguments = [
            "-c", "trap '' XFSZ; ulimit -f 6; exec \"$@\"", "errand",
            try Program(built: "errand-cache-process").path, directory.url.path, "\(1 << 20)", "0.5", "8",
            "full",
        ]
        let (process, ended) = try start(URL(filePath: "/bin/bash"), arguments)
        for await _ in ended {}
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        let partial = try FileManager.default.contentsOfDirectory(
            atPath: directory.url.appending(path: "errand-cache/partial").path)
        #expect(partial.isEmpty)
        let store = DiskStore(at: directory.url, limit: .bytes(1 << 20))
        try await check(store, limit: 1 << 20)
        try await store.store(entry("1"), for: CacheKey("after"))
        #expect(try await store.entry(for: CacheKey("after")) != nil)
    }

    #if os(Linux)
    /// Whether this user can mount a private small disk.
    private static let canMount: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        (process.standardError, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        "on a full disk, the least recently used entries are evicted, and every new entry is kept",
        .enabled(if: canMount, "no small disk can be mounted here"))
    func fullDisk() async throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        let script = "mount -t tmpfs -o size=1m none \"$2\" && exec \"$1\" \"$2\" 50000000 0 1 filling"
        let program = try Program(built: "errand-cache-process").path
        let (process, ended) = try start(
            URL(filePath: "/usr/bin/unshare"), ["-rm", "sh", "-c", script, "errand", program, directory.url.path])
        for await _ in ended {}
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }
    #endif

    @Test("two processes of 32 tasks each on one directory: no torn read, limits kept")
    func processes() async throws {
        let seconds = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 1.0 : 10
        let both = try (0..<2).map { _ in try start(seconds: seconds, limit: 300_000, tasks: 32) }
        for (process, ended) in both {
            for await _ in ended {}
            #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        }
        try await check(DiskStore(at: directory.url, limit: .bytes(300_000)), limit: 300_000)
    }

    @Test("if its process is killed repeatedly while writing, the store doesn't return a wrong body, and recovers")
    func kills() async throws {
        let rounds = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 25 : 500
        func files() -> [String] {
            ((try? FileManager.default.subpathsOfDirectory(atPath: directory.url.path)) ?? []).sorted()
        }
        for _ in 0..<rounds {
            let before = files()
            let (process, ended) = try start(seconds: 60, limit: 300_000, tasks: 4)
            // The process has begun to write, and each round kills it at another point. On a busy machine, it may
            // already have ended.
            try await eventually { files() != before || !process.isRunning }
            // Sleep instead of yielding: yields take minutes on a busy machine, because the process occupies a core.
            try await Task.sleep(for: .microseconds(.random(in: 0..<20_000)))
            kill(process.processIdentifier, SIGKILL)
            for await _ in ended {}
            try await check(DiskStore(at: directory.url, limit: .bytes(300_000)), limit: 300_000)
        }
    }
    #endif

    @Test("a removal that cannot be counted removes the entry all the same")
    func uncountedRemoval() async throws {
        let (store, files) = (DiskStore(at: directory.url), FileManager.default)
        for name in ["a", "b", "c"] { try await store.store(entry(name), for: CacheKey(name)) }
        let usage = directory.url.appending(path: "errand-cache/usage")
        try files.removeItem(at: usage)
        try files.createDirectory(at: usage, withIntermediateDirectories: false)
        try await store.remove(CacheKey("a"))
        #expect(try await text(CacheKey("a"), store) == nil)
        #expect(try await text(CacheKey("b"), store) == "b")
        try await store.removeAll { _ in true }
        #expect(try await text(CacheKey("b"), store) == nil)
        try files.removeItem(at: usage)
        #expect(try await store.usage().entries == 0)
    }

    @Test("removeAll removes entries that can't be opened, and reports entries that can't be removed")
    func unreadableRemoval() async throws {
        let (store, files) = (DiskStore(at: directory.url), FileManager.default)
        for name in ["a", "b", "c"] { try await store.store(entry(name), for: CacheKey(name)) }
        func path(_ name: String) -> URL {
            directory.url.appending(path: "errand-cache/entries/\(CacheKey(name).digest)")
        }
        // Entries that can't be opened, for example because too many files are open, may be among the entries to
        // remove.
        let moved = directory.url.appending(path: "moved")
        try files.moveItem(at: path("a"), to: moved)
        try files.createSymbolicLink(at: path("a"), withDestinationURL: moved)
        try await store.removeAll { _ in false }
        #expect((try? files.destinationOfSymbolicLink(atPath: path("a").path)) == nil)
        #expect(files.fileExists(atPath: moved.path))
        #expect(try await text(CacheKey("b"), store) == "b")
        try files.createDirectory(at: path("a"), withIntermediateDirectories: false)
        await #expect(throws: CacheStoreError.self) { try await store.removeAll { _ in true } }
        #expect(!files.fileExists(atPath: path("b").path) && !files.fileExists(atPath: path("c").path))
    }

    @Test("a date of use that nanoseconds can't represent counts as a date in the future")
    func farUse() async throws {
        let store = DiskStore(at: directory.url)
        let key = CacheKey("k")
        try await store.store(entry("kept"), for: key)
        // The year 2286.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 10_000_000_000)], ofItemAtPath: path(key).path)
        #expect(try await text(key, store) == "kept")
        #expect(try await text(key, store) == "kept")
    }
}
