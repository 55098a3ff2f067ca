import ErrandEssentials
import ErrandSupport

/// The bytes of a stream that were not consumed yet, in one piece, at any split into chunks.
///
/// Each byte is copied into the window once, and moved again only to make room, so that the cost is linear in the
/// number of bytes, however small the chunks are. The window is bounded by the longest element and the longest chunk.
struct ByteWindow {
    /// The bytes of the window, which begin at `start`; those before it are consumed.
    private(set) var storage: [UInt8] = []
    private(set) var start = 0
    /// The number of bytes of the stream before the window.
    private(set) var offset: Int64 = 0
    /// Capacity beyond this is released as soon as the window is empty.
    private static let keptCapacity = 1 << 20

    var count: Int { storage.count - start }
    /// The first byte.
    var first: UInt8? { start < storage.count ? storage[start] : nil }

    /// A copy of the first bytes.
    func first(_ count: Int) -> Data { Data(copying: storage.span.extracting(start..<(start + count))) }

    /// Adds bytes; indices into `storage` are not valid any more.
    mutating func append(_ chunk: Data) {
        if chunk.isEmpty { return }
        makeRoom(for: chunk.count)
        storage.append(contentsOf: chunk.span)
    }

    /// Removes bytes at the beginning.
    mutating func consume(_ size: Int) {
        start += size
        offset += Int64(size)
    }

    private mutating func makeRoom(for size: Int) {
        if start == storage.count {
            storage.removeAll(keepingCapacity: storage.capacity <= Self.keptCapacity || size > Self.keptCapacity)
            start = 0
        } else if storage.count + size > storage.capacity, count <= start {
            // The front has room for at least as much as is moved, so that no byte moves often.
            storage.removeFirst(start)
            start = 0
        }
    }
}
