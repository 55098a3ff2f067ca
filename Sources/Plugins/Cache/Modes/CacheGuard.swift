public import Errand

extension CacheMode.Kind {
    /// Whether nothing may be sent, with or without a cache.
    var mustNotSend: Bool {
        switch self {
        case .cacheOnly, .cacheOnlyIncludingStale, .remove, .store: true
        case .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .off: false
        }
    }

    /// The request for the server, with the directives for intermediate caches that the Fetch standard sets.
    func applied(to exchange: Exchange) -> Exchange {
        guard exchange.stage == .hop, exchange.http.method == .get || exchange.http.method == .head else {
            return exchange
        }
        var exchange = exchange
        switch self {
        case .reload:
            if !exchange.http.headers.contains(.cacheControl) {
                exchange.http.headers.add(.cacheControl, "max-age=0")
            }
        case .reloadFromOrigin:
            for name: HTTPHeaderName in [.pragma, .cacheControl] where !exchange.http.headers.contains(name) {
                exchange.http.headers.add(name, "no-cache")
            }
        default: break
        }
        return exchange
    }
}

extension CacheMode: FilterProvidingTag {
    /// A guard before the transport, for the modes that must not send.
    public var requiredFilters: [any Filter] { kind.mustNotSend ? [CacheGuard()] : [] }
}

/// Runs between all caches and the transport, and throws for calls that a cache should have handled.
struct CacheGuard: Filter {
    var stages: FilterStages { .hop }
    var explanation: String { "cache guard, sends nothing" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let mode = exchange.tags[CacheMode.self]
        guard mode.kind.mustNotSend else { return try await next(exchange) }
        let miss = CacheMiss(.notInstalled)
        mode.report?.recordMiss(miss)
        throw miss
    }
}
