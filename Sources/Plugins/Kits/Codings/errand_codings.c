#include "errand_codings.h"

#if defined(__linux__) || defined(__APPLE__)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "errand_library.h"

static struct {
    int (*inflate_init)(z_stream *, int, const char *, int);
    int (*inflate)(z_stream *, int);
    int (*inflate_end)(z_stream *);
    int (*inflate_reset)(z_stream *);
    void *(*brotli_make)(void *, void *, void *);
    int (*brotli_run)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*brotli_free)(void *);
    void *(*zstd_make)(void);
    size_t (*zstd_run)(void *, zstd_out *, zstd_in *);
    size_t (*zstd_free)(void *);
    size_t (*zstd_set)(void *, int, int);
    unsigned (*zstd_is_error)(size_t);
} api;

struct errand_decoder {
    int coding;
    int is_open;
    int is_ended;
    z_stream zlib;
    void *other;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int loaded;
// The codings whose library was found or is known to be missing.
static atomic_int settled;

enum { ZLIB = ERRAND_CODING_GZIP | ERRAND_CODING_DEFLATE, ALL = ZLIB | ERRAND_CODING_BROTLI | ERRAND_CODING_ZSTD };

static void load(int missing) {
    int found = 0;
    void *library = missing & ZLIB ? open_first(NAMES(ERRAND_LIBZ), ZLIB, &found) : NULL;
    if (library && FIND(library, &api.inflate_init, inflateInit2_) && FIND(library, &api.inflate, inflate) &&
        FIND(library, &api.inflate_end, inflateEnd) && FIND(library, &api.inflate_reset, inflateReset))
        atomic_fetch_or(&loaded, ZLIB);
    library = missing & ERRAND_CODING_BROTLI ? open_first(NAMES(ERRAND_LIBBROTLI), ERRAND_CODING_BROTLI, &found) : NULL;
    if (library && FIND_WEAK(library, &api.brotli_make, BrotliDecoderCreateInstance) &&
        FIND_WEAK(library, &api.brotli_run, BrotliDecoderDecompressStream) &&
        FIND_WEAK(library, &api.brotli_free, BrotliDecoderDestroyInstance))
        atomic_fetch_or(&loaded, ERRAND_CODING_BROTLI);
    library = missing & ERRAND_CODING_ZSTD ? open_first(NAMES(ERRAND_LIBZSTD), ERRAND_CODING_ZSTD, &found) : NULL;
    if (library && FIND_WEAK(library, &api.zstd_make, ZSTD_createDStream) &&
        FIND_WEAK(library, &api.zstd_run, ZSTD_decompressStream) &&
        FIND_WEAK(library, &api.zstd_free, ZSTD_freeDStream) &&
        FIND_WEAK(library, &api.zstd_set, ZSTD_DCtx_setParameter) &&
        FIND_WEAK(library, &api.zstd_is_error, ZSTD_isError))
        atomic_fetch_or(&loaded, ERRAND_CODING_ZSTD);
    atomic_fetch_or(&settled, found);
}

int errand_codings(void) {
    if (atomic_load(&settled) != ALL) {
        pthread_mutex_lock(&lock);
        load(ALL & ~atomic_load(&settled));
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&loaded);
}

struct errand_decoder *errand_decoder_make(int coding) {
    if (!(errand_codings() & coding)) return NULL;
    struct errand_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    if (coding == ERRAND_CODING_BROTLI) decoder->other = api.brotli_make(NULL, NULL, NULL);
    if (coding == ERRAND_CODING_ZSTD && (decoder->other = api.zstd_make()))
        // Limit the window to 8 MiB (RFC 9659). Parameter 100 is the binary logarithm of its size.
        api.zstd_set(decoder->other, 100, 23);
    if (coding >= ERRAND_CODING_BROTLI && !decoder->other) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void errand_decoder_free(struct errand_decoder *decoder) {
    if (!decoder) return;
    if (decoder->is_open) api.inflate_end(&decoder->zlib);
    if (decoder->other && decoder->coding == ERRAND_CODING_BROTLI) api.brotli_free(decoder->other);
    if (decoder->other && decoder->coding == ERRAND_CODING_ZSTD) api.zstd_free(decoder->other);
    free(decoder);
}

// Returns the window size for zlib, which also selects the format. "deflate" is zlib's format (RFC 9110, section
// 8.4.1.2), but some servers leave out its header of two bytes.
static int window(int coding, const uint8_t *input, size_t size) {
    if (coding == ERRAND_CODING_GZIP) return 15 + 16;
    int is_zlib = (input[0] & 15) == 8 && input[0] >> 4 <= 7 && (size < 2 || (input[0] * 256 + input[1]) % 31 == 0);
    return is_zlib ? 15 : -15;
}

static int run_zlib(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    z_stream *stream = &decoder->zlib;
    if (!decoder->is_open) {
        if (size == 0) return ERRAND_DECODER_MORE;
        if (api.inflate_init(stream, window(decoder->coding, input, size), "1.2.11", sizeof *stream) != 0)
            return ERRAND_DECODER_CORRUPT;
        decoder->is_open = 1;
    }
    if (decoder->is_ended) {
        // Another gzip member may follow (RFC 1952, section 2.2). Any other bytes after the end are ignored.
        if (size == 0) return ERRAND_DECODER_END;
        if (decoder->coding != ERRAND_CODING_GZIP || input[0] != 0x1f) {
            *taken = size;
            return ERRAND_DECODER_END;
        }
        if (api.inflate_reset(stream) != 0) return ERRAND_DECODER_CORRUPT;
        decoder->is_ended = 0;
    }
    int code = zlib_step(api.inflate, stream, 0, input, size, taken, output, capacity, made);
    if (code == 1) {
        decoder->is_ended = 1;
        return ERRAND_DECODER_END;
    }
    return code == 0 || code == -5 ? ERRAND_DECODER_MORE : ERRAND_DECODER_CORRUPT;
}

static int run_brotli(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    size_t left = size, room = capacity;
    int code = api.brotli_run(decoder->other, &left, &input, &room, &output, NULL);
    *taken = size - left;
    *made = capacity - room;
    if (code == 1) decoder->is_ended = 1;
    return code == 0 ? ERRAND_DECODER_CORRUPT : code == 1 ? ERRAND_DECODER_END : ERRAND_DECODER_MORE;
}

static int run_zstd(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    zstd_in in = {input, size, 0};
    zstd_out out = {output, capacity, 0};
    size_t left = api.zstd_run(decoder->other, &out, &in);
    *taken = in.pos;
    *made = out.pos;
    if (api.zstd_is_error(left)) return ERRAND_DECODER_CORRUPT;
    // 0 means the end of a frame. Another frame may follow.
    return left == 0 ? ERRAND_DECODER_END : ERRAND_DECODER_MORE;
}

int errand_decoder_run(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made) {
    *taken = *made = 0;
    switch (decoder->coding) {
    case ERRAND_CODING_BROTLI:
        if (decoder->is_ended) {
            *taken = size;
            return ERRAND_DECODER_END;
        }
        return run_brotli(decoder, input, size, taken, output, capacity, made);
    case ERRAND_CODING_ZSTD: return run_zstd(decoder, input, size, taken, output, capacity, made);
    default: return run_zlib(decoder, input, size, taken, output, capacity, made);
    }
}

#endif
