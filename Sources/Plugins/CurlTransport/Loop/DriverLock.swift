#if os(Linux)
import ErrandSupport

/// A lock that the loop's thread waits for; any other thread only tries it, and leaves its work to the holder.
final class DriverLock: @unchecked Sendable {
    // Sendable: the pointer never changes, and its target is made to be shared.
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
#endif
