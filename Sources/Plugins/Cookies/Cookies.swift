// Start here: `filters: [.cookies(jar)]` with a ``CookieJar``.
