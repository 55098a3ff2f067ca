// Handles the end of the process while transfers are running.
#ifndef ERRAND_EXIT_H
#define ERRAND_EXIT_H
#if defined(__linux__)

// Call it before curl_global_init. If `library` is linked with OpenSSL and OpenSSL isn't initialized yet, keeps OpenSSL
// from freeing its memory at exit, while other threads use it.
void errand_exit_prepare(void *library);
// Registers an exit handler that waits for threads to leave libcurl. Call it after curl_global_init, so the handler
// runs before the TLS library's exit handlers.
void errand_exit_register(void);

#endif
#endif
