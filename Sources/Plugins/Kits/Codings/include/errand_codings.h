// Decoders for content codings. They use the system's zlib, brotli and zstd, if available, which are loaded at run
// time.
#ifndef ERRAND_CODINGS_H
#define ERRAND_CODINGS_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

enum { ERRAND_CODING_GZIP = 1, ERRAND_CODING_DEFLATE = 2, ERRAND_CODING_BROTLI = 4, ERRAND_CODING_ZSTD = 8 };

enum { ERRAND_DECODER_CORRUPT = -1, ERRAND_DECODER_MORE = 0, ERRAND_DECODER_END = 1 };

struct errand_decoder;

// Returns the codings whose libraries were loaded, combined as flags.
int errand_codings(void);
struct errand_decoder *errand_decoder_make(int coding);
void errand_decoder_free(struct errand_decoder *decoder);
// Decodes `input` into at most `capacity` bytes of `output`. Sets `taken` and `made` to the number of bytes read and
// written.
int errand_decoder_run(
    struct errand_decoder *decoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);

#endif
#endif
