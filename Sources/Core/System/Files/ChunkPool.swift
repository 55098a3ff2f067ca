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
    /// A smaller chunk is copied, so that its memory can be reused at once.
    private static let copiedBytes = 32 << 10

    private struct Memory: @unchecked Sendable {
        // Sendable: it is in the pool or has one owner.
        let start: UnsafeMutableRawPointer
    }

    private static let pool = Mutex<[Memory]>([])

    /// Nil if there is no memory.
    package static func take() -> UnsafeMutableRawPointer? { pool.withLock { $0.popLast() }?.start ?? malloc(size) }

    package static func give(_ start: UnsafeMutableRawPointer) {
        let memory = Memory(start: start)
        let isKept = pool.withLock { pool in
            if pool.count >= kept { return false }
            pool.append(memory)
            return true
        }
        if !isKept { free(start) }
    }

    /// The first bytes of a piece, which returns to the pool with the end of the data.
    package static func data(_ start: UnsafeMutableRawPointer, count: Int) -> Data {
        if count > copiedBytes {
            return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in give(start) })
        }
        defer { give(start) }
        return Data(bytes: start, count: count)
    }
}
