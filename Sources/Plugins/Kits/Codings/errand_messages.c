#include "errand_messages.h"

#if defined(__linux__) || defined(__APPLE__)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "errand_library.h"

static struct {
    int (*deflate_init)(z_stream *, int, int, int, int, int, const char *, int);
    int (*deflate)(z_stream *, int);
    int (*deflate_reset)(z_stream *);
    int (*deflate_end)(z_stream *);
    int (*inflate_init)(z_stream *, int, const char *, int);
    int (*inflate)(z_stream *, int);
    int (*inflate_reset)(z_stream *);
    int (*inflate_end)(z_stream *);
    // These functions copy the window. `get_window` is NULL before zlib 1.2.8, which introduced inflateGetDictionary.
    int (*get_window)(z_stream *, unsigned char *, unsigned int *);
    int (*set_window)(z_stream *, const unsigned char *, unsigned int);
} api;

struct errand_deflater { z_stream zlib; };
struct errand_inflater {
    z_stream zlib;
    // Whether the bytes so far end with a final block.
    int has_ended;
};

enum { SYNC_FLUSH = 2, STREAM_END = 1, BUFFER_ERROR = -5 };

// The result of `run` if the deflate stream has ended.
enum { ENDED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int loaded;
// Whether zlib was found or is known to be missing.
static atomic_int settled;

static void load(void) {
    int found = 0;
    void *library = open_first(NAMES(ERRAND_LIBZ), 1, &found);
    if (library && FIND(library, &api.deflate_init, deflateInit2_) && FIND(library, &api.deflate, deflate) &&
        FIND(library, &api.deflate_reset, deflateReset) && FIND(library, &api.deflate_end, deflateEnd) &&
        FIND(library, &api.inflate_init, inflateInit2_) && FIND(library, &api.inflate, inflate) &&
        FIND(library, &api.inflate_reset, inflateReset) && FIND(library, &api.inflate_end, inflateEnd)) {
        if (!FIND(library, &api.get_window, inflateGetDictionary) || !FIND(library, &api.set_window, inflateSetDictionary))
            api.get_window = NULL;
        atomic_store(&loaded, 1);
    }
    atomic_store(&settled, found);
}

int errand_has_deflate(void) {
    if (!atomic_load(&settled)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load(&settled)) load();
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&loaded);
}

struct errand_deflater *errand_deflater_make(int window) {
    if (!errand_has_deflate()) return NULL;
    struct errand_deflater *deflater = calloc(1, sizeof *deflater);
    if (!deflater) return NULL;
    // zlib doesn't support a raw window of 256 bytes, so use a larger window. This does no harm with Huffman coding
    // only (2), because the output then doesn't refer to earlier bytes.
    int is_small = window < 9;
    // -1 is the default level, the first 8 means deflate, and the second 8 is the default memory level.
    z_stream *stream = &deflater->zlib;
    int bits = is_small ? -9 : -window;
    if (api.deflate_init(stream, -1, 8, bits, 8, is_small ? 2 : 0, "1.2.11", sizeof *stream) == 0) return deflater;
    free(deflater);
    return NULL;
}

void errand_deflater_free(struct errand_deflater *deflater) {
    if (!deflater) return;
    api.deflate_end(&deflater->zlib);
    free(deflater);
}

int errand_deflater_reset(struct errand_deflater *deflater) { return api.deflate_reset(&deflater->zlib); }

struct errand_inflater *errand_inflater_make(int window) {
    if (!errand_has_deflate()) return NULL;
    struct errand_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    if (api.inflate_init(&inflater->zlib, -window, "1.2.11", sizeof inflater->zlib) == 0) return inflater;
    free(inflater);
    return NULL;
}

void errand_inflater_free(struct errand_inflater *inflater) {
    if (!inflater) return;
    api.inflate_end(&inflater->zlib);
    free(inflater);
}

int errand_inflater_reset(struct errand_inflater *inflater) {
    inflater->has_ended = 0;
    return api.inflate_reset(&inflater->zlib);
}

static int run(
    int (*step)(z_stream *, int), z_stream *stream, const uint8_t *input, size_t size, size_t *taken, uint8_t *output,
    size_t capacity, size_t *made) {
    int code = zlib_step(step, stream, SYNC_FLUSH, input, size, taken, output, capacity, made);
    if (code != 0 && code != STREAM_END && code != BUFFER_ERROR) return ERRAND_MESSAGE_CORRUPT;
    if (code == STREAM_END) return ENDED;
    return *taken == size && stream->avail_out > 0 ? ERRAND_MESSAGE_DONE : ERRAND_MESSAGE_MORE;
}

int errand_deflater_run(
    struct errand_deflater *deflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    return run(api.deflate, &deflater->zlib, input, size, taken, output, capacity, made);
}

// Begins another stream after a final block. Keeps the window, because a later message may refer to earlier bytes (RFC
// 7692, section 7.1.1).
static int begin_again(z_stream *stream) {
    unsigned char window[1 << 15];
    unsigned int size = 0;
    if (api.get_window && api.get_window(stream, window, &size) != 0) size = 0;
    int code = api.inflate_reset(stream);
    return code == 0 && size > 0 ? api.set_window(stream, window, size) : code;
}

int errand_inflater_run(
    struct errand_inflater *inflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    int code = run(api.inflate, &inflater->zlib, input, size, taken, output, capacity, made);
    if (*taken > 0) inflater->has_ended = 0;
    if (code != ENDED) return code;
    // A final block ends the stream, and another stream may follow (RFC 7692, section 7.2.3.4).
    if (begin_again(&inflater->zlib) != 0) return ERRAND_MESSAGE_CORRUPT;
    inflater->has_ended = *taken == size;
    return *taken == size ? ERRAND_MESSAGE_DONE : ERRAND_MESSAGE_MORE;
}

int errand_inflater_has_ended(const struct errand_inflater *inflater) { return inflater->has_ended; }

#endif
