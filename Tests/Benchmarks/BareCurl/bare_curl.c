#define _GNU_SOURCE
#include "bare_curl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WRITEFUNCTION = 20011, HEADERFUNCTION = 20079, URL = 10002, BUFFERSIZE = 98, NOSIGNAL = 99, HTTPHEADER = 10023 };
enum { POSTFIELDS = 10015, POSTFIELDSIZE = 60, CAINFO = 10065, HTTP_VERSION = 84, VERSION_2TLS = 4, PIPEWAIT = 237 };
enum { SOCKETFUNCTION = 20001, SOCKETDATA = 10002, TIMERFUNCTION = 20004, TIMERDATA = 10005 };

struct message {
    int kind;
    void *easy;
    union {
        void *anything;
        int result;
    } data;
};

static struct {
    void *(*easy_init)(void);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_perform)(void *);
    void (*easy_cleanup)(void *);
    void *(*multi_init)(void);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_add)(void *, void *);
    int (*multi_remove)(void *, void *);
    int (*multi_act)(void *, int, int, int *);
    struct message *(*multi_read)(void *, int *);
    int (*multi_cleanup)(void *);
    void *(*append)(void *, const char *);
    void (*free_list)(void *);
} curl;

static int load(void) {
    if (curl.easy_init) return 1;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    *(void **)&curl.easy_setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&curl.easy_perform = dlsym(library, "curl_easy_perform");
    *(void **)&curl.easy_cleanup = dlsym(library, "curl_easy_cleanup");
    *(void **)&curl.multi_init = dlsym(library, "curl_multi_init");
    *(void **)&curl.multi_setopt = dlsym(library, "curl_multi_setopt");
    *(void **)&curl.multi_add = dlsym(library, "curl_multi_add_handle");
    *(void **)&curl.multi_remove = dlsym(library, "curl_multi_remove_handle");
    *(void **)&curl.multi_act = dlsym(library, "curl_multi_socket_action");
    *(void **)&curl.multi_read = dlsym(library, "curl_multi_info_read");
    *(void **)&curl.multi_cleanup = dlsym(library, "curl_multi_cleanup");
    *(void **)&curl.append = dlsym(library, "curl_slist_append");
    *(void **)&curl.free_list = dlsym(library, "curl_slist_free_all");
    *(void **)&curl.easy_init = dlsym(library, "curl_easy_init");
    return curl.easy_init != NULL;
}

static size_t drop(char *bytes, size_t size, size_t count, void *user) { return size * count; }

struct request {
    const char *url;
    void *headers;
    const char *body;
    long size;
    const char *authority;
};

static void *handle(const struct request *request) {
    void *easy = curl.easy_init();
    curl.easy_setopt(easy, URL, request->url);
    curl.easy_setopt(easy, NOSIGNAL, 1L);
    curl.easy_setopt(easy, WRITEFUNCTION, drop);
    curl.easy_setopt(easy, HEADERFUNCTION, drop);
    if (request->headers) curl.easy_setopt(easy, HTTPHEADER, request->headers);
    if (request->body) {
        curl.easy_setopt(easy, POSTFIELDSIZE, request->size);
        curl.easy_setopt(easy, POSTFIELDS, request->body);
    }
    if (request->authority) {
        curl.easy_setopt(easy, CAINFO, request->authority);
        curl.easy_setopt(easy, HTTP_VERSION, (long)VERSION_2TLS);
        curl.easy_setopt(easy, PIPEWAIT, 1L);
    }
    return easy;
}

struct loop {
    int poll;
    long timeout;
};

static int watch(void *easy, int descriptor, int what, void *user, void *known) {
    struct loop *loop = user;
    struct epoll_event event = {.events = (what & 1 ? EPOLLIN : 0) | (what & 2 ? EPOLLOUT : 0), .data.fd = descriptor};
    if (what == 4) return epoll_ctl(loop->poll, EPOLL_CTL_DEL, descriptor, NULL), 0;
    if (epoll_ctl(loop->poll, EPOLL_CTL_MOD, descriptor, &event)) epoll_ctl(loop->poll, EPOLL_CTL_ADD, descriptor, &event);
    return 0;
}

static int set_timer(void *multi, long milliseconds, void *user) {
    ((struct loop *)user)->timeout = milliseconds;
    return 0;
}

static int many(const struct request *request, int lanes, long count) {
    struct loop loop = {epoll_create1(EPOLL_CLOEXEC), -1};
    void *multi = curl.multi_init();
    curl.multi_setopt(multi, SOCKETFUNCTION, watch);
    curl.multi_setopt(multi, SOCKETDATA, &loop);
    curl.multi_setopt(multi, TIMERFUNCTION, set_timer);
    curl.multi_setopt(multi, TIMERDATA, &loop);
    void **all = malloc(sizeof *all * lanes);
    for (int lane = 0; lane < lanes; lane++) curl.multi_add(multi, all[lane] = handle(request));
    long started = lanes, ended = 0;
    int running = 0, left = 0, failure = 0;
    while (ended < count && !failure) {
        struct epoll_event events[64];
        int ready = epoll_wait(loop.poll, events, 64, loop.timeout < 0 ? 10000 : (int)loop.timeout);
        if (ready <= 0) {
            if (loop.timeout < 0) failure = -1;
            loop.timeout = -1;
            curl.multi_act(multi, -1, 0, &running);
        }
        for (int index = 0; index < ready; index++) {
            int what = (events[index].events & EPOLLOUT ? 2 : 0) | (events[index].events & ~EPOLLOUT ? 1 : 0);
            curl.multi_act(multi, events[index].data.fd, what, &running);
        }
        struct message *message;
        while ((message = curl.multi_read(multi, &left))) {
            void *easy = message->easy;
            if (message->data.result) failure = message->data.result;
            ended++;
            curl.multi_remove(multi, easy);
            if (started++ < count) curl.multi_add(multi, easy);
        }
    }
    for (int lane = 0; lane < lanes; lane++) {
        curl.multi_remove(multi, all[lane]);
        curl.easy_cleanup(all[lane]);
    }
    free(all);
    curl.multi_cleanup(multi);
    close(loop.poll);
    return failure;
}

static int run(const struct request *request, int lanes, long count) {
    if (lanes > 1) return many(request, lanes, count);
    void *easy = handle(request);
    int failure = 0;
    for (long number = 0; number < count && !failure; number++) failure = curl.easy_perform(easy);
    curl.easy_cleanup(easy);
    return failure;
}

int bare_curl_send(
    const char *url, const char *authority, const char *const *headers, long body, int lanes, long count
) {
    if (!load()) return -2;
    struct request request = {url, NULL, NULL, body, authority};
    for (; *headers; headers++) request.headers = curl.append(request.headers, *headers);
    char *bytes = body > 0 ? calloc(1, body) : NULL;
    request.body = bytes;
    int failure = run(&request, lanes, count);
    if (request.headers) curl.free_list(request.headers);
    free(bytes);
    return failure;
}

int bare_curl_discard(const char *url, long buffer) {
    if (!load()) return -2;
    struct request request = {url, NULL, NULL, 0, NULL};
    void *easy = handle(&request);
    curl.easy_setopt(easy, BUFFERSIZE, buffer);
    int failure = curl.easy_perform(easy);
    curl.easy_cleanup(easy);
    return failure;
}

void bare_pin_thread(int thread, unsigned long cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core = 0; core < 64; core++) {
        if (cores >> core & 1) CPU_SET(core, &set);
    }
    sched_setaffinity(thread, sizeof set, &set);
}

long bare_voluntary_switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nvcsw;
}

#else

int bare_curl_send(
    const char *url, const char *authority, const char *const *headers, long body, int lanes, long count
) {
    return -2;
}
int bare_curl_discard(const char *url, long buffer) { return -2; }
void bare_pin_thread(int thread, unsigned long cores) {}
long bare_voluntary_switches(void) { return 0; }

#endif
