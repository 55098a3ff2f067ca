#define _GNU_SOURCE
#include "errand_poll.h"

#if defined(__linux__)

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int errand_poll_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

int errand_poll_set(int poll, int descriptor, int events, int known) {
    struct epoll_event event = {.events = 0, .data = {.fd = descriptor}};
    if (events & ERRAND_POLL_IN) event.events |= EPOLLIN;
    if (events & ERRAND_POLL_OUT) event.events |= EPOLLOUT;
    int result = epoll_ctl(poll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
    if (result < 0 && known && errno == ENOENT) result = epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
    if (result < 0 && !known && errno == EEXIST) result = epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event);
    return result;
}

int errand_poll_remove(int poll, int descriptor) { return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, 0); }

int errand_poll_wait(int poll, struct errand_poll_event *events, int capacity, int milliseconds) {
    struct epoll_event ready[64];
    int count = epoll_wait(poll, ready, capacity < 64 ? capacity : 64, milliseconds);
    for (int index = 0; index < count; index++) {
        int seen = 0;
        if (ready[index].events & EPOLLIN) seen |= ERRAND_POLL_IN;
        if (ready[index].events & EPOLLOUT) seen |= ERRAND_POLL_OUT;
        if (ready[index].events & (EPOLLERR | EPOLLHUP)) seen |= ERRAND_POLL_ERROR;
        events[index].descriptor = ready[index].data.fd;
        events[index].events = seen;
    }
    return count < 0 ? 0 : count;
}

int errand_wake_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void errand_wake_send(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

void errand_wake_take(int descriptor) {
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
}

int errand_has_descriptors(int count) {
    int made[16];
    int index = 0;
    if (count > 16) count = 16;
    while (index < count && (made[index] = errand_wake_make()) >= 0) index++;
    int has = index == count;
    while (index > 0) close(made[--index]);
    return has;
}

int errand_socket_make(int family, int type, int protocol) { return socket(family, type | SOCK_CLOEXEC, protocol); }

int errand_socket_is_datagram(int type) { return (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_DGRAM; }

int errand_close(int descriptor) { return close(descriptor); }

int errand_socket_take(int descriptor) {
    int taken = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (taken < 0) return -1;
    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int result = other < 0 ? -1 : dup3(other, descriptor, O_CLOEXEC);
    if (other >= 0) close(other);
    if (result >= 0) return taken;
    close(taken);
    return -1;
}

static int counted(ssize_t result, size_t *count) {
    *count = result < 0 ? 0 : (size_t)result;
    if (result >= 0) return 0;
    return errno == EWOULDBLOCK ? EAGAIN : errno;
}

int errand_socket_send(int descriptor, const void *bytes, size_t size, size_t *count) {
    ssize_t result;
    do result = send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    return counted(result, count);
}

int errand_socket_receive(int descriptor, void *bytes, size_t size, size_t *count) {
    ssize_t result;
    do result = recv(descriptor, bytes, size, MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    return counted(result, count);
}

int errand_socket_port(int descriptor) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

// The offset of `tcpi_bytes_received` in the kernel's `struct tcp_info`, which C libraries only declare in part.
enum { RECEIVED_OFFSET = 128 };

static int received(int descriptor, uint64_t *count) {
    unsigned char info[RECEIVED_OFFSET + sizeof *count];
    socklen_t size = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) != 0 || size < sizeof info) return -1;
    memcpy(count, info + RECEIVED_OFFSET, sizeof *count);
    return 0;
}

int errand_socket_taken(int descriptor, uint64_t *count) {
    uint64_t before, after;
    int unread;
    if (received(descriptor, &after) != 0) return -1;
    // If bytes arrive between the two system calls, their results don't match, so the loop repeats both.
    do {
        before = after;
        if (ioctl(descriptor, FIONREAD, &unread) != 0 || received(descriptor, &after) != 0) return -1;
    } while (before != after);
    *count = after - (uint64_t)unread;
    return 0;
}

struct start {
    void (*body)(void *user);
    void *user;
};

static void *run(void *start) {
    struct start copy = *(struct start *)start;
    free(start);
    copy.body(copy.user);
    return NULL;
}

int errand_thread_start(void (*body)(void *user), void *user) {
    struct start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    start->body = body;
    start->user = user;
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run, start);
    if (code) free(start); else pthread_detach(thread);
    return code;
}

void errand_thread_rest(void) {
    for (;;) pause();
}

void errand_thread_prepare(const char *name) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    pthread_setname_np(pthread_self(), name);
}

#endif
