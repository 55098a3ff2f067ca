// SHA-256 by the platform or portable, SHA-1, MD5 and HMAC; internal to the package.
