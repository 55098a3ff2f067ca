import ErrandEssentials
import Synchronization

/// Reuses the memory of body chunks, because fresh memory costs a page fault per page.
package enum ChunkPool {
    /// The size of each block: a chunk, plus the bytes that a transport may receive at once.
    package static let size = chunkBytes + (32 << 10)
    package static let chunkBytes = 256 << 10
    private static let kept = 8

    private static let pool = Mutex<[PooledMemory]>([])

    fileprivate static func take() -> PooledMemory? {
        if let memory = pool.withLock({ $0.popLast() }) { return memory }
        return unsafe malloc(size).map { unsafe PooledMemory(start: $0) }
    }

    fileprivate static func give(_ memory: PooledMemory) {
        let isKept = pool.withLock { pool in
            if pool.count >= kept { return false }
            pool.append(memory)
            return true
        }
        if !isKept { unsafe free(memory.start) }
    }
}

/// A block of `ChunkPool.size` bytes from malloc(3). Its only owner is a ``PooledChunk`` or the `Data`
/// created from the chunk, until the block returns to the pool.
@safe private struct PooledMemory: @unchecked Sendable {
    // Sendable because the memory is either in the pool or has one owner.
    let start: UnsafeMutableRawPointer
}

/// A chunk that is being filled. Its memory returns to the ``ChunkPool`` when the last reader releases the bytes.
@safe package struct PooledChunk: ~Copyable, Sendable {
    /// The number of initialized bytes, at most ``ChunkPool/size``. The bytes after them are never read.
    package private(set) var count = 0
    private let memory: PooledMemory
    /// Chunks up to this size are copied, so their memory can be reused immediately.
    private static let copiedBytes = 32 << 10

    package init?() {
        guard let memory = ChunkPool.take() else { return nil }
        self.memory = memory
    }

    deinit { ChunkPool.give(memory) }

    /// Appends bytes and returns how many of them fit.
    package mutating func append(_ bytes: Span<UInt8>, from start: Int = 0) -> Int {
        let bytes = bytes.extracting(start...)
        let taken = min(bytes.count, ChunkPool.size - count)
        // The copy stays within the block, which can't overlap the caller's span.
        unsafe bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress, taken > 0 { unsafe memcpy(memory.start + count, source, taken) }
        }
        count += taken
        return taken
    }

    /// Fills the rest of the chunk. The closure returns how many bytes it wrote, or a negative number on failure.
    mutating func fill(_ maximum: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let room = max(0, min(maximum, ChunkPool.size - count))
        let written = unsafe body(UnsafeMutableRawBufferPointer(start: memory.start + count, count: room))
        count += max(0, min(written, room))
        return written
    }

    package consuming func data() -> Data {
        let (memory, count) = (memory, count)
        discard self
        if count <= Self.copiedBytes {
            defer { ChunkPool.give(memory) }
            return unsafe Data(bytes: memory.start, count: count)
        }
        return unsafe Data(
            bytesNoCopy: memory.start, count: count, deallocator: .custom { _, _ in ChunkPool.give(memory) })
    }
}
