// Raw deflate for the messages of permessage-deflate (RFC 7692), by the system's zlib, which is loaded at run time.
#ifndef ERRAND_MESSAGES_H
#define ERRAND_MESSAGES_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

enum { ERRAND_MESSAGE_CORRUPT = -1, ERRAND_MESSAGE_MORE = 0, ERRAND_MESSAGE_DONE = 1 };

struct errand_deflater;
struct errand_inflater;

// Whether zlib is there.
int errand_has_deflate(void);

// `window` is the logarithm of the window, from 8 to 15. NULL without the library or memory.
struct errand_deflater *errand_deflater_make(int window);
void errand_deflater_free(struct errand_deflater *deflater);
// Forgets what came before, as a peer without takeover does.
int errand_deflater_reset(struct errand_deflater *deflater);
// Deflates `input`, taking `*taken` bytes, into at most `capacity` bytes of `output`, making `*made`, and flushes. DONE when
// all of it is in the output.
int errand_deflater_run(
    struct errand_deflater *deflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);

struct errand_inflater *errand_inflater_make(int window);
void errand_inflater_free(struct errand_inflater *inflater);
int errand_inflater_reset(struct errand_inflater *inflater);
// Inflates; DONE when all of the input was taken and all of the output made.
int errand_inflater_run(
    struct errand_inflater *inflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);
// Whether the bytes so far end with a final block: nothing of the stream is missing then.
int errand_inflater_has_ended(const struct errand_inflater *inflater);

#endif
#endif
