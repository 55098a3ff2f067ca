import Errand
import Foundation
import Synchronization

/// Sends DELETE as POST with the method in a field, next to a copy of the preferred language.
struct MethodField: Filter {
    /// Wrong: copies only a language in lower case.
    var comparesText = false
    var stages: FilterStages { .wire }
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .delete else { return try await next(exchange) }
        var exchange = exchange
        let language = exchange.http.headers[.acceptLanguage] ?? "none"
        if !comparesText || language == "de" {
            exchange.http.headers["X-Method"] = "\(exchange.http.method), \(language)"
        }
        exchange.http.method = .post
        return try await next(exchange)
    }
}

/// Replaces typographic quotation marks in a text, and keeps an incomplete character for the next chunk.
struct PlainMarks: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if let data = response.body.data {
            response.body = HTTPBody(Self.plain(data))
        } else {
            response.body = HTTPBody(length: nil, source: Source(response.body))
        }
        response.headers.remove(.contentLength)
        return response
    }

    fileprivate static func plain(_ data: Data) -> Data {
        Data(String(decoding: data, as: UTF8.self).replacing("\u{201C}", with: "\"").utf8)
    }

    private final class Source: HTTPBodySource {
        private let chunks: BodyChunks
        private let held = Mutex(Data())

        init(_ body: HTTPBody) { chunks = BodyChunks(body) }

        func nextChunk() async throws -> Data? {
            let chunk = try await chunks.next()
            return held.withLock { held in
                guard let chunk else {
                    defer { held = Data() }
                    return held.isEmpty ? nil : PlainMarks.plain(held)
                }
                held += chunk
                // A character that isn't complete doesn't decode.
                for count in 0..<4 where String(validating: held.dropLast(count), as: UTF8.self) != nil {
                    defer { held = Data(held.suffix(count)) }
                    return PlainMarks.plain(held.dropLast(count))
                }
                return Data()
            }
        }

        func cancel() { chunks.cancel() }
    }
}

/// Sends requests of the agent's origin to another origin of the same service.
struct OtherCenter: Filter {
    var traits: FilterTraits { [.changesRequest, .outsideCacheKey] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        let text = exchange.http.urlText
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...].drop { $0 != "/" } } ?? ""
        guard let url = URL(string: "https://center.test" + rest) else { return try await next(exchange) }
        var exchange = exchange
        if exchange.tags[ResourceURL.self] == nil { exchange.tags[ResourceURL.self] = exchange.http.url }
        exchange.http.url = url
        exchange.trustOrigin()
        return try await next(exchange)
    }
}

/// Sends a copy of each GET to another server, and waits for its end, so the copy always arrives first.
struct FirstCopies: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method.isSafe, exchange.http.body.isNone, exchange.isTrusted,
            let url = URL(string: "https://staging.test\(exchange.http.url.path())")
        else { return try await next(exchange) }
        let copy = exchange.detach("copy") { copy in
            var copy = copy
            copy.http = HTTPRequest(copy.http.method, url)
            try await next(copy).body.cancel()
        }
        _ = await copy.result
        return try await next(exchange)
    }
}

/// Stores responses to GET with the tags of their requests, because a request with other tags gets another response.
final class TagStore: Filter {
    private struct Stored: Sendable {
        let tags: Tags
        let response: HTTPResponse
        /// Wrong: keeps the call, too.
        let exchange: Exchange?
    }

    private let keepsCalls: Bool
    private let stored = Mutex<[String: Stored]>([:])

    init(keepsCalls: Bool) { self.keepsCalls = keepsCalls }

    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.userMarks.isEmpty else { return try await next(exchange) }
        let key = exchange.http.urlText
        if let found = stored.withLock({ $0[key] }), found.tags.haveSameEffect(as: exchange.tags) {
            return found.response
        }
        let response = try await next(exchange)
        guard response.status == 200, response.body.data != nil else { return response }
        let new = Stored(tags: exchange.tags, response: response, exchange: keepsCalls ? exchange : nil)
        stored.withLock { $0[key] = new }
        return response
    }
}
