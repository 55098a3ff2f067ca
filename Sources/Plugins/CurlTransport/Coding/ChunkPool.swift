#if os(Linux)
import ErrandEssentials
import ErrandSupport
import Synchronization

/// Memory for the chunks of streamed bodies, reused when a reader has released a chunk: fresh memory of this size would
/// cost a page fault for each page.
enum ChunkPool {
    /// The size of each piece of memory in bytes: a chunk, and the bytes that libcurl delivers at once beyond it.
    static let size = (256 << 10) + (32 << 10)
    /// Pieces beyond this number are freed.
    private static let kept = 4

    private struct Memory: @unchecked Sendable {
        // Sendable: it is in the pool or has one owner.
        let start: UnsafeMutableRawPointer
    }

    private static let pool = Mutex<[Memory]>([])

    /// Nil if there is no memory.
    static func take() -> UnsafeMutableRawPointer? { pool.withLock { $0.popLast() }?.start ?? malloc(size) }

    static func give(_ start: UnsafeMutableRawPointer) {
        let memory = Memory(start: start)
        let isKept = pool.withLock { pool in
            if pool.count >= kept { return false }
            pool.append(memory)
            return true
        }
        if !isKept { free(start) }
    }
}
#endif
