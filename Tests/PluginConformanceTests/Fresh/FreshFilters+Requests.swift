import Errand
import ErrandEssentials

/// Puts a prefix before the path, such as `/v2`.
struct VersionedPath: Filter {
    let prefix: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted,
            var parts = URLComponents(url: exchange.http.url, resolvingAgainstBaseURL: false)
        else { return try await next(exchange) }
        var exchange = exchange
        parts.percentEncodedPath = prefix + parts.percentEncodedPath
        if let url = parts.url { exchange.http.url = url }
        return try await next(exchange)
    }
}

/// Puts a prefix before the path.
///
/// Mistake: `path` is the decoded path, and encoding it again doesn't restore what the server has to receive.
struct PathPrefix: Filter {
    let prefix: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        guard var parts = URLComponents(url: exchange.http.url, resolvingAgainstBaseURL: true) else {
            return try await next(exchange)
        }
        parts.path = prefix + parts.path
        exchange.http.url = parts.url ?? exchange.http.url
        return try await next(exchange)
    }
}

/// Adds the version of the app to the query.
struct VersionQuery: Filter {
    let version: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard var parts = URLComponents(url: exchange.http.url, resolvingAgainstBaseURL: false) else {
            return try await next(exchange)
        }
        var exchange = exchange
        let query = parts.percentEncodedQuery.map { $0.isEmpty ? "" : $0 + "&" } ?? ""
        parts.percentEncodedQuery = query + "v=\(version)"
        if let url = parts.url { exchange.http.url = url }
        return try await next(exchange)
    }
}

/// Adds the language to the query.
///
/// Mistake: `queryItems` decodes `%2B`, and doesn't encode `+`, which a server reads as a space.
struct LanguageQuery: Filter {
    let language: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard var parts = URLComponents(url: exchange.http.url, resolvingAgainstBaseURL: false) else {
            return try await next(exchange)
        }
        var exchange = exchange
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "lang", value: language)]
        if let url = parts.url { exchange.http.url = url }
        return try await next(exchange)
    }
}

/// A checksum for the examples, in place of a real HMAC.
func checksum(_ data: Data, key: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in Array(key.utf8) + data { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
}

/// Signs method, URL and body.
struct RequestSignature: Filter, CustomReflectable {
    let key: String
    var customMirror: Mirror { Mirror(self, children: [:]) }
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .signs }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        let head = Data("\(exchange.http.method.rawValue) \(exchange.http.urlText)".utf8)
        // A streamed body isn't covered, as the service specifies.
        let body = exchange.http.body.data ?? Data("UNSIGNED".utf8)
        exchange.http.headers.set("X-Signature", checksum(head + body, key: key), sensitive: true)
        return try await next(exchange)
    }
}

/// Signs the body.
///
/// Mistake: reads a body that can be opened once.
struct BodySignature: Filter {
    let key: String
    var traits: FilterTraits { .signs }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let body = try await exchange.http.body.open().collect(upTo: 10_000_000)
        exchange.http.headers.set("X-Body-Signature", checksum(body, key: key))
        return try await next(exchange)
    }
}

/// Encodes bodies for a proxy that only passes text.
struct TextArmor: Filter {
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let data = exchange.http.body.data, !data.isEmpty, !exchange.http.headers.contains("X-Armor") else {
            return try await next(exchange)
        }
        var exchange = exchange
        let type = exchange.http.body.contentType
        exchange.http.body = .data(Data(data.base64EncodedString().utf8), contentType: type)
        exchange.http.headers["X-Armor"] = "base64"
        return try await next(exchange)
    }
}

/// Wraps bodies in an envelope with the device's ID.
///
/// Mistake: a streamed body has no `data`, and is replaced by an empty one.
struct BodyEnvelope: Filter {
    let device: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if exchange.http.method.isSafe || exchange.http.body.isNone { return try await next(exchange) }
        var exchange = exchange
        let data = exchange.http.body.data ?? Data()
        let type = exchange.http.body.contentType
        exchange.http.body = .data(Data("\(device)\n".utf8) + data, contentType: type)
        return try await next(exchange)
    }
}

/// Sends PUT and DELETE as POST, for a proxy that refuses them.
struct MethodOverride: Filter {
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard [HTTPMethod.put, .delete, .patch].contains(exchange.http.method) else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers["X-HTTP-Method-Override"] = exchange.http.method.rawValue
        exchange.http.method = .post
        return try await next(exchange)
    }
}
