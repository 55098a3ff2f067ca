#include "errand_encodings.h"

#if defined(__linux__) || defined(__APPLE__)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "errand_library.h"

static struct {
    int (*deflate_init)(z_stream *, int, int, int, int, int, const char *, int);
    int (*deflate)(z_stream *, int);
    int (*deflate_end)(z_stream *);
    void *(*zstd_make)(void);
    size_t (*zstd_free)(void *);
    size_t (*zstd_set)(void *, int, int);
    size_t (*zstd_run)(void *, zstd_out *, zstd_in *, int);
    unsigned (*zstd_is_error)(size_t);
} api;

struct errand_encoder {
    int coding;
    int is_ended;
    // Whether there's output left that didn't fit into the buffer.
    int is_pending;
    z_stream zlib;
    void *zstd;
};

enum { ALL = ERRAND_CODING_GZIP | ERRAND_CODING_ZSTD };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int loaded;
// The codings whose library was found or is known to be missing.
static atomic_int settled;

static void load(int missing) {
    int found = 0;
    void *library = missing & ERRAND_CODING_GZIP ? open_first(NAMES(ERRAND_LIBZ), ERRAND_CODING_GZIP, &found) : NULL;
    if (library && FIND(library, &api.deflate_init, deflateInit2_) && FIND(library, &api.deflate, deflate) &&
        FIND(library, &api.deflate_end, deflateEnd))
        atomic_fetch_or(&loaded, ERRAND_CODING_GZIP);
    library = missing & ERRAND_CODING_ZSTD ? open_first(NAMES(ERRAND_LIBZSTD), ERRAND_CODING_ZSTD, &found) : NULL;
    // Requires zstd 1.4.0, which introduced ZSTD_compressStream2.
    if (library && FIND_WEAK(library, &api.zstd_make, ZSTD_createCCtx) &&
        FIND_WEAK(library, &api.zstd_free, ZSTD_freeCCtx) &&
        FIND_WEAK(library, &api.zstd_set, ZSTD_CCtx_setParameter) &&
        FIND_WEAK(library, &api.zstd_run, ZSTD_compressStream2) &&
        FIND_WEAK(library, &api.zstd_is_error, ZSTD_isError))
        atomic_fetch_or(&loaded, ERRAND_CODING_ZSTD);
    atomic_fetch_or(&settled, found);
}

int errand_encodings(void) {
    if (atomic_load(&settled) != ALL) {
        pthread_mutex_lock(&lock);
        load(ALL & ~atomic_load(&settled));
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&loaded);
}

struct errand_encoder *errand_encoder_make(int coding, int level) {
    if (!(errand_encodings() & coding)) return NULL;
    struct errand_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->coding = coding;
    if (coding == ERRAND_CODING_GZIP) {
        // 8 means deflate, adding 16 to the window's 15 bits means gzip's header and trailer, and 8 is the default
        // memory level.
        if (api.deflate_init(&encoder->zlib, level, 8, 15 + 16, 8, 0, "1.2.11", sizeof encoder->zlib) == 0)
            return encoder;
    } else if ((encoder->zstd = api.zstd_make())) {
        // Parameter 100 is the compression level.
        if (!api.zstd_is_error(api.zstd_set(encoder->zstd, 100, level))) return encoder;
        api.zstd_free(encoder->zstd);
    }
    free(encoder);
    return NULL;
}

void errand_encoder_free(struct errand_encoder *encoder) {
    if (!encoder) return;
    if (encoder->coding == ERRAND_CODING_GZIP) api.deflate_end(&encoder->zlib);
    if (encoder->zstd) api.zstd_free(encoder->zstd);
    free(encoder);
}

static int run_zlib(
    struct errand_encoder *encoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made, int is_last) {
    z_stream *stream = &encoder->zlib;
    // 4 ends the stream, 2 flushes all input so far, and 0 waits for more input.
    int flush = size > INT_MAX ? 0 : is_last ? 4 : 2;
    int code = zlib_step(api.deflate, stream, flush, input, size, taken, output, capacity, made);
    // -5 means that there was no progress to make.
    if (code != 0 && code != 1 && code != -5) return ERRAND_ENCODER_FAILED;
    if (code == 1) encoder->is_ended = 1;
    if (is_last) return code == 1 ? ERRAND_ENCODER_DONE : ERRAND_ENCODER_MORE;
    return *taken == size && stream->avail_out > 0 ? ERRAND_ENCODER_DONE : ERRAND_ENCODER_MORE;
}

static int run_zstd(
    struct errand_encoder *encoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made, int is_last) {
    zstd_in in = {input, size, 0};
    zstd_out out = {output, capacity, 0};
    // 2 ends the frame, and 1 flushes all input so far.
    size_t left = api.zstd_run(encoder->zstd, &out, &in, is_last ? 2 : 1);
    *taken = in.pos;
    *made = out.pos;
    if (api.zstd_is_error(left)) return ERRAND_ENCODER_FAILED;
    if (left == 0 && is_last) encoder->is_ended = 1;
    return left == 0 && in.pos == size ? ERRAND_ENCODER_DONE : ERRAND_ENCODER_MORE;
}

int errand_encoder_run(
    struct errand_encoder *encoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made, int is_last) {
    *taken = *made = 0;
    if (encoder->is_ended) return size == 0 ? ERRAND_ENCODER_DONE : ERRAND_ENCODER_FAILED;
    // There's no new input, no pending output, and no end to write.
    if (size == 0 && !is_last && !encoder->is_pending) return ERRAND_ENCODER_DONE;
    int code = encoder->coding == ERRAND_CODING_GZIP
                   ? run_zlib(encoder, input, size, taken, output, capacity, made, is_last)
                   : run_zstd(encoder, input, size, taken, output, capacity, made, is_last);
    encoder->is_pending = code == ERRAND_ENCODER_MORE;
    return code;
}

#endif
