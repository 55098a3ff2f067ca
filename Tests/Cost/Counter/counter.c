#include "CErrandCounter.h"

#include <errno.h>
#include <stddef.h>

static _Thread_local long calls, bytes;

__attribute__((noinline)) void errand_cost_mark(void) { __asm__ volatile(""); }

long errand_heap_calls(void) { return calls; }
long errand_heap_bytes(void) { return bytes; }

#ifdef __GLIBC__
// The program's functions take precedence over the C library's, even in the libraries that it loads.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(size_t size) {
    calls += 1;
    bytes += (long)size;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(size);
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
    *place = memalign(alignment, size);
    return *place ? 0 : ENOMEM;
}
#endif
