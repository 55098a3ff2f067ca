// SHA-256, SHA-1, MD5, HMAC, base64url, crash-safe records, and the users that they belong to. Internal to the package.
