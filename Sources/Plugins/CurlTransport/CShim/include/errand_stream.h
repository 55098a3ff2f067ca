// HTTP/2 stream events, which libcurl only reports in its log.
#ifndef ERRAND_STREAM_H
#define ERRAND_STREAM_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// libcurl's kind of log entry that is a line of text (CURLINFO_TEXT).
#define ERRAND_LOG_TEXT 0

// libcurl opened the stream with this number for the transfer's request.
#define ERRAND_STREAM_OPENED 1
// The peer hasn't processed streams of this connection beyond this number (RFC 9113, section 6.8).
#define ERRAND_STREAM_GOAWAY 2
// The peer hasn't processed the transfer's stream (RFC 9113, section 8.7).
#define ERRAND_STREAM_REFUSED 3
// libcurl resends the transfer's request, because the server refused its stream on the handle's first attempt.
#define ERRAND_STREAM_REPEATED 5
// libcurl leaves the transfer's connection, and is about to resend its request.
#define ERRAND_STREAM_LEFT 4

// Returns the event in a log line, or 0. For the first two events, sets `stream` to the number.
int errand_stream_event(const char *line, size_t count, uint32_t *stream);

#endif
#endif
