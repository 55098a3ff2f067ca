#if os(Linux) || os(Android)
import ErrandSupport

/// A lock that the loop's thread waits for; any other thread only tries it, and leaves its work to the holder.
final class DriverLock: @unchecked Sendable {
    // Sendable: the pointer never changes, and its target is made to be shared; `owner` is changed by the holder only.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    #if DEBUG
    private var owner: pthread_t?
    #endif

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() {
        pthread_mutex_lock(mutex)
        #if DEBUG
        owner = pthread_self()
        #endif
    }

    func tryLock() -> Bool {
        guard pthread_mutex_trylock(mutex) == 0 else { return false }
        #if DEBUG
        owner = pthread_self()
        #endif
        return true
    }

    func unlock() {
        #if DEBUG
        owner = nil
        #endif
        pthread_mutex_unlock(mutex)
    }

    /// Traps in a debug build where this thread does not have the lock: no compiler checks what the lock guards.
    func assertHeld() {
        #if DEBUG
        precondition(owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false, "the driver lock is not held")
        #endif
    }
}
#endif
