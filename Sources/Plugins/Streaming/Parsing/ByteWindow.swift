import ErrandEssentials
import ErrandSupport

/// The bytes of a stream that were not consumed yet, in one piece, at any split into chunks.
///
/// Each byte is copied into the window once, and moved again only to make room, so that the cost is linear in the
/// number of bytes, however small the chunks are. The window is bounded by the longest element and the longest chunk.
struct ByteWindow: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var start = 0
    private var end = 0
    /// The number of bytes of the stream before the window.
    private(set) var offset: Int64 = 0
    /// Capacity beyond this is released as soon as the window is empty.
    private static let keptCapacity = 1 << 20

    init() {}

    deinit { memory?.deallocate() }

    var count: Int { end - start }

    /// Valid until the next `append`.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { $0 + start }, count: count)
    }

    mutating func append(_ chunk: Data) {
        if chunk.isEmpty { return }
        reserve(chunk.count)
        chunk.withUnsafeBytes { source in
            guard let memory, let base = source.baseAddress else { return }
            memcpy(memory + end, base, source.count)
        }
        end += chunk.count
    }

    /// Removes bytes at the beginning.
    mutating func consume(_ size: Int) {
        start += size
        offset += Int64(size)
    }

    private mutating func reserve(_ size: Int) {
        if start == end {
            (start, end) = (0, 0)
            if capacity > Self.keptCapacity, size <= Self.keptCapacity {
                memory?.deallocate()
                (memory, capacity) = (nil, 0)
            }
        }
        if end + size <= capacity { return }
        // Moved to the front if that makes room for at least as much as is moved, so that no byte moves often.
        if let memory, count + size <= capacity, count <= start {
            memmove(memory, memory + start, count)
        } else {
            let wanted = max(count + size, min(capacity * 2, capacity + (64 << 20)), 4096)
            let grown = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
            if let memory { memcpy(grown, memory + start, count) }
            memory?.deallocate()
            (memory, capacity) = (grown, wanted)
        }
        (start, end) = (0, count)
    }
}

/// The position of a byte in memory, by the C library's search; nil if there is none.
@inline(__always)
func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard start < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + start, Int32(byte), bytes.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are those of a name of the same length.
    @inline(__always)
    func equals(_ name: StaticString) -> Bool {
        guard let baseAddress, count == name.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, name.utf8Start, count) == 0
    }
}
