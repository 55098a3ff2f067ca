#define _GNU_SOURCE
#include "errand_curl.h"

#if defined(__linux__)

#include "errand_exit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef struct {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
    const char *tls;
    long tls_number;
    const char *zlib;
    const char *const *protocols;
    const char *ares;
    int ares_number;
    const char *idn;
    int iconv_number;
    const char *ssh;
    unsigned int brotli_number;
    const char *brotli;
    unsigned int http2_number;
    const char *http2;
    const char *quic;
    const char *authorities_file;
    const char *authorities_directory;
} version_info;

typedef struct {
    int msg;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
} message;

static struct {
    int (*global_init)(long);
    version_info *(*version)(int);
    const char *(*strerror)(int);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    void (*easy_reset)(void *);
    int (*easy_pause)(void *, int);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    int (*easy_send)(void *, const void *, size_t, size_t *);
    int (*easy_recv)(void *, void *, size_t, size_t *);
    void *(*share_init)(void);
    int (*share_setopt)(void *, int, ...);
    int (*share_cleanup)(void *);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_add)(void *, void *);
    int (*multi_remove)(void *, void *);
    int (*multi_socket_action)(void *, int, int, int *);
    message *(*multi_info_read)(void *, int *);
} api;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static version_info *info;

// Sets a slot of `api` to a function of this program or of the loaded library. Evaluates to 0 if the function is
// missing.
#if defined(ERRAND_LINKED_LIBCURL)
#define FIND(library, slot, symbol) ({ extern void symbol(void); *(void **)(slot) = (void *)symbol; 1; })
#else
#define FIND(library, slot, symbol) ((*(void **)(slot) = dlsym(library, #symbol)) != NULL)
#endif

static int find_all(void *library) {
    return FIND(library, &api.global_init, curl_global_init) &&
           FIND(library, &api.version, curl_version_info) &&
           FIND(library, &api.strerror, curl_easy_strerror) &&
           FIND(library, &api.easy_init, curl_easy_init) &&
           FIND(library, &api.easy_cleanup, curl_easy_cleanup) &&
           FIND(library, &api.easy_reset, curl_easy_reset) &&
           FIND(library, &api.easy_pause, curl_easy_pause) &&
           FIND(library, &api.easy_setopt, curl_easy_setopt) &&
           FIND(library, &api.easy_getinfo, curl_easy_getinfo) &&
           FIND(library, &api.easy_send, curl_easy_send) &&
           FIND(library, &api.easy_recv, curl_easy_recv) &&
           FIND(library, &api.share_init, curl_share_init) &&
           FIND(library, &api.share_setopt, curl_share_setopt) &&
           FIND(library, &api.share_cleanup, curl_share_cleanup) &&
           FIND(library, &api.multi_init, curl_multi_init) &&
           FIND(library, &api.multi_cleanup, curl_multi_cleanup) &&
           FIND(library, &api.multi_setopt, curl_multi_setopt) &&
           FIND(library, &api.multi_add, curl_multi_add_handle) &&
           FIND(library, &api.multi_remove, curl_multi_remove_handle) &&
           FIND(library, &api.multi_socket_action, curl_multi_socket_action) &&
           FIND(library, &api.multi_info_read, curl_multi_info_read);
}

#if defined(ERRAND_LINKED_LIBCURL)

const char *errand_curl_name(void) { return "the libcurl in this program"; }

static const char *open_library(void **library) {
    *library = NULL;
    return NULL;
}

#else

// Sanitizers abort a program that loads a library with RTLD_DEEPBIND.
#if defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED 0
#endif

// Returns the library's name in ERRAND_LIBCURL, or NULL. Ignores the variable in a process that runs with another
// user's privileges.
static const char *chosen_name(void) {
    const char *name = getauxval(AT_SECURE) ? NULL : getenv("ERRAND_LIBCURL");
    return name && name[0] ? name : NULL;
}

const char *errand_curl_name(void) {
    const char *chosen = chosen_name();
#if defined(__ANDROID__)
    // The name of a libcurl that the app bundles. Libraries have no version in their names on Android.
    return chosen ? chosen : "libcurl.so";
#else
    return chosen ? chosen : "libcurl.so.4";
#endif
}

static const char *open_library(void **library) {
    static void *opened;
    int mode = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_DEEPBIND) && !IS_SANITIZED
    // Foundation may have loaded the system's libcurl, whose functions a chosen libcurl must not call.
    if (chosen_name()) mode |= RTLD_DEEPBIND;
#endif
    if (!opened) opened = dlopen(errand_curl_name(), mode);
    *library = opened;
    return opened ? NULL : dlerror();
}

#endif

// Loads libcurl. Returns NULL on success, or the reason for a failure. A failure isn't remembered, because it may be
// temporary. Call this under `lock`.
static const char *load(void) {
    void *library;
    const char *fault = open_library(&library);
    if (fault) return fault;
    if (!find_all(library)) return "it lacks a function of libcurl's interface";
    errand_exit_prepare(library);
    if (api.global_init(3L) != 0) return "curl_global_init failed";
    errand_exit_register();
    info = api.version(0);
    return info ? NULL : "curl_version_info failed";
}

int errand_curl_load(char *reason, size_t size) {
    pthread_mutex_lock(&lock);
    const char *fault = info ? NULL : load();
    if (fault && size > 0) {
        strncpy(reason, fault, size - 1);
        reason[size - 1] = 0;
    }
    pthread_mutex_unlock(&lock);
    return fault ? -1 : 0;
}

// Whether libcurl's version information includes the file and directory of authorities, as it does since 7.70.
static int knows_authorities(void) { return info && info->age >= 6; }

unsigned int errand_curl_version_number(void) { return info ? info->version_num : 0; }
const char *errand_curl_version(void) { return info ? info->version : ""; }
const char *errand_curl_tls(void) { return info && info->tls ? info->tls : ""; }
int errand_curl_features(void) { return info ? info->features : 0; }
const char *errand_curl_authorities_file(void) { return knows_authorities() ? info->authorities_file : NULL; }
const char *errand_curl_authorities_directory(void) { return knows_authorities() ? info->authorities_directory : NULL; }
const char *errand_curl_describe(int code) { return api.strerror(code); }

void *errand_curl_easy_make(void) { return api.easy_init(); }
void errand_curl_easy_free(void *easy) { api.easy_cleanup(easy); }
void errand_curl_easy_reset(void *easy) { api.easy_reset(easy); }
int errand_curl_pause(void *easy, int halves) { return api.easy_pause(easy, halves); }

int errand_curl_set_long(void *easy, int option, long value) { return api.easy_setopt(easy, option, value); }
int errand_curl_set_pointer(void *easy, int option, const void *value) {
    return api.easy_setopt(easy, option, value);
}
int errand_curl_set_offset(void *easy, int option, int64_t value) { return api.easy_setopt(easy, option, value); }
int errand_curl_set_blob(void *easy, int option, const void *bytes, size_t size) {
    struct errand_curl_blob blob = {(void *)bytes, size, 1};
    return api.easy_setopt(easy, option, &blob);
}
int errand_curl_set_data_callback(void *easy, int option, errand_curl_data_callback callback) {
    return api.easy_setopt(easy, option, callback);
}
int errand_curl_set_seek_callback(void *easy, errand_curl_seek_callback callback) {
    return api.easy_setopt(easy, ERRAND_CURLOPT_SEEKFUNCTION, callback);
}

int errand_curl_set_log_callback(void *easy, errand_curl_log_callback callback) {
    return api.easy_setopt(easy, ERRAND_CURLOPT_DEBUGFUNCTION, callback);
}

int errand_curl_set_socket_callbacks(
    void *easy, errand_curl_open_callback open, errand_curl_close_callback close) {
    int code = api.easy_setopt(easy, ERRAND_CURLOPT_OPENSOCKETFUNCTION, open);
    return code ? code : api.easy_setopt(easy, ERRAND_CURLOPT_CLOSESOCKETFUNCTION, close);
}

int errand_curl_set_start_callbacks(
    void *easy, errand_curl_resolve_callback resolve, errand_curl_request_callback request) {
    int code = api.easy_setopt(easy, ERRAND_CURLOPT_RESOLVER_START_FUNCTION, resolve);
    return code ? code : api.easy_setopt(easy, ERRAND_CURLOPT_PREREQFUNCTION, request);
}

long errand_curl_get_long(void *easy, int what) {
    long value = 0;
    return api.easy_getinfo(easy, what, &value) == 0 ? value : 0;
}

int64_t errand_curl_get_offset(void *easy, int what) {
    int64_t value = 0;
    return api.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}

const char *errand_curl_get_string(void *easy, int what) {
    const char *value = NULL;
    return api.easy_getinfo(easy, what, &value) == 0 ? value : NULL;
}

void *errand_curl_get_private(void *easy) {
    void *value = NULL;
    return api.easy_getinfo(easy, 0x100015, &value) == 0 ? value : NULL;
}

int errand_curl_get_socket(void *easy) {
    int descriptor = -1;
    return api.easy_getinfo(easy, 0x50002C, &descriptor) == 0 ? descriptor : -1;
}

int errand_curl_send(void *easy, const void *bytes, size_t size, size_t *count) {
    return api.easy_send(easy, bytes, size, count);
}

int errand_curl_receive(void *easy, void *bytes, size_t size, size_t *count) {
    return api.easy_recv(easy, bytes, size, count);
}

void *errand_curl_pool_make(void) {
    void *pool = api.share_init();
    // 1 is CURLSHOPT_SHARE, and 5 is CURL_LOCK_DATA_CONNECT.
    if (pool && api.share_setopt(pool, 1, 5) != 0) {
        api.share_cleanup(pool);
        return NULL;
    }
    return pool;
}

void errand_curl_pool_free(void *pool) { api.share_cleanup(pool); }

void *errand_curl_multi_make(void) { return api.multi_init(); }
void errand_curl_multi_free(void *multi) { api.multi_cleanup(multi); }
int errand_curl_multi_set_long(void *multi, int option, long value) {
    return api.multi_setopt(multi, option, value);
}

int errand_curl_multi_set_callbacks(
    void *multi, errand_curl_socket_callback socket, errand_curl_timer_callback timer, void *user) {
    int code = api.multi_setopt(multi, ERRAND_CURLMOPT_SOCKETDATA, user);
    if (!code) code = api.multi_setopt(multi, ERRAND_CURLMOPT_TIMERDATA, user);
    if (!code) code = api.multi_setopt(multi, ERRAND_CURLMOPT_SOCKETFUNCTION, socket);
    if (!code) code = api.multi_setopt(multi, ERRAND_CURLMOPT_TIMERFUNCTION, timer);
    return code;
}

int errand_curl_multi_add(void *multi, void *easy) { return api.multi_add(multi, easy); }
int errand_curl_multi_remove(void *multi, void *easy) { return api.multi_remove(multi, easy); }

int errand_curl_multi_act(void *multi, int descriptor, int events) {
    int running = 0;
    return api.multi_socket_action(multi, descriptor, events, &running);
}

void *errand_curl_multi_finished(void *multi, int *result) {
    int left = 0;
    message *next;
    while ((next = api.multi_info_read(multi, &left))) {
        if (next->msg == 1) {
            *result = next->data.result;
            return next->easy;
        }
    }
    return NULL;
}

#endif
