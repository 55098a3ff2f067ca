// SHA-256 (from the platform or portable), SHA-1, MD5, HMAC, base64url, and persistent state that relies on them:
// crash-safe records, and the users they belong to. Internal to the package.
