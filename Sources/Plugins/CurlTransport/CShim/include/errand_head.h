// The head of a response: its lines in one block, as received, and the fields in it.
#ifndef ERRAND_HEAD_H
#define ERRAND_HEAD_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

struct errand_head {
    // Called for lines that need more work than being appended, and appends them itself: the first and the last line of
    // a head, the first line in a round of the loop, and lines beyond the limit. Returns `count` on success.
    size_t (*line)(char *bytes, size_t size, size_t count, void *user);
    void *user;
    // `now` is when the current round of the loop began, and `seen` is the value of `now` when `line` was last called.
    const uint64_t *now;
    uint64_t seen;
    // Receives bytes of the body.
    size_t (*body)(char *bytes, size_t size, size_t count, void *user);
    // The first line was received, but not the last one.
    int is_open;
    // The last line of the head was received. Body or trailers follow.
    int is_complete;
    // libcurl also passes header lines to errand_head_receive_body, before it stores them.
    int is_watched;
    // A field of this response was received, so libcurl can safely add a line that begins with a blank to it.
    int has_field;
    // A line that begins with a blank was rejected, because this response had no field before it.
    int is_refused;
    // The maximum number of bytes in lines, and the number received.
    size_t limit;
    size_t received;
    size_t count;
    size_t capacity;
    char *bytes;
    // The initial memory for the lines, which is enough for most heads.
    char first[768];
};

// A field, by offsets and lengths in the head's bytes.
struct errand_field {
    size_t name;
    size_t name_count;
    size_t value;
    size_t value_count;
    // The number of a common name, for errand_head_name, or 0 for any other name.
    int known;
    // The value is ASCII without NUL or CR.
    int is_plain;
    // The line continues the value of the previous field (RFC 9112, section 5.2).
    int is_continuation;
};

// Creates an empty head. Returns NULL if memory runs out.
struct errand_head *errand_head_make(void);
void errand_head_free(struct errand_head *head);
// Appends bytes to the head. Returns 0 if memory runs out.
int errand_head_append(struct errand_head *head, const char *bytes, size_t count);
// libcurl's callback for a line. `head` is an errand_head.
size_t errand_head_receive(char *bytes, size_t size, size_t count, void *head);
// libcurl's callback for the body. `head` is an errand_head. If the head is watched, the callback also receives each
// header line, and rejects a line that libcurl would add to the last field of another response.
size_t errand_head_receive_body(char *bytes, size_t size, size_t count, void *head);
// Finds the next field from an offset on, and moves the offset past it. Skips invalid lines. Returns 0 at the end.
int errand_head_next(const char *bytes, size_t count, size_t *offset, struct errand_field *field);
// Returns defects of a head's framing (RFC 9112, section 6) as bits. ERRAND_HEAD_CODING: a Transfer-Encoding contains
// more than "chunked" and "identity". ERRAND_HEAD_LENGTH: there is no Transfer-Encoding, and the values of
// Content-Length aren't a single number that fits in an int64_t.
int errand_head_framing(const char *bytes, size_t count);
// Returns the common name that `known` encodes, or NULL if the number is unassigned. Sets `is_lower` to whether the
// name was received in lowercase. All numbers are below ERRAND_HEAD_NAMES.
const char *errand_head_name(int known, int *is_lower);

#define ERRAND_HEAD_NAMES 256
#define ERRAND_HEAD_CODING 1
#define ERRAND_HEAD_LENGTH 2

#endif
#endif
