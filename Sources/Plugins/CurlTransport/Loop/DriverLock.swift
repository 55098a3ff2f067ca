#if os(Linux) || os(Android)
import ErrandSupport

/// A lock that only the loop's thread waits for. Other threads try to take it. If that fails, they leave their work to
/// the lock's holder.
///
/// Safe: this object owns the mutex, which never moves.
@safe final class DriverLock: @unchecked Sendable {
    // Sendable: threads may share the mutex, and only its holder changes `owner`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    #if DEBUG
    private var owner: pthread_t?
    #endif

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func lock() {
        unsafe pthread_mutex_lock(mutex)
        #if DEBUG
        owner = pthread_self()
        #endif
    }

    func tryLock() -> Bool {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return false }
        #if DEBUG
        owner = pthread_self()
        #endif
        return true
    }

    func unlock() {
        #if DEBUG
        owner = nil
        #endif
        unsafe pthread_mutex_unlock(mutex)
    }

    func assertHeld() {
        #if DEBUG
        precondition(owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false, "expected to hold the driver lock")
        #endif
    }
}
#endif
