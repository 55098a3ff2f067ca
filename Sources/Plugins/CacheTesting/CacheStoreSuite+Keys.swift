import Errand
import ErrandCache
import ErrandEssentials

/// Checks that a store never returns one key's entry for another key. Finds stores that look up entries by a short hash
/// or a part of a digest. The store may drop entries.
struct KeyLaw: Sendable {
    let count: Int
    let seed: UInt64

    /// Different keys that share 40 bits of a SHA-256, or 32 bits of another hash.
    static let pairs: [(name: String, first: String, second: String)] = [
        ("the first five bytes of their SHA-256", "a32ab", "14d888"),
        ("the last five bytes of their SHA-256", "e566e", "1f3c80"),
        ("the first four bytes of their MD5", "12448", "1c715"),
        ("the first four bytes of their SHA-1", "aebc", "f0d7"),
        ("the hash FNV-1a", "182fc", "5c280"),
        ("the hash that multiplies by 31", "Aa", "BB"),
        ("the hash that multiplies by 33", "Ab", "BA"),
        ("the checksum CRC-32", "plumless", "buckeroo"),
        ("the checksum Adler-32", "120", "201"),
        ("the letters, in another order", "listen", "silent"),
    ]

    func check(_ make: CacheStoreSuite.Case.Maker) async throws {
        let store = try await make()
        try await store.removeAll { _ in true }
        for (name, first, second) in Self.pairs {
            let keys = [first, second].map { CacheKey("GET https://example.com/\($0)") }
            for key in keys { try await add(key, to: store) }
            for key in keys {
                try await look(for: key, in: store, "two keys that share \(name) get the same entry")
            }
            let removed = keys[0].text.debugDescription
            try await CacheStoreSuite.operate("remove \(removed)") { try await store.remove(keys[0]) }
            let found = try await CacheStoreSuite.operate("read \(removed)") { try await store.entry(for: keys[0]) }
            try CacheStoreSuite.expect(
                found == nil,
                "an entry is found under another key that shares \(name), after its removal")
        }
        // Among 1,000 keys, some pairs share two bytes of any hash. Among 10,000 keys, some pairs share three bytes.
        let keys = (0..<count).map { CacheKey("GET https://example.com/\(seed)/item?number=\($0)") }
        for key in keys { try await add(key, to: store) }
        for key in keys {
            try await look(for: key, in: store, "among \(count) keys, a key returned the entry of another key")
        }
    }

    private func add(_ key: CacheKey, to store: any CacheStore) async throws {
        try await CacheStoreSuite.operate("store \(key.text.debugDescription)") {
            try await store.store(try CacheStoreSuite.entry(key.text), for: key)
        }
    }

    private func look(for key: CacheKey, in store: any CacheStore, _ problem: String) async throws {
        let text = try await CacheStoreSuite.operate("read \(key.text.debugDescription)") {
            try await CacheStoreSuite.text(key, in: store)
        }
        guard let found = text, found != key.text else { return }
        throw CacheStoreSuite.Failure(
            description: "\(problem): \(key.text.debugDescription) has the entry of \(found.debugDescription)")
    }
}
