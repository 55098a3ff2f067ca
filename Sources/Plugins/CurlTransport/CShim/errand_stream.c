#include "errand_stream.h"

#if defined(__linux__)

#include <string.h>

// Reads the number at the start of `line`. Returns 0 unless it's a valid stream number.
static int read_number(const char *line, size_t count, uint32_t *number) {
    uint64_t value = 0;
    size_t index = 0;
    while (index < count && line[index] >= '0' && line[index] <= '9' && value <= 0x7FFFFFFF) {
        value = value * 10 + (uint64_t)(line[index++] - '0');
    }
    if (index == 0 || value > 0x7FFFFFFF) return 0;
    *number = (uint32_t)value;
    return 1;
}

// Returns the rest of the line after `prefix`, or NULL if the line begins differently.
static const char *after(const char *prefix, const char *line, size_t count) {
    size_t length = strlen(prefix);
    return count >= length && memcmp(line, prefix, length) == 0 ? line + length : NULL;
}

static int has(const char *part, const char *line, size_t count) {
    size_t length = strlen(part);
    for (size_t start = 0; start + length <= count; start++) {
        if (memcmp(line + start, part, length) == 0) return 1;
    }
    return 0;
}

// Reads the number after `name`, anywhere in the line.
static int read_named(const char *name, const char *line, size_t count, uint32_t *number) {
    size_t length = strlen(name);
    for (size_t start = 0; start + length <= count; start++) {
        if (memcmp(line + start, name, length) == 0) {
            return read_number(line + start + length, count - start - length, number);
        }
    }
    return 0;
}

int errand_stream_event(const char *line, size_t count, uint32_t *stream) {
    const char *rest = NULL;
    if (count == 0) return 0;
    switch (line[0]) {
    case 'U':  // up to 8.0: "Using Stream ID: 3 (easy handle 0x55d0)"
        rest = after("Using Stream ID: ", line, count);
        return rest && read_number(rest, count - (size_t)(rest - line), stream) ? ERRAND_STREAM_OPENED : 0;
    case '[':  // "[HTTP/2] [3] OPENED stream for https://localhost/"
        rest = after("[HTTP/2] [", line, count);
        if (!rest || !read_number(rest, count - (size_t)(rest - line), stream)) return 0;
        while (rest < line + count && *rest >= '0' && *rest <= '9') rest++;
        return after("] OPENED stream ", rest, count - (size_t)(rest - line)) ? ERRAND_STREAM_OPENED : 0;
    case 'r':  // "received GOAWAY, error=0, last_stream=5", spelled differently up to 8.0
        rest = after("received GOAWAY, ", line, count);
        if (!rest) rest = after("recveived GOAWAY, ", line, count);
        if (!rest) return 0;
        return read_named("last_stream=", rest, count - (size_t)(rest - line), stream) ? ERRAND_STREAM_GOAWAY : 0;
    case 'R':  // if the connection has carried no other request
        return after("REFUSED_STREAM, retrying", line, count) ? ERRAND_STREAM_REPEATED : 0;
    case 'H':  // since 8.19: "HTTP/2 stream 3 refused by server, try again on a new connection", or HTTP/3
        rest = after("HTTP/2 stream ", line, count);
        if (!rest) rest = after("HTTP/3 stream ", line, count);
        if (!rest) return 0;
        return has(" refused by server", rest, count - (size_t)(rest - line)) ? ERRAND_STREAM_REFUSED : 0;
    case 'C':
        return after("Connection died, retrying", line, count) ? ERRAND_STREAM_LEFT : 0;
    default: return 0;
    }
}

#endif
