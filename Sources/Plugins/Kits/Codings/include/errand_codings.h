// Decoders of content codings, from the system's libraries where they are: zlib, brotli, zstd. All are loaded at run time.
#ifndef ERRAND_CODINGS_H
#define ERRAND_CODINGS_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

enum { ERRAND_CODING_GZIP = 1, ERRAND_CODING_DEFLATE = 2, ERRAND_CODING_BROTLI = 4, ERRAND_CODING_ZSTD = 8 };

enum { ERRAND_DECODER_CORRUPT = -1, ERRAND_DECODER_MORE = 0, ERRAND_DECODER_END = 1 };

struct errand_decoder;

// The codings whose library loaded, as a sum.
int errand_codings(void);
struct errand_decoder *errand_decoder_make(int coding);
void errand_decoder_free(struct errand_decoder *decoder);
// Decodes from `input`, taking `*taken` bytes, into at most `capacity` bytes of `output`, making `*made`.
int errand_decoder_run(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);

#endif
#endif
