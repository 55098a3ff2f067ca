public import Errand

extension CacheMode.Kind {
    /// Whether nothing may be sent, with or without a cache.
    var mustNotSend: Bool {
        switch self {
        case .cacheOnly, .cacheOnlyIncludingStale, .remove, .store: true
        case .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .off: false
        }
    }

    /// Whether a request has the validators of a stored response.
    var usesValidators: Bool {
        if case .reloadFromOrigin = self { false } else { true }
    }

    /// Whether a timed entry isn't read.
    var reloads: Bool {
        switch self {
        case .reload, .reloadFromOrigin: true
        default: false
        }
    }

    /// Whether a timed entry past its lifetime may be used.
    var acceptsExpired: Bool {
        switch self {
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate, .remove: true
        default: false
        }
    }

    /// Whether a stored response is served and fetched again in the background.
    var refreshes: Bool {
        if case .staleWhileRevalidate = self { true } else { false }
    }

    /// The request for the server, with the directives for intermediate caches that the Fetch standard sets.
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
        throw mode.miss(.notInstalled)
    }
}
