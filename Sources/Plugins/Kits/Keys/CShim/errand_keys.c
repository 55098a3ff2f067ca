#include "errand_keys.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// The names that libcrypto has on each system, the preferred one first. On Android, an app includes its own library.
#if defined(__ANDROID__)
#define LIBRARIES {"libcrypto.so"}
#else
#define LIBRARIES {"libcrypto.so.3", "libcrypto.so.1.1"}
#endif

// Numbers from obj_mac.h, which OpenSSL never changes.
enum { NID_EC = 408, NID_ED25519 = 1087 };

// The functions to load, each with its name, result and parameters.
#define FUNCTIONS(F)                                                                                                  \
    F(EVP_PKEY_free, void, (void *))                                                                                  \
    F(d2i_AutoPrivateKey, void *, (void **, const uint8_t **, long))                                                  \
    F(d2i_PUBKEY, void *, (void **, const uint8_t **, long))                                                          \
    F(i2d_PUBKEY, int, (void *, uint8_t **))                                                                          \
    F(i2d_PrivateKey, int, (void *, uint8_t **))                                                                      \
    F(EVP_PKEY_CTX_new_id, void *, (int, void *))                                                                     \
    F(EVP_PKEY_CTX_free, void, (void *))                                                                              \
    F(EVP_PKEY_CTX_ctrl_str, int, (void *, const char *, const char *))                                               \
    F(EVP_PKEY_keygen_init, int, (void *))                                                                            \
    F(EVP_PKEY_keygen, int, (void *, void **))                                                                        \
    F(EVP_MD_CTX_new, void *, (void))                                                                                 \
    F(EVP_MD_CTX_free, void, (void *))                                                                                \
    F(EVP_DigestSignInit, int, (void *, void **, const void *, void *, void *))                                       \
    F(EVP_DigestSign, int, (void *, uint8_t *, size_t *, const uint8_t *, size_t))                                    \
    F(EVP_DigestVerifyInit, int, (void *, void **, const void *, void *, void *))                                     \
    F(EVP_DigestVerify, int, (void *, const uint8_t *, size_t, const uint8_t *, size_t))                              \
    F(EVP_sha256, const void *, (void))                                                                               \
    F(EVP_sha384, const void *, (void))                                                                               \
    F(EVP_sha512, const void *, (void))                                                                               \
    F(EVP_DigestInit_ex, int, (void *, const void *, void *))                                                         \
    F(EVP_DigestUpdate, int, (void *, const void *, size_t))                                                          \
    F(EVP_DigestFinal_ex, int, (void *, uint8_t *, unsigned int *))                                                   \
    F(HMAC, uint8_t *, (const void *, const void *, int, const uint8_t *, size_t, uint8_t *, unsigned int *))         \
    F(CRYPTO_memcmp, int, (const void *, const void *, size_t))                                                       \
    F(ERR_clear_error, void, (void))

static struct {
#define SLOT(name, result, parameters) result(*name) parameters;
    FUNCTIONS(SLOT)
#undef SLOT
} api;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int loaded;

#if defined(ERRAND_LINKED_LIBCURL)

// libcrypto is available if another part of the program, such as libcurl, links it.
#define DECLARED(name, result, parameters) extern result name parameters __attribute__((weak));
FUNCTIONS(DECLARED)
#undef DECLARED

static int load(void) {
#define FIND(name, result, parameters) if (!(api.name = name)) return 0;
    FUNCTIONS(FIND)
#undef FIND
    return 1;
}

#else

static int find(void *library) {
#define FIND(name, result, parameters) if (!(*(void **)&api.name = dlsym(library, #name))) return 0;
    FUNCTIONS(FIND)
#undef FIND
    return 1;
}

static int load(void) {
    static const char *const names[] = LIBRARIES;
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        void *library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
        if (!library) continue;
        if (find(library)) return 1;
        dlclose(library);
    }
    return 0;
}

#endif

int errand_keys_load(void) {
    if (atomic_load_explicit(&loaded, memory_order_acquire)) return 1;
    pthread_mutex_lock(&lock);
    // `api` isn't written again once other threads may read it.
    int found = atomic_load(&loaded) || load();
    atomic_store_explicit(&loaded, found, memory_order_release);
    pthread_mutex_unlock(&lock);
    return found;
}

// Clears libcrypto's error queue on this thread, and returns the result. Without this, other code on the same thread,
// such as TLS code, would find these errors in the queue.
static int forgetting(int result) {
    api.ERR_clear_error();
    return result;
}

static struct errand_key *read_key(
    void *(*read)(void **, const uint8_t **, long), const uint8_t *der, size_t count) {
    if (count > LONG_MAX) return NULL;
    const uint8_t *end = der;
    void *key = read(NULL, &end, (long)count);
    api.ERR_clear_error();
    if (!key) return NULL;
    if (end == der + count) return key;
    api.EVP_PKEY_free(key);
    return NULL;
}

struct errand_key *errand_key_private(const uint8_t *der, size_t count) {
    return errand_keys_load() ? read_key(api.d2i_AutoPrivateKey, der, count) : NULL;
}

struct errand_key *errand_key_public(const uint8_t *der, size_t count) {
    return errand_keys_load() ? read_key(api.d2i_PUBKEY, der, count) : NULL;
}

struct errand_key *errand_key_generate(int kind) {
    if (!errand_keys_load()) return NULL;
    void *context = api.EVP_PKEY_CTX_new_id(kind == ERRAND_KEY_ED25519 ? NID_ED25519 : NID_EC, NULL);
    void *key = NULL;
    int works = context && api.EVP_PKEY_keygen_init(context) == 1;
    if (works && kind != ERRAND_KEY_ED25519)
        works = api.EVP_PKEY_CTX_ctrl_str(context, "ec_paramgen_curve", "P-256") == 1 &&
                api.EVP_PKEY_CTX_ctrl_str(context, "ec_param_enc", "named_curve") == 1;
    if (works && api.EVP_PKEY_keygen(context, &key) != 1) key = NULL;
    if (context) api.EVP_PKEY_CTX_free(context);
    api.ERR_clear_error();
    return key;
}

void errand_key_free(struct errand_key *key) {
    if (key) api.EVP_PKEY_free(key);
}

static size_t write_key(int (*write)(void *, uint8_t **), void *key, uint8_t *output, size_t capacity) {
    int size = write(key, NULL);
    if (size > 0 && (size_t)size <= capacity) {
        uint8_t *end = output;
        size = write(key, &end);
    } else {
        size = 0;
    }
    api.ERR_clear_error();
    return size > 0 ? (size_t)size : 0;
}

size_t errand_key_write_public(struct errand_key *key, uint8_t *output, size_t capacity) {
    return write_key(api.i2d_PUBKEY, key, output, capacity);
}

size_t errand_key_write_private(struct errand_key *key, uint8_t *output, size_t capacity) {
    return write_key(api.i2d_PrivateKey, key, output, capacity);
}

typedef int (*begin)(void *, void **, const void *, void *, void *);

// Prepares a context to sign or to verify.
static int prepare(begin begin, void *context, struct errand_key *key, int scheme) {
    const void *hash = NULL;
    switch (scheme) {
    case ERRAND_SIGNATURE_ED25519: break;
    case ERRAND_SIGNATURE_ECDSA_SHA384: hash = api.EVP_sha384(); break;
    case ERRAND_SIGNATURE_PSS_SHA512: hash = api.EVP_sha512(); break;
    default: hash = api.EVP_sha256();
    }
    // The context owns the parameters.
    void *parameters = NULL;
    if (begin(context, &parameters, hash, NULL, key) != 1) return 0;
    if (scheme == ERRAND_SIGNATURE_PSS_SHA512)
        return api.EVP_PKEY_CTX_ctrl_str(parameters, "rsa_padding_mode", "pss") == 1 &&
               api.EVP_PKEY_CTX_ctrl_str(parameters, "rsa_pss_saltlen", "64") == 1;
    if (scheme == ERRAND_SIGNATURE_PKCS1_SHA256)
        return api.EVP_PKEY_CTX_ctrl_str(parameters, "rsa_padding_mode", "pkcs1") == 1;
    return 1;
}

size_t errand_key_sign(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, uint8_t *output, size_t capacity) {
    void *context = api.EVP_MD_CTX_new();
    size_t size = capacity;
    int works = context && prepare(api.EVP_DigestSignInit, context, key, scheme) &&
                api.EVP_DigestSign(context, output, &size, message, count) == 1;
    if (context) api.EVP_MD_CTX_free(context);
    return forgetting(works) && size <= capacity ? size : 0;
}

int errand_key_verify(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, const uint8_t *signature, size_t size) {
    void *context = api.EVP_MD_CTX_new();
    int result = -1;
    if (context && prepare(api.EVP_DigestVerifyInit, context, key, scheme))
        // A signature that can't be read is invalid too.
        result = api.EVP_DigestVerify(context, signature, size, message, count) == 1;
    if (context) api.EVP_MD_CTX_free(context);
    return forgetting(result);
}

int errand_hmac_sha256(const uint8_t *key, size_t size, const uint8_t *message, size_t count, uint8_t *output) {
    unsigned int made = 0;
    // If the key is NULL, HMAC() uses the key of an earlier call.
    static const uint8_t none = 0;
    if (!errand_keys_load() || size > INT_MAX) return 0;
    if (size == 0) key = &none;
    uint8_t *result = api.HMAC(api.EVP_sha256(), key, (int)size, message, count, output, &made);
    return forgetting(result && made == 32);
}

int errand_equal(const uint8_t *one, const uint8_t *other, size_t count) {
    return errand_keys_load() && api.CRYPTO_memcmp(one, other, count) == 0;
}

struct errand_digest *errand_digest_make(int bits) {
    if (!errand_keys_load()) return NULL;
    void *context = api.EVP_MD_CTX_new();
    const void *hash = bits == 512 ? api.EVP_sha512() : bits == 384 ? api.EVP_sha384() : api.EVP_sha256();
    if (context && forgetting(api.EVP_DigestInit_ex(context, hash, NULL)) == 1) return context;
    if (context) api.EVP_MD_CTX_free(context);
    return NULL;
}

void errand_digest_free(struct errand_digest *digest) {
    if (digest) api.EVP_MD_CTX_free(digest);
}

int errand_digest_update(struct errand_digest *digest, const uint8_t *bytes, size_t count) {
    return api.EVP_DigestUpdate(digest, bytes, count) == 1;
}

size_t errand_digest_finish(struct errand_digest *digest, uint8_t *output) {
    unsigned int size = 0;
    return forgetting(api.EVP_DigestFinal_ex(digest, output, &size)) == 1 && size <= 64 ? size : 0;
}

#endif
