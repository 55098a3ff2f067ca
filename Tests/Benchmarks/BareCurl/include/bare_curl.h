// Drives libcurl directly from C, as the lower bound for every client that uses it.
#ifndef ERRAND_BARE_CURL_H
#define ERRAND_BARE_CURL_H

// Sends a request `count` times, `lanes` at a time over as many kept connections, with a callback for each line of the
// head, and drops the bodies. Uses the easy interface for one lane, and the multi interface over epoll for more. `headers`
// end with NULL. A `body` of more than 0 bytes turns the request into a POST. With the file of an `authority`, requests
// share connections over TLS with HTTP/2. Returns 0 or an error code.
int bare_curl_send(
    const char *url, const char *authority, const char *const *headers, long body, int lanes, long count);

// Gets one URL with a receive buffer of `buffer` bytes, and drops the body.
int bare_curl_discard(const char *url, long buffer);

// Starts a WebSocket echo server on a new thread. Returns its port, or -1. `accept_key` writes the Sec-WebSocket-Accept of
// a key.
int bare_echo_start(void (*accept_key)(const char *key, char *accept));

// Sends `count` messages of `size` bytes over `lanes` WebSockets, using connections of libcurl's easy interface and epoll.
// Each socket waits for the echo before it sends its next message. Returns 0 or an error code.
int bare_socket_echo(const char *url, int lanes, long count, long size);

// Restricts a thread to some of the first 64 cores, with one bit for each.
void bare_pin_thread(int thread, unsigned long cores);

// The number of voluntary context switches of this process.
long bare_voluntary_switches(void);

#endif
