// libcurl driven from C with nothing in between: what a client over it can reach at best.
#ifndef ERRAND_BARE_CURL_H
#define ERRAND_BARE_CURL_H

// Sends a request `count` times, `lanes` at a time over as many kept connections, with a callback for each line of the
// head, and drops the bodies: one after the other by the easy interface, more by the multi interface over epoll. `headers`
// end with NULL; a `body` of so many bytes makes it a POST. With the file of an `authority` they share connections over TLS
// in HTTP/2. 0, or a number that says what went wrong.
int bare_curl_send(
    const char *url, const char *authority, const char *const *headers, long body, int lanes, long count);

// Gets one URL with a receive buffer of that many bytes, and drops the body.
int bare_curl_discard(const char *url, long buffer);

// Starts a server of WebSockets on a thread of its own, which sends each message back; its port, or -1. `accept_key` writes
// the Sec-WebSocket-Accept of a key.
int bare_echo_start(void (*accept_key)(const char *key, char *accept));

// Sends `count` messages of `size` bytes over as many WebSockets as there are lanes, each when the one before it on the same
// socket has come back, over the connections of libcurl's easy interface and epoll. 0, or a number that says what went wrong.
int bare_socket_echo(const char *url, int lanes, long count, long size);

// Lets a thread run on some of the first 64 cores only: a bit for each.
void bare_pin_thread(int thread, unsigned long cores);

// How often threads of this process have waited.
long bare_voluntary_switches(void);

#endif
