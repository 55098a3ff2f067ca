#define _GNU_SOURCE
#include "bare_curl.h"

#if defined(__linux__)

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { URL = 10002, NOSIGNAL = 99, CONNECT_ONLY = 141, ACTIVE_SOCKET = 0x500000 + 44, AGAIN = 81 };
enum { HEAD = 14, ROOM = 64 << 10 };

// Parses the frame at the start of `bytes`. Returns the size of its head, or 0 if the head is incomplete.
static size_t read_head(const unsigned char *bytes, size_t count, size_t *length, const unsigned char **key) {
    if (count < 2) return 0;
    size_t short_length = bytes[1] & 0x7F, more = short_length < 126 ? 0 : short_length == 126 ? 2 : 8;
    size_t head = 2 + more + (bytes[1] & 0x80 ? 4 : 0);
    if (count < head) return 0;
    *length = more ? 0 : short_length;
    for (size_t index = 0; index < more; index++) *length = *length << 8 | bytes[2 + index];
    *key = bytes[1] & 0x80 ? bytes + head - 4 : NULL;
    return head;
}

static size_t write_head(unsigned char *bytes, int first, size_t length, const unsigned char *key) {
    size_t head = 2, more = length < 126 ? 0 : length <= 0xFFFF ? 2 : 8;
    bytes[0] = first;
    bytes[1] = (key ? 0x80 : 0) | (more == 0 ? length : more == 2 ? 126 : 127);
    for (size_t index = 0; index < more; index++) bytes[head++] = length >> 8 * (more - 1 - index);
    if (key) {
        memcpy(bytes + head, key, 4);
        head += 4;
    }
    return head;
}

static void mask(unsigned char *target, const unsigned char *bytes, size_t count, const unsigned char *key) {
    for (size_t index = 0; index < count; index++) target[index] = bytes[index] ^ key[index & 3];
}

// MARK: The server

struct peer {
    int descriptor, is_open;
    size_t count;
    unsigned char *rest;
};

struct server {
    int listener, poll;
    void (*accept_key)(const char *key, char *accept);
};

static int send_all(int descriptor, const void *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t result = send(descriptor, (const char *)bytes + sent, count - sent, MSG_NOSIGNAL);
        if (result <= 0) return 0;
        sent += result;
    }
    return 1;
}

static int open_socket(const struct server *server, struct peer *peer, const char *head) {
    const char *key = strcasestr(head, "\r\nsec-websocket-key:");
    if (!key) return 0;
    char text[64] = "", accept[64] = "", response[256];
    sscanf(key + 20, " %60[^\r]", text);
    server->accept_key(text, accept);
    int count = snprintf(
        response, sizeof response,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
        accept);
    peer->is_open = 1;
    return send_all(peer->descriptor, response, count);
}

// Responds to the received bytes. Returns 0 if the connection should be closed.
static int serve(const struct server *server, struct peer *peer, unsigned char *input, unsigned char *output) {
    memcpy(input, peer->rest, peer->count);
    ssize_t received = recv(peer->descriptor, input + peer->count, ROOM - peer->count, 0);
    if (received <= 0) return 0;
    size_t count = peer->count + received, used = 0, made = 0;
    int continues = 1;
    if (!peer->is_open) {
        char *end = memmem(input, count, "\r\n\r\n", 4);
        if (end) {
            *end = 0;
            if (!open_socket(server, peer, (char *)input)) return 0;
            used = end + 4 - (char *)input;
        }
    }
    while (peer->is_open && continues) {
        size_t length;
        const unsigned char *key;
        size_t head = read_head(input + used, count - used, &length, &key);
        if (!head || length > ROOM - 2 * HEAD || count - used - head < length) break;
        int opcode = input[used] & 15;
        made += write_head(output + made, 0x80 | (opcode == 9 ? 10 : opcode), length, NULL);
        if (key) mask(output + made, input + used + head, length, key);
        made += length;
        used += head + length;
        continues = opcode != 8;
    }
    if (made && !send_all(peer->descriptor, output, made)) return 0;
    free(peer->rest);
    peer->rest = NULL;
    peer->count = count - used;
    if (peer->count) peer->rest = memcpy(malloc(peer->count), input + used, peer->count);
    return continues && peer->count < ROOM;
}

static void *run_server(void *user) {
    struct server *server = user;
    unsigned char *input = malloc(ROOM + 1), *output = malloc(2 * ROOM);
    struct epoll_event events[64];
    for (;;) {
        int ready = epoll_wait(server->poll, events, 64, -1);
        for (int index = 0; index < ready; index++) {
            struct peer *peer = events[index].data.ptr;
            if (peer) {
                if (serve(server, peer, input, output)) continue;
                // A process that is being spawned briefly shares the connection, which keeps its events alive.
                epoll_ctl(server->poll, EPOLL_CTL_DEL, peer->descriptor, NULL);
                close(peer->descriptor);
                free(peer->rest);
                free(peer);
                continue;
            }
            int on = 1, descriptor = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
            if (descriptor < 0) continue;
            setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            struct peer *made = calloc(1, sizeof *made);
            made->descriptor = descriptor;
            struct epoll_event event = {.events = EPOLLIN, .data.ptr = made};
            epoll_ctl(server->poll, EPOLL_CTL_ADD, descriptor, &event);
        }
    }
    return NULL;
}

int bare_echo_start(void (*accept_key)(const char *key, char *accept)) {
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    struct server *server = malloc(sizeof *server);
    *server = (struct server){socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), epoll_create1(EPOLL_CLOEXEC), accept_key};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct epoll_event event = {.events = EPOLLIN};
    pthread_t thread;
    if (bind(server->listener, (void *)&address, size) || listen(server->listener, 1024)
        || getsockname(server->listener, (void *)&address, &size)
        || epoll_ctl(server->poll, EPOLL_CTL_ADD, server->listener, &event)
        || pthread_create(&thread, NULL, run_server, server))
        return -1;
    return ntohs(address.sin_port);
}

// MARK: The client

static struct {
    void *(*init)(void);
    int (*setopt)(void *, int, ...);
    int (*perform)(void *);
    int (*getinfo)(void *, int, ...);
    int (*send)(void *, const void *, size_t, size_t *);
    int (*receive)(void *, void *, size_t, size_t *);
    void (*cleanup)(void *);
} curl;

static int load(void) {
    if (curl.init) return 1;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    *(void **)&curl.setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&curl.perform = dlsym(library, "curl_easy_perform");
    *(void **)&curl.getinfo = dlsym(library, "curl_easy_getinfo");
    *(void **)&curl.send = dlsym(library, "curl_easy_send");
    *(void **)&curl.receive = dlsym(library, "curl_easy_recv");
    *(void **)&curl.cleanup = dlsym(library, "curl_easy_cleanup");
    *(void **)&curl.init = dlsym(library, "curl_easy_init");
    return curl.init != NULL;
}

struct lane {
    void *easy;
    int descriptor;
    size_t count;
    unsigned char *input;
};

static int send_message(const struct lane *lane, const unsigned char *content, size_t size, unsigned char *frame) {
    static uint32_t random = 2463534242;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    size_t head = write_head(frame, 0x82, size, (unsigned char *)&random), sent = 0;
    mask(frame + head, content, size, (unsigned char *)&random);
    for (size_t offset = 0; offset < head + size; offset += sent) {
        int code = curl.send(lane->easy, frame + offset, head + size - offset, &sent);
        if (code && code != AGAIN) return code;
        if (code) sent = 0;
    }
    return 0;
}

static int open_lane(struct lane *lane, const char *url, int poll) {
    lane->easy = curl.init();
    lane->input = malloc(ROOM);
    curl.setopt(lane->easy, URL, url);
    curl.setopt(lane->easy, NOSIGNAL, 1L);
    curl.setopt(lane->easy, CONNECT_ONLY, 1L);
    int code = curl.perform(lane->easy);
    if (code) return code;
    curl.getinfo(lane->easy, ACTIVE_SOCKET, &lane->descriptor);
    const char *head = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    size_t sent, received, count = 0;
    if ((code = curl.send(lane->easy, head, strlen(head), &sent))) return code;
    while (count < 4 || memcmp(lane->input + count - 4, "\r\n\r\n", 4)) {
        code = curl.receive(lane->easy, lane->input + count, ROOM - count, &received);
        if (code && code != AGAIN) return code;
        if (!code) count += received;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = lane};
    return epoll_ctl(poll, EPOLL_CTL_ADD, lane->descriptor, &event);
}

// Reads the received bytes. Returns the number of complete messages, or -1.
static int take(struct lane *lane) {
    size_t received = 0, length, used = 0;
    const unsigned char *key;
    int messages = 0;
    for (;;) {
        int code = curl.receive(lane->easy, lane->input + lane->count, ROOM - lane->count, &received);
        if (code == AGAIN) break;
        if (code || !received) return -1;
        lane->count += received;
    }
    for (;;) {
        size_t head = read_head(lane->input + used, lane->count - used, &length, &key);
        if (!head || lane->count - used - head < length) break;
        used += head + length;
        messages++;
    }
    memmove(lane->input, lane->input + used, lane->count -= used);
    return messages;
}

int bare_socket_echo(const char *url, int lanes, long count, long size) {
    if (!load()) return -2;
    struct lane *all = calloc(lanes, sizeof *all);
    unsigned char *content = calloc(1, size), *frame = malloc(size + HEAD);
    int poll = epoll_create1(EPOLL_CLOEXEC), failure = 0;
    long begun = 0, ended = 0;
    for (int lane = 0; lane < lanes && !failure; lane++) failure = open_lane(&all[lane], url, poll);
    for (; begun < lanes && begun < count && !failure; begun++) failure = send_message(&all[begun], content, size, frame);
    while (ended < count && !failure) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, 10000);
        if (ready <= 0) failure = -1;
        for (int index = 0; index < ready && !failure; index++) {
            struct lane *lane = events[index].data.ptr;
            int messages = take(lane);
            if (messages < 0) failure = -3;
            for (; messages > 0 && !failure; messages--) {
                ended++;
                if (begun++ < count) failure = send_message(lane, content, size, frame);
            }
        }
    }
    for (int lane = 0; lane < lanes; lane++) {
        if (all[lane].easy) curl.cleanup(all[lane].easy);
        free(all[lane].input);
    }
    free(all);
    free(content);
    free(frame);
    close(poll);
    return failure;
}

#else

int bare_echo_start(void (*accept_key)(const char *key, char *accept)) { return -1; }
int bare_socket_echo(const char *url, int lanes, long count, long size) { return -2; }

#endif
