import Errand
import Foundation
import Synchronization

// Filters with one mistake each, and their right forms, for filters that store, authenticate, sign or pause.

/// Returns the last response of a GET if the server can't be reached.
final class SavedReads: Filter {
    private struct Key: Hashable {
        let url: String
        let fields: [HTTPHeaders.Field]
        let users: Set<UserMark>
    }

    private let saved = Mutex<[Key: HTTPResponse]>([:])
    /// Right: only without a network. Wrong: after any error.
    private let onlyOffline: Bool
    init(onlyOffline: Bool) { self.onlyOffline = onlyOffline }
    var traits: FilterTraits { .caches }
    var explanation: String { "returns the last response without a network" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.delivery == .data else { return try await next(exchange) }
        let key = Key(
            url: exchange.http.urlText, fields: Array(exchange.http.headers), users: exchange.userMarks)
        let staged = exchange.stagedWorkCount
        do {
            let response = try await next(exchange)
            if response.status == 200, response.body.data != nil {
                exchange.whenAccepted { [self] in
                    saved.withLock { saved in
                        if saved.count > 100 { saved = [:] }
                        saved[key] = response
                    }
                }
            }
            return response
        } catch {
            if onlyOffline, !error.reachedNoServer || error.isCancellation { throw error }
            guard var response = saved.withLock({ $0[key] }) else { throw error }
            await exchange.discardStagedWork(after: staged)
            response.source = .stored("saved", age: .zero, reason: "no network")
            return response
        }
    }
}

/// Adds the tenant, which decides whose data the server returns.
struct TenantField: Filter {
    /// Right: a redirect to another origin removes the field.
    let isSensitive: Bool
    var traits: FilterTraits { [.changesRequest, .authenticates] }
    var explanation: String { "adds X-Tenant" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers.set("X-Tenant", "further-tenant", sensitive: isSensitive)
        return try await next(exchange)
    }
}

/// Signs the bytes of the body.
struct ByteSignature: Filter {
    /// Right: reads a stream first. Wrong: signs a stream like an empty body.
    let readsStreams: Bool
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .signs }
    var explanation: String { "adds X-Signature" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        if readsStreams, exchange.http.body.data == nil, !exchange.http.body.isNone {
            let bytes = try await exchange.http.body.open().collect(upTo: 1 << 20)
            exchange.http.body = .data(bytes, contentType: exchange.http.body.contentType)
        }
        let signature = checksum(exchange.http.body.data ?? Data(), key: "further-key")
        exchange.http.headers.set("X-Signature", signature, sensitive: true)
        return try await next(exchange)
    }
}

/// Refuses requests to a host until the time in its `Retry-After` is over.
final class HostPause: Filter {
    private let ends = Mutex<[String: ContinuousClock.Instant]>([:])
    /// Right: reads both forms. Wrong: reads only a number.
    private let readsDates: Bool
    init(readsDates: Bool) { self.readsDates = readsDates }
    var stages: FilterStages { .wire }
    var explanation: String { "pauses hosts that ask for it" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (host, now) = (exchange.http.host ?? "", exchange.time.now)
        if let end = ends.withLock({ $0[host] }), end > now { throw ErrandError(.cannotConnect, "the host pauses") }
        let response = try await next(exchange)
        guard response.status == 429 || response.status == 503 else { return response }
        let number = response.headers[.retryAfter].flatMap { Int($0) }.map { Duration.seconds($0) }
        let wait = readsDates ? response.headers.retryAfter(from: exchange.time.date) : number
        ends.withLock { ends in
            if ends.count > 100 { ends = [:] }
            ends[host] = wait.map { now.advanced(by: min($0, .seconds(600))) }
        }
        return response
    }
}
