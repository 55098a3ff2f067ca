import Errand
import ErrandEssentials
import Synchronization

/// Adds the tenant of the app to each request.
struct TenantHeader: Filter {
    let tenant: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Tenant"] = tenant
        return try await next(exchange)
    }
}

/// Adds default headers, unless the request has them.
///
/// Mistake: a dictionary has one value for each name, and doesn't know which fields are sensitive.
struct DefaultHeaders: Filter {
    let defaults: [String: String]
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var merged = defaults
        for field in exchange.http.headers { merged[field.name.rawName] = field.value }
        var exchange = exchange
        exchange.http.headers = HTTPHeaders(merged)
        return try await next(exchange)
    }
}

/// Names the app in `User-Agent`, unless the request names a client.
struct AppUserAgent: Filter {
    let name: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.http.headers.contains(.userAgent) else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers[.userAgent] = name
        return try await next(exchange)
    }
}

/// Marks requests that only read, and gives them more time because reports are slow.
///
/// Mistake: the timeout is set for all requests, also for those that ask for less or more.
struct ReportTimeouts: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if exchange.http.method == .get { exchange.http.headers["X-Read-Only"] = "1" }
        exchange.timeout = .seconds(120)
        return try await next(exchange)
    }
}

/// The name of the screen that sends a request.
enum ScreenName: TagKey {
    static var defaultValue: String { "" }
}

/// Names the screen for the server's statistics.
struct ScreenHeader: Filter {
    let screen: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.tags[ScreenName.self] = screen
        exchange.http.headers["X-Screen"] = screen
        return try await next(exchange)
    }
}

/// Tags requests with a screen, for filters further in.
///
/// Mistake: replaces the tags of the request.
struct ScreenTag: Filter {
    let screen: String

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.tags = Tags().with(ScreenName.self, screen)
        return try await next(exchange)
    }
}

/// Adds the session's token.
struct BearerToken: Filter {
    let token: @Sendable () async throws -> String
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .authenticates }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted, !exchange.http.headers.contains(.authorization) else {
            return try await next(exchange)
        }
        var exchange = exchange
        exchange.http.headers.set(.authorization, "Bearer \(try await token())", sensitive: true)
        return try await next(exchange)
    }
}

/// Adds the API key of the service.
///
/// Mistake: adds it wherever the request goes, also after a redirect to another host.
struct ServiceKey: Filter {
    let key: String
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .authenticates }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers.set("X-API-Key", key, sensitive: true)
        return try await next(exchange)
    }
}

/// Sends back the newest CSRF token of the server, for each origin.
final class CSRFTokens: Filter {
    private let tokens = Mutex<[String: String]>([:])
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let owner = exchange.userMarks.map { "\($0.source)=\($0.identity)" }.sorted().joined(separator: "&")
        let origin =
            "\(exchange.http.url.scheme ?? "")://\(exchange.http.host ?? "")"
            + ":\(exchange.http.url.port ?? 0) \(owner)"
        if !exchange.http.method.isSafe, let token = tokens.withLock({ $0[origin] }) {
            exchange.http.headers.set("X-CSRF-Token", token, sensitive: true)
        }
        let response = try await next(exchange)
        if let token = response.headers["X-CSRF-Token"] {
            tokens.withLock { tokens in
                if tokens.count >= 100, tokens[origin] == nil { tokens.removeAll() }
                tokens[origin] = token
            }
        }
        return response
    }
}

/// Sends back the newest request token of the server.
///
/// Mistake: one token for all servers and users.
final class RequestToken: Filter {
    private let token = Mutex<String?>(nil)
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if let token = token.withLock({ $0 }) { exchange.http.headers["X-Request-Token"] = token }
        let response = try await next(exchange)
        if let new = response.headers["X-Request-Token"] { token.withLock { $0 = new } }
        return response
    }
}
