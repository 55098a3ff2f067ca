import Errand
import ErrandCache
import Foundation
import Synchronization

/// A store in Redis, so processes on many machines share one cache. Redis enforces its own limit (`maxmemory`,
/// `maxmemory-policy allkeys-lru`) and drops entries a day after they expire. A removal doesn't stop a write that
/// another process has begun.
///
/// ```swift
/// filters: [.cache(RedisStore(port: 6379))]
/// ```
final class RedisStore: CacheStore {
    private let redis: RedisConnection
    private let prefix: String
    private let maximumBytes: Int
    private let writes = Mutex(InFlightWrites())

    init(port: UInt16 = 6379, prefix: String = "errand:", maximumBytes: Int = 8 << 20) {
        redis = RedisConnection(port: port)
        self.prefix = prefix
        self.maximumBytes = maximumBytes
    }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        guard case .bytes(let record) = try await redis.send(word("GET"), name(key)) else { return nil }
        guard let (owner, head, body) = Self.parts(record), owner == Data(key.digestBytes),
            let head = CacheEntryHead(encoded: head)
        else { return nil }
        return CacheEntry(head: head, body: HTTPBody(body))
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        // Head and body are one value, so readers never see one without the other.
        let body = try await entry.body.collect(upTo: maximumBytes)
        let head = entry.head.encoded()
        let length = withUnsafeBytes(of: UInt32(head.count).littleEndian) { Data($0) }
        let seconds = min(max(entry.head.expires.timeIntervalSinceNow, 0), 1e9) + 86_400
        // A removal stops the write before it sends its own command, so it either prevents this command or follows it.
        _ = try await redis.send(
            word("SET"), name(key), Data(key.digestBytes) + length + head + body, word("EX"), word("\(Int(seconds))"),
            unless: { self.writes.withLock { $0.isStopped(write) } })
    }

    func remove(_ key: CacheKey) async throws {
        writes.withLock { _ = $0.stop(key) }
        _ = try await redis.send(word("DEL"), name(key))
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        writes.withLock { $0.stop(where: matches) }
        var cursor = word("0")
        repeat {
            let page = try await redis.send(
                word("SCAN"), cursor, word("MATCH"), word(prefix + "entry:*"), word("COUNT"), word("500"))
            guard case .list(let parts) = page, parts.count == 2, case .bytes(let next) = parts[0],
                case .list(let names) = parts[1]
            else { throw RedisError(description: "SCAN returned something else") }
            for case .bytes(let name) in names {
                guard case .bytes(let record) = try await redis.send(word("GET"), name) else { continue }
                let head = Self.parts(record).flatMap { CacheEntryHead(encoded: $0.head) }
                if head.map(matches) ?? true { _ = try await redis.send(word("DEL"), name) }
            }
            cursor = next
        } while cursor != word("0")
    }

    /// The first process creates the secret; the others get the same one.
    func secret() async throws -> Data {
        let random = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
        _ = try await redis.send(word("SETNX"), word(prefix + "secret"), random)
        guard case .bytes(let secret) = try await redis.send(word("GET"), word(prefix + "secret")) else {
            throw RedisError(description: "the secret is gone")
        }
        return secret
    }

    private func word(_ text: String) -> Data { Data(text.utf8) }
    private func name(_ key: CacheKey) -> Data { word(prefix + "entry:" + key.digest) }

    /// Splits a value into the key's digest, the head and the body.
    private static func parts(_ record: Data) -> (owner: Data, head: Data, body: Data)? {
        guard record.count >= 36 else { return nil }
        let length = record[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= record.count - 36 else { return nil }
        return (Data(record[..<32]), Data(record[36..<(36 + length)]), Data(record[(36 + length)...]))
    }
}
