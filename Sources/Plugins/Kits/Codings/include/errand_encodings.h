// Encoders of content codings, from the system's libraries where they are: zlib, zstd. Both are loaded at run time.
#ifndef ERRAND_ENCODINGS_H
#define ERRAND_ENCODINGS_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

#include "errand_codings.h"

enum { ERRAND_ENCODER_FAILED = -1, ERRAND_ENCODER_MORE = 0, ERRAND_ENCODER_DONE = 1 };

struct errand_encoder;

// The codings that there is an encoder for, as a sum of ERRAND_CODING_GZIP and ERRAND_CODING_ZSTD.
int errand_encodings(void);
// NULL where there is no library or no memory.
struct errand_encoder *errand_encoder_make(int coding, int level);
void errand_encoder_free(struct errand_encoder *encoder);
// Encodes from `input`, taking `*taken` bytes, into at most `capacity` bytes of `output`, making `*made`. DONE when the
// whole input is in the output, or, with `is_last`, the end of the coding as well; MORE when there was no room.
int errand_encoder_run(
    struct errand_encoder *encoder, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made, int is_last);

#endif
#endif
