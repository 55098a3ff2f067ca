import Errand

/// What follows for a request once all is decided that needs no wait.
enum CacheStep: Sendable {
    /// The rest of the way, past the cache.
    case pass(Exchange)
    /// A stored response.
    case done(HTTPResponse)
    /// The rest of the way, for a response that may be stored.
    case fetch(HTTPFetch)
    /// The policy of the app.
    case timed(CacheHandler, CachePolicy.Timed)
    case wait(CacheHandler, Wait)

    /// What the cache has to wait for before it can decide.
    indirect enum Wait: Sendable {
        /// A request that may change what is stored.
        case unsafe(CachePolicy.HTTP?)
        /// The secret of the store.
        case store(CachePolicy.HTTP, CacheDirectives)
        /// The entries of the store.
        case search(CacheHandler.HTTPLookup)
        /// The body of an entry that answers the request.
        case body(CacheHandler.StoredResponse, HTTPConditions.Outcome, HTTPCacheRules.Decision, CacheHandler.HTTPLookup)
        /// A validation, which other requests may share.
        case validation(CacheHandler.StoredResponse, CacheHandler.HTTPLookup, CacheStatus)
        /// Storing a response of the caller's.
        case storing(HTTPResponse, CacheHandler.HTTPLookup)
        case removal(CacheHandler.HTTPLookup)
    }

    // In line in the filter: a request that passes, and one that is sent, has its async frame and no other.
    @inline(__always) func response(_ next: Next) async throws -> HTTPResponse {
        switch self {
        case .pass(let exchange): return try await next(exchange)
        case .done(let response): return response
        case .fetch(let fetch): return try await fetch.response()
        case .timed(let handler, let policy): return try await handler.timed(policy)
        case .wait(let handler, let wait): return try await handler.response(after: wait)
        }
    }
}

extension CacheHandler {
    /// A small frame, which lasts as long as the request; that of ``step(after:)`` is gone by then.
    fileprivate func response(after wait: CacheStep.Wait) async throws -> HTTPResponse {
        try await step(after: wait).response(next)
    }

    /// Waits, and decides again.
    private func step(after wait: CacheStep.Wait) async throws -> CacheStep {
        switch wait {
        case .unsafe(let policy): return .done(try await sendUnsafe(policy))
        case .validation(let found, let lookup, let status): return .done(try await share(found, lookup, status))
        case .removal(let lookup): return .done(try await removeForCaller(lookup))
        case .storing(let response, let lookup): return .done(await keep(response, lookup, sent: now))
        case .store(let policy, let directives):
            guard let store = await openStore() else { return try bypass(nil) }
            return try look(makeLookup(policy, directives, store))
        case .search(let lookup): return try decide(await search(lookup), lookup)
        case .body(let found, let condition, let decision, let lookup):
            if let body = await body(found.entry),
                let response = serve(found, body, condition, decision, lookup)
            {
                return .done(response)
            }
            // The entry is damaged.
            await remove(found.key)
            if isCacheOnly { throw miss(.unreadable) }
            return .fetch(HTTPFetch(self, lookup, .forward(.miss, detail: "unreadable"), nil))
        }
    }
}
