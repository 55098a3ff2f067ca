import ErrandEssentials
import Synchronization

/// Memory for the chunks of bodies, reused when a reader has released a chunk: fresh memory of this size would cost a
/// page fault for each page.
package enum ChunkPool {
    /// The size of each piece of memory in bytes: a chunk, and what a transport may receive at once beyond it.
    package static let size = chunkBytes + (32 << 10)
    /// The size of a chunk in bytes.
    package static let chunkBytes = 256 << 10
    /// Pieces beyond this number are freed.
    private static let kept = 8

    private static let pool = Mutex<[PooledMemory]>([])

    /// Nil if there is no memory.
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

/// A piece of `ChunkPool.size` bytes, made by malloc(3). Whoever has taken it from the pool is its one owner, until it
/// gives it back: a ``PooledChunk``, or the `Data` that one became.
@safe private struct PooledMemory: @unchecked Sendable {
    // Sendable: it is in the pool or has one owner.
    let start: UnsafeMutableRawPointer
}

/// A chunk that is being filled, in memory of the ``ChunkPool``, to which that returns when the last reader has released
/// the bytes.
@safe package struct PooledChunk: ~Copyable, Sendable {
    /// The bytes that it has, at most ``ChunkPool/size``: only these are ever read.
    package private(set) var count = 0
    private let memory: PooledMemory
    /// A smaller chunk is copied, so that its memory can be reused at once.
    private static let copiedBytes = 32 << 10

    /// Returns nil if there is no memory.
    package init?() {
        guard let memory = ChunkPool.take() else { return nil }
        self.memory = memory
    }

    deinit { ChunkPool.give(memory) }

    /// Appends bytes from an index on, as many as fit, and returns their number.
    package mutating func append(_ bytes: Span<UInt8>, from start: Int = 0) -> Int {
        let bytes = bytes.extracting(start...)
        let taken = min(bytes.count, ChunkPool.size - count)
        // Within the piece; the memory of a span that the caller passes is another one's.
        unsafe bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress, taken > 0 { unsafe memcpy(memory.start + count, source, taken) }
        }
        count += taken
        return taken
    }

    /// Has a body write behind the bytes, at most `maximum`, and return how many it has written; fewer than none is a
    /// failure. Returns what the body did.
    mutating func fill(_ maximum: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let room = max(0, min(maximum, ChunkPool.size - count))
        let written = unsafe body(UnsafeMutableRawBufferPointer(start: memory.start + count, count: room))
        count += max(0, min(written, room))
        return written
    }

    /// The bytes; empty if it has none.
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
