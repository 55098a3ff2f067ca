// The part of libcurl's stable C interface that Errand uses. libcurl is loaded at run time or, with
// ERRAND_LINKED_LIBCURL, linked. The interface is declared here, so building Errand requires neither libcurl's headers
// nor a development package.
#ifndef ERRAND_CURL_H
#define ERRAND_CURL_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// Options of an easy handle. The thousands give the type of the value: 0 long, 1 pointer, 2 function, 3 offset, 4 blob.
#define ERRAND_CURLOPT_WRITEDATA 10001
#define ERRAND_CURLOPT_URL 10002
#define ERRAND_CURLOPT_PROXY 10004
#define ERRAND_CURLOPT_READDATA 10009
#define ERRAND_CURLOPT_ERRORBUFFER 10010
#define ERRAND_CURLOPT_WRITEFUNCTION 20011
#define ERRAND_CURLOPT_READFUNCTION 20012
#define ERRAND_CURLOPT_HTTPHEADER 10023
#define ERRAND_CURLOPT_SSLCERT 10025
#define ERRAND_CURLOPT_KEYPASSWD 10026
#define ERRAND_CURLOPT_HEADERDATA 10029
#define ERRAND_CURLOPT_SSLVERSION 32
#define ERRAND_CURLOPT_CUSTOMREQUEST 10036
#define ERRAND_CURLOPT_VERBOSE 41
#define ERRAND_CURLOPT_HEADER 42
#define ERRAND_CURLOPT_NOBODY 44
#define ERRAND_CURLOPT_UPLOAD 46
#define ERRAND_CURLOPT_INTERFACE 10062
#define ERRAND_CURLOPT_SSL_VERIFYPEER 64
#define ERRAND_CURLOPT_CAINFO 10065
#define ERRAND_CURLOPT_HEADERFUNCTION 20079
#define ERRAND_CURLOPT_HTTPGET 80
#define ERRAND_CURLOPT_SSL_VERIFYHOST 81
#define ERRAND_CURLOPT_HTTPPROXYTUNNEL 61
#define ERRAND_CURLOPT_HTTP_VERSION 84
#define ERRAND_CURLOPT_SSLKEY 10087
#define ERRAND_CURLOPT_SSLCERTTYPE 10086
#define ERRAND_CURLOPT_SSLKEYTYPE 10088
#define ERRAND_CURLOPT_DEBUGFUNCTION 20094
#define ERRAND_CURLOPT_DEBUGDATA 10095
#define ERRAND_CURLOPT_CAPATH 10097
#define ERRAND_CURLOPT_BUFFERSIZE 98
#define ERRAND_CURLOPT_NOSIGNAL 99
#define ERRAND_CURLOPT_PRIVATE 10103
#define ERRAND_CURLOPT_IPRESOLVE 113
#define ERRAND_CURLOPT_INFILESIZE_LARGE 30115
#define ERRAND_CURLOPT_POSTFIELDSIZE_LARGE 30120
#define ERRAND_CURLOPT_CONNECTTIMEOUT_MS 156
#define ERRAND_CURLOPT_OPENSOCKETFUNCTION 20163
#define ERRAND_CURLOPT_OPENSOCKETDATA 10164
#define ERRAND_CURLOPT_COPYPOSTFIELDS 10165
#define ERRAND_CURLOPT_SEEKFUNCTION 20167
#define ERRAND_CURLOPT_SEEKDATA 10168
#define ERRAND_CURLOPT_FRESH_CONNECT 74
#define ERRAND_CURLOPT_FORBID_REUSE 75
#define ERRAND_CURLOPT_SHARE 10100
#define ERRAND_CURLOPT_CONNECT_ONLY 141
#define ERRAND_CURLOPT_NOPROXY 10177
#define ERRAND_CURLOPT_PROTOCOLS 181
#define ERRAND_CURLOPT_CLOSESOCKETFUNCTION 20208
#define ERRAND_CURLOPT_CLOSESOCKETDATA 10209
#define ERRAND_CURLOPT_PINNEDPUBLICKEY 10230
#define ERRAND_CURLOPT_UNIX_SOCKET_PATH 10231
#define ERRAND_CURLOPT_PATH_AS_IS 234
#define ERRAND_CURLOPT_PIPEWAIT 237
#define ERRAND_CURLOPT_PROXY_CAINFO 10246
#define ERRAND_CURLOPT_PROXY_CAPATH 10247
#define ERRAND_CURLOPT_SUPPRESS_CONNECT_HEADERS 265
#define ERRAND_CURLOPT_RESOLVE 10203
#define ERRAND_CURLOPT_CONNECT_TO 10243
#define ERRAND_CURLOPT_DOH_URL 10279
#define ERRAND_CURLOPT_RESOLVER_START_FUNCTION 20272
#define ERRAND_CURLOPT_RESOLVER_START_DATA 10273
#define ERRAND_CURLOPT_DISALLOW_USERNAME_IN_URL 278
#define ERRAND_CURLOPT_HTTP09_ALLOWED 285
#define ERRAND_CURLOPT_UPLOAD_BUFFERSIZE 280
#define ERRAND_CURLOPT_MAXAGE_CONN 288
#define ERRAND_CURLOPT_SSLCERT_BLOB 40291
#define ERRAND_CURLOPT_SSLKEY_BLOB 40292
#define ERRAND_CURLOPT_CAINFO_BLOB 40309
#define ERRAND_CURLOPT_PREREQFUNCTION 20312
#define ERRAND_CURLOPT_PREREQDATA 10313
#define ERRAND_CURLOPT_QUICK_EXIT 322

#define ERRAND_CURLPROTO_HTTP_HTTPS 3L
#define ERRAND_CURL_IPRESOLVE_V4 1L
#define ERRAND_CURL_IPRESOLVE_V6 2L
#define ERRAND_CURL_VERIFYHOST_NAME 2L
#define ERRAND_CURL_HTTP_VERSION_1_1 2L
#define ERRAND_CURL_HTTP_VERSION_2TLS 4L
#define ERRAND_CURL_HTTP_VERSION_3 30L
#define ERRAND_CURL_HTTP_VERSION_3ONLY 31L
#define ERRAND_CURL_SSLVERSION_TLSv1_2 6L
#define ERRAND_CURL_SSLVERSION_TLSv1_3 7L

// Results of callbacks.
#define ERRAND_CURL_WRITEFUNC_PAUSE 0x10000001
#define ERRAND_CURL_READFUNC_ABORT 0x10000000
#define ERRAND_CURL_READFUNC_PAUSE 0x10000001
#define ERRAND_CURL_SEEKFUNC_OK 0
#define ERRAND_CURL_SEEKFUNC_FAIL 1
#define ERRAND_CURL_PREREQFUNC_OK 0
#define ERRAND_CURL_PREREQFUNC_ABORT 1

// The halves of a transfer that errand_curl_pause can pause.
#define ERRAND_CURLPAUSE_RECV 1
#define ERRAND_CURLPAUSE_SEND 4

// Options of a multi handle.
#define ERRAND_CURLMOPT_SOCKETFUNCTION 20001
#define ERRAND_CURLMOPT_SOCKETDATA 10002
#define ERRAND_CURLMOPT_TIMERFUNCTION 20004
#define ERRAND_CURLMOPT_TIMERDATA 10005
#define ERRAND_CURLMOPT_MAXCONNECTS 6
// Available since libcurl 8.16.
#define ERRAND_CURLMOPT_NETWORK_CHANGED 17
#define ERRAND_CURLMNWC_CLEAR_CONNS 1L
#define ERRAND_CURLMOPT_MAX_HOST_CONNECTIONS 7
#define ERRAND_CURLMOPT_MAX_TOTAL_CONNECTIONS 13

#define ERRAND_CURL_POLL_IN 1
#define ERRAND_CURL_POLL_OUT 2
#define ERRAND_CURL_POLL_REMOVE 4
#define ERRAND_CURL_CSELECT_IN 1
#define ERRAND_CURL_CSELECT_OUT 2
#define ERRAND_CURL_CSELECT_ERR 4
#define ERRAND_CURL_SOCKET_TIMEOUT (-1)
#define ERRAND_CURL_AGAIN 81

#define ERRAND_CURLINFO_REQUEST_SIZE 0x20000C
#define ERRAND_CURLINFO_SSL_VERIFYRESULT 0x20000D
#define ERRAND_CURLINFO_OS_ERRNO 0x200019
#define ERRAND_CURLINFO_HTTP_CONNECTCODE 0x200016
#define ERRAND_CURLINFO_NUM_CONNECTS 0x20001A
#define ERRAND_CURLINFO_PRIMARY_IP 0x100020
#define ERRAND_CURLINFO_SIZE_UPLOAD_T 0x600007
#define ERRAND_CURLINFO_SIZE_DOWNLOAD_T 0x600008
#define ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T 0x60000F
#define ERRAND_CURLINFO_TOTAL_TIME_T 0x600032
#define ERRAND_CURLINFO_NAMELOOKUP_TIME_T 0x600033
#define ERRAND_CURLINFO_CONNECT_TIME_T 0x600034
#define ERRAND_CURLINFO_STARTTRANSFER_TIME_T 0x600036
#define ERRAND_CURLINFO_APPCONNECT_TIME_T 0x600038

// Bits of errand_curl_features().
#define ERRAND_CURL_FEATURE_TLS (1 << 2)
#define ERRAND_CURL_FEATURE_HTTP2 (1 << 16)
#define ERRAND_CURL_FEATURE_HTTP3 (1 << 25)

// A line of a header list. libcurl only reads it.
struct errand_curl_slist {
    char *data;
    struct errand_curl_slist *next;
};

struct errand_curl_blob {
    void *data;
    size_t length;
    unsigned int flags;  // 1: libcurl keeps a copy
};

// The beginning of libcurl's `struct curl_sockaddr`. The address follows it.
struct errand_curl_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
};

typedef size_t (*errand_curl_data_callback)(char *bytes, size_t size, size_t count, void *user);
typedef int (*errand_curl_seek_callback)(void *user, int64_t offset, int origin);
typedef int (*errand_curl_log_callback)(void *easy, int kind, char *bytes, size_t count, void *user);
typedef int (*errand_curl_open_callback)(void *user, int purpose, struct errand_curl_sockaddr *address);
typedef int (*errand_curl_close_callback)(void *user, int descriptor);
typedef int (*errand_curl_resolve_callback)(void *resolver, void *reserved, void *user);
typedef int (*errand_curl_request_callback)(
    void *user, char *remote, char *local, int remote_port, int local_port);
typedef int (*errand_curl_socket_callback)(void *easy, int descriptor, int what, void *user, void *socket);
typedef int (*errand_curl_timer_callback)(void *multi, long milliseconds, void *user);

// The name of the library: the linked one, or else ERRAND_LIBCURL from the environment, or libcurl.so.4.
const char *errand_curl_name(void);
// Loads libcurl, once per process. Returns 0, or -1 with a reason; the next call then tries again.
int errand_curl_load(char *reason, size_t size);
// The version of libcurl as a number, such as 0x075801 for 7.88.1.
unsigned int errand_curl_version_number(void);
const char *errand_curl_version(void);
// The TLS library and its version, such as "GnuTLS/3.7.9", or an empty string.
const char *errand_curl_tls(void);
int errand_curl_features(void);
// The file and the directory of certificate authorities that libcurl was built to use, or NULL.
const char *errand_curl_authorities_file(void);
const char *errand_curl_authorities_directory(void);
const char *errand_curl_describe(int code);

// Call these before and after running libcurl on a thread. errand_curl_enter returns 0 if the process is about to end,
// in which case libcurl must not run. The end of the process waits up to two seconds for threads that run libcurl.
int errand_curl_enter(void);
void errand_curl_leave(void);

void *errand_curl_easy_make(void);
void errand_curl_easy_free(void *easy);
void errand_curl_easy_reset(void *easy);
int errand_curl_pause(void *easy, int halves);
int errand_curl_set_long(void *easy, int option, long value);
int errand_curl_set_pointer(void *easy, int option, const void *value);
int errand_curl_set_offset(void *easy, int option, int64_t value);
int errand_curl_set_blob(void *easy, int option, const void *bytes, size_t size);
int errand_curl_set_data_callback(void *easy, int option, errand_curl_data_callback callback);
int errand_curl_set_seek_callback(void *easy, errand_curl_seek_callback callback);
int errand_curl_set_log_callback(void *easy, errand_curl_log_callback callback);
int errand_curl_set_socket_callbacks(
    void *easy, errand_curl_open_callback open, errand_curl_close_callback close);
int errand_curl_set_start_callbacks(
    void *easy, errand_curl_resolve_callback resolve, errand_curl_request_callback request);
long errand_curl_get_long(void *easy, int info);
int64_t errand_curl_get_offset(void *easy, int info);
const char *errand_curl_get_string(void *easy, int info);
void *errand_curl_get_private(void *easy);

// The socket of a connection without a request, or -1.
int errand_curl_get_socket(void *easy);
// Transfers bytes over a connection without a request. Returns 0 and sets `count`, or returns a libcurl code:
// ERRAND_CURL_AGAIN means to wait first.
int errand_curl_send(void *easy, const void *bytes, size_t size, size_t *count);
int errand_curl_receive(void *easy, void *bytes, size_t size, size_t *count);
// A connection pool for a single handle, or NULL if memory runs out. Free it after its handle.
void *errand_curl_pool_make(void);
void errand_curl_pool_free(void *pool);

void *errand_curl_multi_make(void);
void errand_curl_multi_free(void *multi);
int errand_curl_multi_set_long(void *multi, int option, long value);
int errand_curl_multi_set_callbacks(
    void *multi, errand_curl_socket_callback socket, errand_curl_timer_callback timer, void *user);
int errand_curl_multi_add(void *multi, void *easy);
int errand_curl_multi_remove(void *multi, void *easy);
int errand_curl_multi_act(void *multi, int descriptor, int events);
// Returns the next finished transfer, or NULL, and sets `result` to its code.
void *errand_curl_multi_finished(void *multi, int *result);

#endif
#endif
