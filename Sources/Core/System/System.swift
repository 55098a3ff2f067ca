// Start here: what has nothing to do with HTTP.
//
// Files/    files, their locks and states
// Transfer/ what uploads and downloads share: meter, events, pause, the budget of descriptors
// Codings/  the C module of gzip, Brotli and zstd, which several plugins share
// Digests/  SHA-256, SHA-1, MD5, HMAC
