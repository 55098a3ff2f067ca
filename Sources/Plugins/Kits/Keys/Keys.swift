// Start here: ``PrivateKey``, ``PublicKey``, and ``HMACKey`` sign and verify. Plugins use a ``KeySigner`` or a
// ``KeyVerifier``, so a key can also be in hardware or in a service.
//
// Formats/   PEM, DER, and JWK, without I/O
// Platform/  the cryptography, with CryptoKit and Security or with OpenSSL
// CShim/     the C functions of OpenSSL's libcrypto, loaded at run time
