// Tells the thread sanitizer about Swift's Mutex on Linux. Where a Mutex contends, it is locked and unlocked in
// libswiftSynchronization, which is not instrumented, so that the sanitizer sees no order and reports races that are
// none: four threads that count under one Mutex are enough. Loaded before the tests, this adds the order.
//
//   clang -shared -fPIC -O1 -o tsan-mutex.so .ci/tsan-mutex.c
//   swift build --build-tests --sanitize=thread
//   LD_PRELOAD=$PWD/tsan-mutex.so swift test --skip-build --sanitize=thread
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*lock_function)(uint32_t, SELF void *);
typedef SWIFT void (*unlock_function)(SELF void *);
typedef void (*annotation)(void *);

SWIFT void lock_slow(uint32_t, SELF void *) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *) __asm__(UNLOCK);

static lock_function real_lock;
static unlock_function real_unlock;
static annotation acquire, release;

__attribute__((constructor)) static void find(void) {
    real_lock = (lock_function)dlsym(RTLD_NEXT, LOCK);
    real_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
    acquire = (annotation)dlsym(RTLD_DEFAULT, "__tsan_acquire");
    release = (annotation)dlsym(RTLD_DEFAULT, "__tsan_release");
}

SWIFT void lock_slow(uint32_t state, SELF void *self) {
    real_lock(state, self);
    if (acquire) acquire(self);
}

SWIFT void unlock_slow(SELF void *self) {
    if (release) release(self);
    real_unlock(self);
}
