// libcurl driven from C with nothing in between: what a client over it can reach at best.
#ifndef ERRAND_BARE_CURL_H
#define ERRAND_BARE_CURL_H

// Gets a URL `count` times, `lanes` at a time over as many kept connections, and drops the bodies: one after the other
// by the easy interface, more by the multi interface over epoll. 0, or a number that says what went wrong.
int bare_curl_get(const char *url, int lanes, long count);

// Gets one URL with a receive buffer of that many bytes, and drops the body.
int bare_curl_discard(const char *url, long buffer);

#endif
