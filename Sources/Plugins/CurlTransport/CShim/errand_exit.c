#include "errand_exit.h"
#include "errand_curl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define NO_ATEXIT 0x00080000L

static atomic_int inside;
static atomic_int leaving;
static _Thread_local int depth;

int errand_curl_enter(void) {
    atomic_fetch_add(&inside, 1);
    if (atomic_load(&leaving)) {
        atomic_fetch_sub(&inside, 1);
        return 0;
    }
    depth++;
    return 1;
}

void errand_curl_leave(void) {
    depth--;
    atomic_fetch_sub(&inside, 1);
}

// Runs at exit. Keeps threads from entering libcurl, and waits for other threads to leave it.
static void stop(void) {
    atomic_store(&leaving, 1);
    struct timespec pause = {0, 100000};
    for (int count = 0; count < 20000 && atomic_load(&inside) > depth; count++) nanosleep(&pause, NULL);
}

#if defined(ERRAND_LINKED_LIBCURL)
// NULL if libcurl is linked with another TLS library.
__attribute__((weak)) int OPENSSL_init_crypto(uint64_t, const void *);
#endif

void errand_exit_prepare(void *library) {
#if defined(ERRAND_LINKED_LIBCURL)
    int (*init)(uint64_t, const void *) = OPENSSL_init_crypto;
#else
    int (*init)(uint64_t, const void *);
    *(void **)&init = dlsym(library, "OPENSSL_init_crypto");
#endif
    if (init) init(NO_ATEXIT, NULL);
}

void errand_exit_register(void) { atexit(stop); }

#endif
