#define _GNU_SOURCE
#include "errand_poll.h"

#if defined(__linux__)

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

void errand_thread_prepare(const char *name) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    pthread_setname_np(pthread_self(), name);
}

#endif
