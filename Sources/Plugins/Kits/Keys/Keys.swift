// Start here: ``PrivateKey``, ``PublicKey`` and ``HMACKey`` sign and verify; plugins take a ``KeySigner`` or a
// ``KeyVerifier``, so a key can also live in hardware or a service.
//
// Formats/   PEM, DER and JWK: the parts of a key. Pure.
// Platform/  CryptoKit and Security, or OpenSSL. All cryptography is there.
// CShim/     the C functions of OpenSSL's libcrypto, loaded at run time
