public import Errand

extension CacheMode.Kind {
    /// Whether a request must never be sent, with or without a cache.
    var mustNotSend: Bool {
        switch self {
        case .cacheOnly, .cacheOnlyIncludingStale, .remove, .store: true
        case .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .off: false
        }
    }

    var usesValidators: Bool {
        if case .reloadFromOrigin = self { false } else { true }
    }

    var reloads: Bool {
        switch self {
        case .reload, .reloadFromOrigin: true
        default: false
        }
    }

    var acceptsExpired: Bool {
        switch self {
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate, .remove: true
        default: false
        }
    }

    var refreshes: Bool {
        if case .staleWhileRevalidate = self { true } else { false }
    }

    /// Adds the directives for intermediate caches that the Fetch standard sets.
    func applied(to exchange: Exchange) -> Exchange {
        let fields: HTTPHeaders
        switch self {
        case .reload: fields = ["Cache-Control": "max-age=0"]
        case .reloadFromOrigin: fields = ["Pragma": "no-cache", "Cache-Control": "no-cache"]
        default: return exchange
        }
        guard exchange.stage == .hop, exchange.http.method == .get || exchange.http.method == .head else {
            return exchange
        }
        var exchange = exchange
        for field in fields where !exchange.http.headers.contains(field.name) {
            exchange.http.headers.add(field.name, field.value)
        }
        return exchange
    }
}

extension CacheMode: FilterProvidingTag {
    /// A guard before the transport, for modes that must not send requests.
    public var requiredFilters: [any Filter] { kind.mustNotSend ? [CacheGuard()] : [] }
}

/// Runs between all caches and the transport. Throws for calls that a cache should have answered.
struct CacheGuard: Filter {
    var stages: FilterStages { .hop }
    var explanation: String { "cache guard, doesn't send" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let mode = exchange.tags[CacheMode.self]
        guard mode.kind.mustNotSend else { return try await next(exchange) }
        throw mode.miss(.notInstalled)
    }
}
