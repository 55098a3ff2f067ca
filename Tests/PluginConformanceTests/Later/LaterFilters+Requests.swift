import Errand
import ErrandEssentials
import Synchronization

/// Names a region, the same one for all attempts of a call.
struct RegionHeader: Filter {
    private static let key = CallKey<String>()
    let regions: [String]
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Region"] = exchange.once(Self.key) { regions.randomElement() ?? "eu" }
        return try await next(exchange)
    }
}

/// Adds the server's time, as far as the last `Date` of each host tells.
final class ServerClock: Filter {
    private let offsets = Mutex<[String: TimeInterval]>([:])
    var traits: FilterTraits { .changesRequest }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = exchange.http.host ?? ""
        var exchange = exchange
        let now = exchange.time.date
        let offset = offsets.withLock { $0[host] } ?? 0
        exchange.http.headers["X-Client-Time"] = "\(Int64(now.timeIntervalSince1970 + offset))"
        let response = try await next(exchange)
        if let text = response.headers["X-Server-Time"], let time = TimeInterval(text), abs(time) < 1e11 {
            let offset = time - exchange.time.date.timeIntervalSince1970
            offsets.withLock { offsets in
                if offsets.count > 50 { offsets.removeAll() }
                offsets[host] = offset
            }
        }
        return response
    }
}

/// Gives each order a key, so a server recognizes a repeated one.
struct OrderKeys: Filter {
    private static let key = CallKey<String>()
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.http.method.isIdempotent, !exchange.http.headers.contains(.idempotencyKey) else {
            return try await next(exchange)
        }
        var exchange = exchange
        exchange.http.headers[.idempotencyKey] = exchange.once(Self.key) { UUID().uuidString }
        return try await next(exchange)
    }
}

/// Continues a trace on each hop with a new span.
struct TraceParent: Filter {
    private static let key = CallKey<String>()
    var traits: FilterTraits { .changesRequest }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.http.headers.contains("traceparent") else { return try await next(exchange) }
        var exchange = exchange
        let trace = exchange.once(Self.key) { hex(UInt64.random(in: 1 ... .max)) + hex(UInt64.random(in: 1 ... .max)) }
        exchange.http.headers["traceparent"] = "00-\(trace)-\(hex(UInt64.random(in: 1 ... .max)))-01"
        return try await next(exchange)
    }

    private func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Adds a checksum to bodies in memory.
struct SumHeader: Filter {
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let data = exchange.http.body.data else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers["X-Sum"] = "\(data.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) })"
        return try await next(exchange)
    }
}

/// Signs requests, with the items of the query in the order of their names.
///
/// Mistake: the sorted query replaces the query, so items with the same name change places.
struct SortedSignature: Filter {
    let key: String
    var traits: FilterTraits { [.changesRequest, .signs] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        let text = exchange.http.urlText
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            let query = parts[1].split(separator: "&", omittingEmptySubsequences: false).sorted()
            if let url = URL(string: parts[0] + "?" + query.joined(separator: "&")) { exchange.http.url = url }
        }
        let sum = (key + exchange.http.urlText).utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        exchange.http.headers.set("X-Signature", "\(sum)", sensitive: true)
        return try await next(exchange)
    }
}

/// Tells the server which languages the user reads, and asks in any language if there's no such text.
///
/// Mistake: the request for any language is created from the URL, so its method and its body are lost.
struct AnyLanguage: Filter {
    let languages: String
    var traits: FilterTraits { [.changesRequest, .retries] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var first = exchange
        if !first.http.headers.contains(.acceptLanguage) { first.http.headers[.acceptLanguage] = languages }
        let staged = exchange.stagedWorkCount
        let response = try await next(first)
        guard response.status == 503, exchange.http.method.isIdempotent, exchange.http.body.isReplayable else {
            return response
        }
        await exchange.discard(response)
        await exchange.discardStagedWork(after: staged)
        var again = exchange
        var headers = exchange.http.headers
        headers.remove(.acceptLanguage)
        again.http = HTTPRequest(url: exchange.http.url, headers: headers)
        return try await next(again)
    }
}

extension HTTPRequest {
    fileprivate init(url: URL, headers: HTTPHeaders) { self.init(.get, url, headers: headers) }
}

/// Reports progress only for large uploads. The bar of a small upload would flicker.
///
/// Mistake: downloads report nothing either.
struct QuietProgress: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if (exchange.http.body.length ?? 0) < 100_000 { exchange.reportsProgress = false }
        return try await next(exchange)
    }
}

/// Refreshes the token after a 401, once for all calls, and sends the request again.
final class TokenRenewal: Filter {
    private struct State {
        var token = "renewal-token-1"
        var refresh: Task<String, any Error>?
    }
    private let state = Mutex(State())
    let renew: @Sendable (String) async throws -> String
    var traits: FilterTraits { [.authenticates, .retries] }
    var stages: FilterStages { .hop }

    init(_ renew: @escaping @Sendable (String) async throws -> String = { _ in "renewal-token-2" }) {
        self.renew = renew
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted, !exchange.http.headers.contains(.authorization) else {
            return try await next(exchange)
        }
        let used = state.withLock { $0.token }
        var first = exchange
        first.http.headers.authorize(.bearer(used))
        let staged = exchange.stagedWorkCount
        let response = try await next(first)
        guard response.status == 401, exchange.http.body.isReplayable else { return response }
        await exchange.discard(response)
        await exchange.discardStagedWork(after: staged)
        var second = exchange
        second.http.headers.authorize(.bearer(try await token(after: used)))
        return try await next(second)
    }

    private func token(after used: String) async throws -> String {
        let task: Task<String, any Error>? = state.withLock { state in
            if state.token != used { return nil }
            if let running = state.refresh { return running }
            let task = Task { [renew] in try await renew(used) }
            state.refresh = task
            return task
        }
        guard let task else { return state.withLock { $0.token } }
        let result = await task.result
        try Task.checkCancellation()
        state.withLock { state in
            if state.refresh == task { state.refresh = nil }
            if case .success(let token) = result { state.token = token }
        }
        return try result.get()
    }
}

/// Refreshes the token after a 401.
///
/// Mistake: checks only for the first attempt whether the origin may know the token.
final class TokenRefresh: Filter {
    private let token = Mutex("refresh-token-1")
    var traits: FilterTraits { [.authenticates, .retries] }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var first = exchange
        if exchange.isTrusted { first.http.headers.authorize(.bearer(token.withLock { $0 })) }
        let staged = exchange.stagedWorkCount
        let response = try await next(first)
        guard response.status == 401, exchange.http.method.isIdempotent, exchange.http.body.isReplayable else {
            return response
        }
        await exchange.discard(response)
        await exchange.discardStagedWork(after: staged)
        let renewed = token.withLock { token in
            token = "refresh-token-2"
            return token
        }
        var second = exchange
        second.http.headers.authorize(.bearer(renewed))
        return try await next(second)
    }
}
