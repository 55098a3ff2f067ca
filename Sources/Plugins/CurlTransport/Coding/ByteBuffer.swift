#if os(Linux) || os(Android)
import ErrandEssentials
import ErrandSupport

/// Bytes that grow at their end and are passed on without a copy.
struct ByteBuffer: ~Copyable {
    private(set) var count = 0
    private var capacity = 0
    private var start: UnsafeMutableRawPointer?

    deinit { free(start) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// False if there is no memory for the bytes.
    mutating func append(_ bytes: UnsafeRawPointer, _ size: Int) -> Bool {
        if size == 0 { return true }
        guard reserve(count + size), let start else { return false }
        memcpy(start + count, bytes, size)
        count += size
        return true
    }

    @discardableResult
    mutating func reserve(_ needed: Int) -> Bool {
        if needed <= capacity { return true }
        let wanted = max(needed, min(capacity * 2, capacity + (16 << 20)))
        guard let grown = realloc(start, wanted) else { return false }
        start = grown
        capacity = wanted
        return true
    }

    mutating func removeAll() { count = 0 }

    /// The bytes; the buffer is empty and without memory afterwards.
    mutating func take() -> Data {
        guard let start, count > 0 else { return Data() }
        var bytes = start
        if capacity > 4096, capacity > count * 2, let shrunk = realloc(start, count) { bytes = shrunk }
        let data = Data(bytesNoCopy: bytes, count: count, deallocator: .free)
        (self.start, count, capacity) = (nil, 0, 0)
        return data
    }
}
#endif
