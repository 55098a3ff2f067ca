#if os(Linux) || os(Android)
import ErrandEssentials
import ErrandSupport

/// The received bytes of a streamed body that its reader has not taken: chunks of bounded size, in pooled memory.
struct ChunkBuffer: ~Copyable {
    /// Bytes in all chunks.
    private(set) var count = 0
    /// The number of chunks that were taken.
    private(set) var takes = 0
    private var full: [Data] = []
    private var current: UnsafeMutableRawPointer?
    private var filled = 0

    /// The size from which a chunk takes no more bytes that do not fit as a whole.
    static let chunkBytes = ChunkPool.chunkBytes

    deinit { if let current { ChunkPool.give(current) } }

    /// False if there is no memory for the bytes.
    mutating func append(_ bytes: UnsafeRawPointer, _ size: Int) -> Bool {
        var (bytes, size) = (bytes, size)
        while size > 0 {
            if filled == ChunkPool.size || filled >= Self.chunkBytes && filled + size > ChunkPool.size { close() }
            if current == nil { current = ChunkPool.take() }
            guard let current else { return false }
            let part = min(size, ChunkPool.size - filled)
            memcpy(current + filled, bytes, part)
            filled += part
            count += part
            bytes += part
            size -= part
        }
        return true
    }

    private mutating func close() {
        if let chunk = takeCurrent() { full.append(chunk) }
    }

    private mutating func takeCurrent() -> Data? {
        guard let current, filled > 0 else { return nil }
        defer { filled = 0 }
        self.current = nil
        return ChunkPool.data(current, count: filled)
    }

    /// The oldest chunk; empty if there is none.
    mutating func take() -> Data {
        let chunk = full.isEmpty ? takeCurrent() ?? Data() : full.removeFirst()
        count -= chunk.count
        takes += 1
        return chunk
    }
}
#endif
