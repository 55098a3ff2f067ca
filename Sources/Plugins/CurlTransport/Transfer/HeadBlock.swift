#if os(Linux) || os(Android)
import CErrandCurl
import ErrandSupport

/// A response's header lines, in memory that C code fills as libcurl delivers them.
///
/// Safe: this value owns the memory and checks each index. libcurl uses the address while it runs the transfer, which
/// owns this value. The handle and the clock live longer.
@safe struct HeadBlock: ~Copyable {
    private var block: UnsafeMutablePointer<errand_head>?

    init() {}

    deinit { unsafe errand_head_free(block) }

    /// Prepares the handle to collect lines here. The handle's transfer gets the body, and the lines that need more
    /// work.
    mutating func collect(for handle: EasyHandle, _ clock: RoundClock, limit: Int, isWatched: Bool) -> Bool {
        guard make(), let block = unsafe block else { return false }
        unsafe block.pointee.user = unsafe Unmanaged.passUnretained(handle).toOpaque()
        unsafe block.pointee.now = unsafe UnsafePointer(clock.time)
        unsafe block.pointee.limit = max(0, limit)
        unsafe block.pointee.is_watched = isWatched ? 1 : 0
        unsafe block.pointee.has_field = 0
        unsafe block.pointee.line = onHeader
        unsafe block.pointee.body = onBody
        unsafe errand_curl_set_pointer(handle.easy.raw, ERRAND_CURLOPT_HEADERDATA, block)
        unsafe errand_curl_set_pointer(handle.easy.raw, ERRAND_CURLOPT_WRITEDATA, block)
        return true
    }

    mutating func make() -> Bool {
        if unsafe block == nil { unsafe block = unsafe errand_head_make() }
        return unsafe block != nil
    }

    var isComplete: Bool {
        get { unsafe block.map { unsafe $0.pointee.is_complete != 0 } ?? false }
        set { unsafe block?.pointee.is_complete = newValue ? 1 : 0 }
    }

    var isRefused: Bool { unsafe block.map { unsafe $0.pointee.is_refused != 0 } ?? false }

    func setOpen(_ isOpen: Bool) { unsafe block?.pointee.is_open = isOpen ? 1 : 0 }

    var received: Int {
        get { unsafe block?.pointee.received ?? 0 }
        set { unsafe block?.pointee.received = newValue }
    }

    var rest: Int { unsafe block.map { unsafe $0.pointee.limit - $0.pointee.received } ?? 0 }

    // MARK: Collected bytes

    var count: Int { unsafe block?.pointee.count ?? 0 }

    func removeAll() { unsafe block?.pointee.count = 0 }

    func append(_ line: Span<UInt8>) -> Bool {
        guard let block = unsafe block else { return false }
        return unsafe line.withUnsafeBytes { unsafe errand_head_append(block, $0.baseAddress, $0.count) } != 0
    }

    subscript(index: Int) -> UInt8 { unsafe bytes[index] }

    func firstIndex(of byte: UInt8) -> Int? { unsafe bytes.firstIndex(of: byte) }

    func text(_ range: Range<Int>) -> String { unsafe String(decoding: checked(range), as: UTF8.self) }

    func bytes(_ range: Range<Int>) -> [UInt8] { unsafe [UInt8](checked(range)) }

    /// Finds the next field and moves the offset past it. Returns `false` at the end.
    func next(from offset: inout Int, _ field: inout errand_field) -> Bool {
        guard let block = unsafe block else { return false }
        return unsafe errand_head_next(block.pointee.bytes, block.pointee.count, &offset, &field) != 0
    }

    var framing: Int32 { unsafe block.map { unsafe errand_head_framing($0.pointee.bytes, $0.pointee.count) } ?? 0 }

    private var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: block?.pointee.bytes, count: count)
    }

    private func checked(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range is beyond the head")
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    // MARK: Names

    static func name(_ number: Int) -> (text: String, isLower: Bool)? {
        var isLower: Int32 = 0
        guard let name = unsafe errand_head_name(Int32(number), &isLower) else { return nil }
        return (unsafe String(cString: name), isLower != 0)
    }
}

/// The time at which the loop's current round of work began, which C code also reads. Accessed under the driver lock.
///
/// Safe: this object owns the number, and outlives the loop's transfers.
@safe final class RoundClock {
    let time: UnsafeMutablePointer<UInt64>

    init() {
        unsafe time = .allocate(capacity: 1)
        unsafe time.initialize(to: Nanoseconds.now)
    }

    deinit { unsafe time.deallocate() }

    var now: UInt64 {
        get { unsafe time.pointee }
        set { unsafe time.pointee = newValue }
    }
}
#endif
