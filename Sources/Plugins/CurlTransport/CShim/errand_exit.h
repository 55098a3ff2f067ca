// The end of the process while transfers run.
#ifndef ERRAND_EXIT_H
#define ERRAND_EXIT_H
#if defined(__linux__)

// Before curl_global_init: asks OpenSSL, if that is what `library` is linked with and nobody has begun to use it, not
// to free its memory at exit, while other threads use it.
void errand_exit_prepare(void *library);
// After curl_global_init, so that it runs before whatever the TLS library does at exit.
void errand_exit_register(void);

#endif
#endif
