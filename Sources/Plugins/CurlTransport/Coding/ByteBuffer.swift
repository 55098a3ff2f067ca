#if os(Linux) || os(Android)
import ErrandEssentials
import ErrandSupport

/// A growing buffer that hands over its bytes without a copy.
///
/// Safe: this value owns the memory until ``take()``, writes within the capacity, and reads within the count.
@safe struct ByteBuffer: ~Copyable {
    private(set) var count = 0
    private var capacity = 0
    private var start: UnsafeMutableRawPointer?

    init() {}

    deinit { unsafe free(start) }

    mutating func append(_ bytes: Span<UInt8>) -> Bool {
        if bytes.isEmpty { return true }
        guard reserve(count + bytes.count), let start = unsafe start else { return false }
        unsafe bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { unsafe memcpy(start + count, source, bytes.count) }
        }
        count += bytes.count
        return true
    }

    @discardableResult
    mutating func reserve(_ needed: Int) -> Bool {
        if needed <= capacity { return true }
        let wanted = max(needed, min(capacity * 2, capacity + (16 << 20)))
        guard let grown = unsafe realloc(start, wanted) else { return false }
        unsafe start = grown
        capacity = wanted
        return true
    }

    mutating func removeAll() { count = 0 }

    mutating func take() -> Data {
        guard let start = unsafe start, count > 0 else { return Data() }
        var bytes = unsafe start
        if capacity > 4096, capacity > count * 2, let shrunk = unsafe realloc(start, count) { unsafe bytes = shrunk }
        let data = unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .free)
        unsafe self.start = nil
        (count, capacity) = (0, 0)
        return data
    }
}
#endif
