// SHA-256 by the platform or portable, SHA-1, MD5 and HMAC, and what outlives a process by them: records that are intact, and
// whose they are. Internal to the package.
