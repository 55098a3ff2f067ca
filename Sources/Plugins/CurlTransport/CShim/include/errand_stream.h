// What libcurl says of HTTP/2 streams in its log, and nowhere else.
#ifndef ERRAND_STREAM_H
#define ERRAND_STREAM_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// The kind of a piece of the log that is a line of text.
#define ERRAND_LOG_TEXT 0

// The request of this transfer has the stream of that number.
#define ERRAND_STREAM_OPENED 1
// The peer says that it has processed no stream of this connection beyond that number (RFC 9113, section 6.8).
#define ERRAND_STREAM_GOAWAY 2
// The peer says that it has not processed the stream of this transfer (RFC 9113, section 8.7).
#define ERRAND_STREAM_REFUSED 3
// libcurl sends the request of this transfer again since the first stream that it had on its handle was refused.
#define ERRAND_STREAM_REPEATED 5
// libcurl leaves the connection of this transfer, and is about to send its request again.
#define ERRAND_STREAM_LEFT 4

// Which of these a line of the log is, 0 if none; `stream` gets the number of the first two.
int errand_stream_event(const char *line, size_t count, uint32_t *stream);

#endif
#endif
