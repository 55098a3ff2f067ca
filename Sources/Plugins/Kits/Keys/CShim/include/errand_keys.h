// Keys, signatures and digests of OpenSSL's libcrypto, which is loaded at run time. Not on Apple's platforms, which have
// CryptoKit and Security.
#ifndef ERRAND_KEYS_H
#define ERRAND_KEYS_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

enum { ERRAND_KEY_ED25519 = 1, ERRAND_KEY_P256 = 2 };

enum {
    ERRAND_SIGNATURE_ED25519 = 1,
    ERRAND_SIGNATURE_ECDSA_SHA256 = 2,
    ERRAND_SIGNATURE_ECDSA_SHA384 = 3,
    ERRAND_SIGNATURE_PSS_SHA512 = 4,
    ERRAND_SIGNATURE_PKCS1_SHA256 = 5
};

struct errand_key;
struct errand_digest;

// Returns whether libcrypto is there, with all functions below. Only success is remembered.
int errand_keys_load(void);

// Reads DER: PKCS#8, PKCS#1 or SEC1. Returns NULL if it isn't a key, or if bytes follow it.
struct errand_key *errand_key_private(const uint8_t *der, size_t count);
// Reads DER: SubjectPublicKeyInfo.
struct errand_key *errand_key_public(const uint8_t *der, size_t count);
struct errand_key *errand_key_generate(int kind);
void errand_key_free(struct errand_key *key);

// Write DER, and return the number of bytes, or 0 if there is no room for it.
size_t errand_key_write_public(struct errand_key *key, uint8_t *output, size_t capacity);
size_t errand_key_write_private(struct errand_key *key, uint8_t *output, size_t capacity);

// Writes the signature, with DER for ECDSA, and returns its size, or 0 after a failure.
size_t errand_key_sign(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, uint8_t *output, size_t capacity);
// 1 if the signature is valid, 0 if it isn't, -1 after a failure.
int errand_key_verify(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, const uint8_t *signature, size_t size);

// Writes 32 bytes, and returns 1 after success.
int errand_hmac_sha256(const uint8_t *key, size_t size, const uint8_t *message, size_t count, uint8_t *output);
// Compares in a time that doesn't depend on the bytes.
int errand_equal(const uint8_t *one, const uint8_t *other, size_t count);

// SHA-2 with 256, 384 or 512 bits.
struct errand_digest *errand_digest_make(int bits);
void errand_digest_free(struct errand_digest *digest);
int errand_digest_update(struct errand_digest *digest, const uint8_t *bytes, size_t count);
// Writes at most 64 bytes, and returns their number, or 0 after a failure.
size_t errand_digest_finish(struct errand_digest *digest, uint8_t *output);

#endif
#endif
