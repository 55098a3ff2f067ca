// epoll and eventfd, whose structures and names are missing from Swift's Glibc module.
#ifndef ERRAND_POLL_H
#define ERRAND_POLL_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

#define ERRAND_POLL_IN 1
#define ERRAND_POLL_OUT 2
#define ERRAND_POLL_ERROR 4

struct errand_poll_event {
    int descriptor;
    int events;
};

int errand_poll_make(void);
// Watches a descriptor for `events`; `known` states whether it is already watched. Returns -1 and sets errno on
// failure.
int errand_poll_set(int poll, int descriptor, int events, int known);
int errand_poll_remove(int poll, int descriptor);
// Waits for events, without a limit if `milliseconds` is negative. Returns the number of events, which is 0 after a
// signal.
int errand_poll_wait(int poll, struct errand_poll_event *events, int capacity, int milliseconds);

// A descriptor that becomes readable when errand_wake_send is called.
int errand_wake_make(void);
void errand_wake_send(int descriptor);
void errand_wake_take(int descriptor);

// Whether the process and the system have room for `count` more descriptors, up to 16.
int errand_has_descriptors(int count);

// Returns a socket that child processes don't inherit.
int errand_socket_make(int family, int type, int protocol);
// Whether a socket type uses datagrams.
int errand_socket_is_datagram(int type);
int errand_close(int descriptor);
// Returns a new descriptor for an open socket. The given descriptor then refers to another, unconnected socket, so
// using it doesn't affect the open one. Returns -1, without a change, if the system is out of descriptors.
int errand_socket_take(int descriptor);
// Transfers bytes without waiting. Returns 0 and sets `count`, or returns an error number: EAGAIN means to wait first.
int errand_socket_send(int descriptor, const void *bytes, size_t size, size_t *count);
int errand_socket_receive(int descriptor, void *bytes, size_t size, size_t *count);
// Returns the local port of an internet socket, or 0.
int errand_socket_port(int descriptor);
// Sets `count` to the number of bytes read from a TCP socket and returns 0, or returns -1 if the system doesn't report
// it.
int errand_socket_taken(int descriptor, uint64_t *count);
// Runs `body` on a new thread. Returns 0, or an error number.
int errand_thread_start(void (*body)(void *user), void *user);
// Waits until the process ends.
_Noreturn void errand_thread_rest(void);
// Names the calling thread and blocks its signals, so it doesn't handle the process's signals.
void errand_thread_prepare(const char *name);

#endif
#endif
