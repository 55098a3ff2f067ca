// Start here: `filters: [.authentication(session)]` with an ``AuthenticationSession``.
