// Finds a system library at run time, and declares the parts of zlib's and zstd's stable interfaces that encoders and
// decoders share.
#ifndef ERRAND_LIBRARY_H
#define ERRAND_LIBRARY_H

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// If a library's name has no path, Apple's dlopen also searches the current directory, where anyone may have put a
// file. On Apple's platforms, this file therefore uses full paths, from the system and from package managers. On Linux,
// dlopen searches only the linker's directories.
#if defined(__APPLE__)
#define ERRAND_LIBZ "/usr/lib/libz.1.dylib"
#define ERRAND_LIBBROTLI "/opt/homebrew/lib/libbrotlidec.1.dylib", "/usr/local/lib/libbrotlidec.1.dylib"
#define ERRAND_LIBZSTD "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib"
#elif defined(__ANDROID__)
// zlib is part of the system. An app includes the other libraries.
#define ERRAND_LIBZ "libz.so"
#define ERRAND_LIBBROTLI "libbrotlidec.so"
#define ERRAND_LIBZSTD "libzstd.so"
#else
#define ERRAND_LIBZ "libz.so.1"
#define ERRAND_LIBBROTLI "libbrotlidec.so.1"
#define ERRAND_LIBZSTD "libzstd.so.1"
#endif

typedef struct {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;

typedef struct {
    const void *src;
    size_t size;
    size_t pos;
} zstd_in;

typedef struct {
    void *dst;
    size_t size;
    size_t pos;
} zstd_out;

// Stores the function of that name in a slot, and returns whether it exists.
#if defined(ERRAND_LINKED_LIBCURL)

// zlib is linked. brotli and zstd are available if another part of the program, such as libcurl, links them.
#define FIND(library, slot, symbol) FIND_LINKED(slot, symbol, )
#define FIND_WEAK(library, slot, symbol) FIND_LINKED(slot, symbol, __attribute__((weak)))
#define FIND_LINKED(slot, symbol, attribute) \
    ({ extern void symbol(void) attribute; (*(void **)(slot) = (void *)symbol) != NULL; })

static inline void *open_first(const char *const *names, int codings, int *found) {
    *found |= codings;
    return found;
}

#else

#define FIND(library, slot, symbol) ((*(void **)(slot) = dlsym(library, #symbol)) != NULL)
#define FIND_WEAK FIND

// Opens the first library that exists. Returns NULL if there isn't any, or if file descriptors or memory ran out. If
// they ran out, the codings aren't added to `found`, so a later call tries again.
static inline void *open_first(const char *const *names, int codings, int *found) {
    int passes = 0;
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            *found |= codings;
            return library;
        }
        const char *reason = dlerror();
        passes |= reason && (strstr(reason, strerror(EMFILE)) || strstr(reason, strerror(ENFILE)) ||
                             strstr(reason, strerror(ENOMEM)));
    }
    if (!passes) *found |= codings;
    return NULL;
}

#endif

// Runs a step of zlib, `inflate` or `deflate`, from `input` to `output`. Passes at most INT_MAX bytes of each, because
// zlib counts in `unsigned int`. Returns zlib's code.
static inline int zlib_step(
    int (*step)(z_stream *, int), z_stream *stream, int flush, const uint8_t *input, size_t size, size_t *taken,
    uint8_t *output, size_t capacity, size_t *made) {
    unsigned int given = size > INT_MAX ? INT_MAX : (unsigned int)size;
    unsigned int room = capacity > INT_MAX ? INT_MAX : (unsigned int)capacity;
    stream->next_in = input;
    stream->avail_in = given;
    stream->next_out = output;
    stream->avail_out = room;
    int code = step(stream, flush);
    *taken = given - stream->avail_in;
    *made = room - stream->avail_out;
    return code;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
