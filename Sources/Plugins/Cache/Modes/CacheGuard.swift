public import Errand

extension CacheMode.Kind {
    /// Whether nothing may be sent, cache or no cache.
    var mustNotSend: Bool {
        switch self {
        case .cacheOnly, .onlyEvenStale, .take, .put: true
        case .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .bypass: false
        }
    }

    /// The request as it goes to the server, with the directives that Fetch gives it for caches in between.
    func applied(to exchange: Exchange) -> Exchange {
        guard exchange.stage == .hop, exchange.http.method == .get || exchange.http.method == .head else {
            return exchange
        }
        var exchange = exchange
        switch self {
        case .reload:
            if !exchange.http.headers.contains("Cache-Control") {
                exchange.http.headers.add("Cache-Control", "max-age=0")
            }
        case .reloadFromOrigin:
            for name: HTTPHeaderName in ["Pragma", "Cache-Control"] where !exchange.http.headers.contains(name) {
                exchange.http.headers.add(name, "no-cache")
            }
        default: break
        }
        return exchange
    }
}

extension CacheMode: FilterProvidingTag {
    /// For modes that must not send: a guard before the transport.
    public var requiredFilters: [any Filter] { kind.mustNotSend ? [CacheGuard()] : [] }
}

/// Stands between all caches and the transport, and throws what a cache should have handled.
struct CacheGuard: Filter {
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let mode = exchange.tags[CacheModeTag.self]
        guard mode.kind.mustNotSend else { return try await next(exchange) }
        let miss = CacheMiss(.notInstalled)
        mode.report?.missed(miss)
        throw miss
    }
}
