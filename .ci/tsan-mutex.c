// Tells the thread sanitizer about Swift's Mutex on Linux. A contended Mutex is locked and unlocked in
// libswiftSynchronization, which isn't instrumented. The sanitizer therefore misses the ordering and reports false
// races, for example for four threads that count under one Mutex. Load this before the tests to add the ordering. It
// does the same for continuations: instrumented code reads a continuation before it resumes it, and only then does the
// resumed task write to the same memory, but libswift_Concurrency, which orders the two, isn't instrumented.
// `.ci/sanitize thread` builds and loads this library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*lock_function)(uint32_t, SELF void *);
typedef SWIFT void (*unlock_function)(SELF void *);
typedef SWIFT void (*resume_function)(void *);
typedef SWIFT void (*resume_error_function)(void *, void *);
typedef SWIFT void *(*alloc_function)(size_t);
typedef SWIFT void (*dealloc_function)(void *);
typedef SWIFT void *(*current_function)(void);
typedef void (*annotation)(void *);

SWIFT void lock_slow(uint32_t, SELF void *) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *) __asm__(UNLOCK);

static lock_function real_lock;
static unlock_function real_unlock;
static resume_function real_resume, real_throwing_resume;
static resume_error_function real_resume_with_error;
static alloc_function real_alloc;
static dealloc_function real_dealloc;
static current_function current;
static annotation acquire, release;

__attribute__((constructor)) static void find(void) {
    real_lock = (lock_function)dlsym(RTLD_NEXT, LOCK);
    real_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
    real_resume = (resume_function)dlsym(RTLD_NEXT, "swift_continuation_resume");
    real_throwing_resume = (resume_function)dlsym(RTLD_NEXT, "swift_continuation_throwingResume");
    real_resume_with_error = (resume_error_function)dlsym(RTLD_NEXT, "swift_continuation_throwingResumeWithError");
    real_alloc = (alloc_function)dlsym(RTLD_NEXT, "swift_task_alloc");
    real_dealloc = (dealloc_function)dlsym(RTLD_NEXT, "swift_task_dealloc");
    current = (current_function)dlsym(RTLD_NEXT, "swift_task_getCurrent");
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

SWIFT void swift_continuation_resume(void *task) {
    if (release) release(task);
    real_resume(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
    if (release) release(task);
    real_throwing_resume(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
    if (release) release(task);
    real_resume_with_error(task, error);
}

// A task allocates memory for each async function it calls, including the one that creates its next continuation, and
// frees it when that function returns. One of the two comes before the resumed task reads the value it was resumed with.
SWIFT void *swift_task_alloc(size_t size) {
    void *task = acquire ? current() : NULL;
    if (task) acquire(task);
    return real_alloc(size);
}

SWIFT void swift_task_dealloc(void *memory) {
    void *task = acquire ? current() : NULL;
    if (task) acquire(task);
    real_dealloc(memory);
}
