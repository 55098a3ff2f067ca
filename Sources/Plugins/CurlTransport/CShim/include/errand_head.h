// The head of a response: its lines in one block, as they came, and the fields in it.
#ifndef ERRAND_HEAD_H
#define ERRAND_HEAD_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

struct errand_head {
    // Gets the lines that more has to be done for than to keep them, and appends them itself: the first and the last
    // one of a head, the first one of a round of work, and those beyond the limit. Returns `count` if all is well.
    size_t (*line)(char *bytes, size_t size, size_t count, void *user);
    void *user;
    // When the present round of work began, and the round in which `line` was last called.
    const uint64_t *now;
    uint64_t seen;
    // Gets what comes of the body.
    size_t (*body)(char *bytes, size_t size, size_t count, void *user);
    // The first line is there and the last one is not.
    int is_open;
    // The last line of the head is there, and what comes is its body or its trailers.
    int is_complete;
    // libcurl hands lines of the head to errand_head_receive_body too, before it keeps them.
    int is_watched;
    // It may keep a line that begins with a blank: it has a field of this response that the line belongs to.
    int has_field;
    // A line was refused because it had no such field.
    int is_refused;
    // How many bytes of lines may come, and how many came.
    size_t limit;
    size_t received;
    size_t count;
    size_t capacity;
    char *bytes;
    // Most heads fit.
    char first[768];
};

// A part of the head's bytes is named by where it starts and how long it is.
struct errand_field {
    size_t name;
    size_t name_count;
    size_t value;
    size_t value_count;
    // Stands for one of the names of errand_head_name; 0 for any other name.
    int known;
    // The value is ASCII without a NUL or CR.
    int is_plain;
    // It has no name, and belongs to the value of the field before (RFC 9112, section 5.2).
    int is_continuation;
};

// NULL without memory.
struct errand_head *errand_head_make(void);
void errand_head_free(struct errand_head *head);
// 0 if there is no memory for it.
int errand_head_append(struct errand_head *head, const char *bytes, size_t count);
// libcurl's callback for a line; `head` is an errand_head.
size_t errand_head_receive(char *bytes, size_t size, size_t count, void *head);
// libcurl's callback for the body; `head` is an errand_head. Where the head is watched it gets each of its lines as
// well, and refuses one that libcurl would add to the last field of another response.
size_t errand_head_receive_body(char *bytes, size_t size, size_t count, void *head);
// The next field from an offset on, which moves beyond it; 0 if there is none. Lines that are no fields are left out.
int errand_head_next(const char *bytes, size_t count, size_t *offset, struct errand_field *field);
// What is wrong with the framing of a head (RFC 9112, section 6), as bits. ERRAND_HEAD_CODING: a Transfer-Encoding has
// anything but "chunked" and "identity". ERRAND_HEAD_LENGTH: without a Transfer-Encoding, the values of Content-Length
// are not one and the same number that an int64_t holds.
int errand_head_framing(const char *bytes, size_t count);
// The name that `known` stands for; NULL for a number that none has. All numbers are below ERRAND_HEAD_NAMES.
const char *errand_head_name(int known, int *is_lower);

#define ERRAND_HEAD_NAMES 256
#define ERRAND_HEAD_CODING 1
#define ERRAND_HEAD_LENGTH 2

#endif
#endif
