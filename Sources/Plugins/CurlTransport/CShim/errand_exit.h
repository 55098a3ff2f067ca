// The end of the process while transfers run.
#ifndef ERRAND_EXIT_H
#define ERRAND_EXIT_H
#if defined(__linux__)

// Before curl_global_init: configures OpenSSL, if `library` is linked with it and nothing has initialized it yet, so
// that it does not free its memory at exit, while other threads use it.
void errand_exit_prepare(void *library);
// After curl_global_init, so that it runs before whatever the TLS library does at exit.
void errand_exit_register(void);

#endif
#endif
