#if os(Linux) || os(Android)
import ErrandEssentials
import ErrandSupport

/// The received bytes of a streamed body, as chunks of bounded size in pooled memory.
struct ChunkBuffer: ~Copyable {
    private(set) var count = 0
    private(set) var takes = 0
    private var full: [Data] = []
    private var current: PooledChunk?

    /// From this size on, a chunk only accepts bytes that fit completely.
    static let chunkBytes = ChunkPool.chunkBytes

    /// Returns `false` if memory runs out.
    mutating func append(_ bytes: Span<UInt8>) -> Bool {
        var done = 0
        while done < bytes.count {
            let filled = current?.count ?? 0
            let rest = bytes.count - done
            if filled == ChunkPool.size || filled >= Self.chunkBytes && filled + rest > ChunkPool.size { close() }
            if current == nil { current = PooledChunk() }
            guard let part = current?.append(bytes, from: done) else { return false }
            done += part
            count += part
        }
        return true
    }

    private mutating func close() {
        if let chunk = takeCurrent() { full.append(chunk) }
    }

    private mutating func takeCurrent() -> Data? { current.take()?.data() }

    /// Takes the oldest chunk, or empty data.
    mutating func take() -> Data {
        let chunk = full.isEmpty ? takeCurrent() ?? Data() : full.removeFirst()
        count -= chunk.count
        takes += 1
        return chunk
    }
}
#endif
