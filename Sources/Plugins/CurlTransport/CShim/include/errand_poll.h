// epoll and eventfd, whose structures and names Swift's Glibc module does not bring.
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
// Watches a descriptor for `events`; `known` says whether it is watched already. -1 with errno when it cannot be.
int errand_poll_set(int poll, int descriptor, int events, int known);
int errand_poll_remove(int poll, int descriptor);
// Waits; `milliseconds` below 0 is for ever. Answers how many events there are, 0 also when a signal came.
int errand_poll_wait(int poll, struct errand_poll_event *events, int capacity, int milliseconds);

// A descriptor that becomes readable when somebody wakes it.
int errand_wake_make(void);
void errand_wake_send(int descriptor);
void errand_wake_take(int descriptor);

// Whether the process and the system have room for that many more descriptors, at most 16.
int errand_has_descriptors(int count);

// A socket that no child process inherits.
int errand_socket_make(int family, int type, int protocol);
// Whether a type of socket is that of datagrams.
int errand_socket_is_datagram(int type);
int errand_close(int descriptor);
// A descriptor of one's own for an open socket; the given one stands for another socket from then on, which is not
// connected, so that whatever is done to it has no effect. -1, and nothing has changed, where the system has none left.
int errand_socket_take(int descriptor);
// Without waiting: 0, and how many bytes; an error's number otherwise, EAGAIN to wait first.
int errand_socket_send(int descriptor, const void *bytes, size_t size, size_t *count);
int errand_socket_receive(int descriptor, void *bytes, size_t size, size_t *count);
// The local port of an internet socket; 0 if it has none.
int errand_socket_port(int descriptor);
// How many bytes were read of a TCP socket, 0 and the number; -1 where the system does not say.
int errand_socket_taken(int descriptor, uint64_t *count);
// Runs `body` on a thread of its own; 0, or an error's number.
int errand_thread_start(void (*body)(void *user), void *user);
// Does nothing until the process is over.
_Noreturn void errand_thread_rest(void);
// The name of the calling thread, blocked signals included: none of the process's are taken by it.
void errand_thread_prepare(const char *name);

#endif
#endif
