// Start here: what has nothing to do with HTTP.
//
// Files/    files, their locks and states
// Transfer/ what uploads and downloads share: meter, events, pause, the budget of descriptors
// Digests/  SHA-256, SHA-1, MD5, HMAC
