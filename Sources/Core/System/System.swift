// Start here: what has nothing to do with HTTP.
//
// Files/    files, their locks and states
// Digests/  SHA-256, SHA-1, MD5, HMAC
