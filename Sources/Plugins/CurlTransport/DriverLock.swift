#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock that one thread may wait for and others only try: they leave their work to whoever holds it.
final class DriverLock: @unchecked Sendable {
    // Sendable: the pointer never changes, and what it points to is made for being shared.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    func unlock() { pthread_mutex_unlock(mutex) }
}

/// Nanoseconds of the monotonic clock.
struct Nanoseconds {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A duration in nanoseconds: none below 1, none beyond a hundred years.
    static func of(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        if seconds < 0 || attoseconds < 0 { return 1 }
        if seconds >= 3_000_000_000 { return 3_000_000_000_000_000_000 }
        return max(1, UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000))
    }

    /// Rounded up, as libcurl and epoll want it.
    static func milliseconds(_ nanoseconds: UInt64) -> Int {
        Int(min((nanoseconds + 999_999) / 1_000_000, UInt64(Int32.max)))
    }
}
#endif
