// Encoders for content codings. They use the system's zlib and zstd, if available, which are loaded at run time.
#ifndef ERRAND_ENCODINGS_H
#define ERRAND_ENCODINGS_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

#include "errand_codings.h"

enum { ERRAND_ENCODER_FAILED = -1, ERRAND_ENCODER_MORE = 0, ERRAND_ENCODER_DONE = 1 };

struct errand_encoder;

// Returns the codings with an encoder: ERRAND_CODING_GZIP and ERRAND_CODING_ZSTD, combined as flags.
int errand_encodings(void);
// Creates an encoder. Returns NULL if the library is missing or memory runs out.
struct errand_encoder *errand_encoder_make(int coding, int level);
void errand_encoder_free(struct errand_encoder *encoder);
// Encodes `input` into at most `capacity` bytes of `output`. Sets `taken` and `made` to the number of bytes read and
// written. Returns DONE if the output contains the whole input and, with `is_last`, the end of the coding. Returns MORE
// if the output is full.
int errand_encoder_run(
    struct errand_encoder *encoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made, int is_last);

#endif
#endif
