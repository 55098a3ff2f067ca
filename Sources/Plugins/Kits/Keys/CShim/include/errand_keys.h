// Keys, signatures and digests with OpenSSL's libcrypto, which is loaded at run time. Apple's platforms use CryptoKit
// and Security instead.
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

// Loads libcrypto. Returns whether libcrypto is available with all functions below. Only success is remembered, so a
// later call can succeed after a failure.
int errand_keys_load(void);

// Reads a private key in DER: PKCS#8, PKCS#1 or SEC1. Returns NULL if it isn't a key, or if bytes follow it.
struct errand_key *errand_key_private(const uint8_t *der, size_t count);
// Reads a public key in DER: SubjectPublicKeyInfo. Returns NULL if it isn't a key, or if bytes follow it.
struct errand_key *errand_key_public(const uint8_t *der, size_t count);
struct errand_key *errand_key_generate(int kind);
void errand_key_free(struct errand_key *key);

// Write a key in DER. Return the number of bytes, or 0 if the output is too small.
size_t errand_key_write_public(struct errand_key *key, uint8_t *output, size_t capacity);
size_t errand_key_write_private(struct errand_key *key, uint8_t *output, size_t capacity);

// Writes a message's signature, in DER for ECDSA. Returns its size, or 0 after a failure.
size_t errand_key_sign(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, uint8_t *output, size_t capacity);
// Returns 1 if the signature is valid, 0 if it isn't, and -1 after a failure.
int errand_key_verify(
    struct errand_key *key, int scheme, const uint8_t *message, size_t count, const uint8_t *signature, size_t size);

// Writes a message's authentication code of 32 bytes. Returns 1 on success.
int errand_hmac_sha256(const uint8_t *key, size_t size, const uint8_t *message, size_t count, uint8_t *output);
// Returns whether the bytes are equal. The comparison takes constant time.
int errand_equal(const uint8_t *one, const uint8_t *other, size_t count);

// Creates a SHA-2 digest of 256, 384 or 512 bits.
struct errand_digest *errand_digest_make(int bits);
void errand_digest_free(struct errand_digest *digest);
int errand_digest_update(struct errand_digest *digest, const uint8_t *bytes, size_t count);
// Writes the digest of at most 64 bytes. Returns its size, or 0 after a failure.
size_t errand_digest_finish(struct errand_digest *digest, uint8_t *output);

#endif
#endif
