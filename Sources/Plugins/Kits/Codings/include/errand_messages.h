// Raw deflate for the messages of permessage-deflate (RFC 7692). Uses the system's zlib, which is loaded at run time.
#ifndef ERRAND_MESSAGES_H
#define ERRAND_MESSAGES_H
#if defined(__linux__) || defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

enum { ERRAND_MESSAGE_CORRUPT = -1, ERRAND_MESSAGE_MORE = 0, ERRAND_MESSAGE_DONE = 1 };

struct errand_deflater;
struct errand_inflater;

// Returns whether zlib is available.
int errand_has_deflate(void);

// Creates a deflater. `window` is the binary logarithm of the window's size, from 8 to 15. Returns NULL if zlib is
// missing or memory runs out.
struct errand_deflater *errand_deflater_make(int window);
void errand_deflater_free(struct errand_deflater *deflater);
// Forgets earlier messages, as a peer without context takeover does.
int errand_deflater_reset(struct errand_deflater *deflater);
// Deflates `input` into at most `capacity` bytes of `output`, and flushes. Sets `taken` and `made` to the number of
// bytes read and written. Returns DONE if the output contains the whole input.
int errand_deflater_run(
    struct errand_deflater *deflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);

struct errand_inflater *errand_inflater_make(int window);
void errand_inflater_free(struct errand_inflater *inflater);
int errand_inflater_reset(struct errand_inflater *inflater);
// Inflates `input`. Returns DONE if the whole input was read and all its output written.
int errand_inflater_run(
    struct errand_inflater *inflater, const uint8_t *input, size_t size, size_t *taken, uint8_t *output, size_t capacity,
    size_t *made);
// Returns whether the bytes so far end with a final block, which means that the stream is complete.
int errand_inflater_has_ended(const struct errand_inflater *inflater);

#endif
#endif
