import Errand
import ErrandEssentials

/// Handles one request. `respondTimed()` applies the app's own policy, and `respond(storing:)` applies RFC 9111:
///
/// 1. `sendUnsafe` sends a request whose method isn't safe. `invalidate` removes the stored responses that it changed.
/// 2. `begin` checks whether the request may use the cache, and creates the lookup with the key and the directives.
/// 3. `searchAtOnce` or `search` finds the candidate, which is the stored response for the key and the `Vary` fields.
/// 4. `respond(from:)` decides about the candidate. If it's fresh enough, `serve` returns it. This is a hit.
/// 5. Otherwise, if `mustNotSend` finds that the request must not be sent, the caller gets an error or a 504.
/// 6. `validate` asks the server about the candidate. With `share`, concurrent requests wait for one validation.
/// 7. After a 304, `freshen` updates the candidate, and `serveConfirmed` returns it. After a failure, `stale` may.
/// 8. Without a candidate, `forward` sends the request.
/// 9. `storeResponse` stores a new response, unless `isRefused` finds a rule against it.
///
/// This type is a class, because a struct would enlarge async frames.
final class CacheHandler: Sendable {
    let cache: ResponseCache
    let exchange: Exchange
    let next: Next
    let terms: CacheTerms
    let mode: CacheMode.Kind
    /// Passes the result to the waiting requests, if this request leads a shared validation.
    let leader: SharedValidations.Leader?

    init(
        _ cache: ResponseCache, exchange: Exchange, next: Next, terms: CacheTerms, mode: CacheMode.Kind,
        leader: SharedValidations.Leader? = nil
    ) {
        (self.cache, self.exchange, self.next, self.terms) = (cache, exchange, next, terms)
        (self.mode, self.leader) = (mode, leader)
    }

    func leading(_ leader: SharedValidations.Leader) -> CacheHandler {
        CacheHandler(cache, exchange: exchange, next: next, terms: terms, mode: mode, leader: leader)
    }

    func handling(_ exchange: Exchange, _ mode: CacheMode.Kind) -> CacheHandler {
        CacheHandler(cache, exchange: exchange, next: next, terms: terms, mode: mode)
    }

    var policy: CachePolicy { terms.policy }
    var store: any CacheStore { terms.store }
    var tags: [String] { terms.request?.cacheTags ?? [] }
    var now: Date { exchange.time.date }
    private var report: CacheReport? { exchange.tags[CacheMode.self].report }

    func miss(_ reason: CacheMiss.Reason) -> CacheMiss { exchange.tags[CacheMode.self].miss(reason) }

    func complete(_ failure: (any Error)? = nil) { report?.complete(failure) }

    /// Runs work in the background, at most once at a time for each key.
    ///
    /// - Parameter work: Receives the handler of the detached exchange, in `mode`.
    func inBackground(
        _ verb: String, for key: CacheKey, mode: CacheMode.Kind,
        _ work: @escaping @Sendable (CacheHandler) async throws -> Void
    ) {
        guard let turn = cache.beginRevalidation(CacheWriter.Location(store, key)) else { return }
        exchange.detach("\(verb) \(exchange.activity.label)") { [self] exchange in
            defer { turn.end() }
            var exchange = exchange
            exchange.delivery = .data
            try await work(handling(exchange, mode))
        }
    }

    func note(_ status: @autoclosure () -> CacheStatus) {
        exchange.note("cache", describing: status())
    }

    private func note(_ what: String, _ error: any Error) {
        exchange.note("cache", "\(what): \((error as? CacheStoreError)?.description ?? "\(type(of: error))")")
    }
}

// MARK: - The store

extension CacheHandler {
    enum Stored: Sendable {
        case entry(CacheEntry)
        case nothing
        case unreadable
    }

    func openStore() async -> OpenStore? {
        do { return try await cache.stores.open(store) } catch {
            note("the cache isn't used, because its store couldn't provide its secret", error)
            return nil
        }
    }

    func read(_ key: CacheKey) async -> Stored {
        do {
            return try await cache.writer.entry(for: key, in: store).map(Stored.entry) ?? .nothing
        } catch {
            note("an entry couldn't be read", error)
            return .unreadable
        }
    }

    func body(_ entry: CacheEntry) async -> HTTPBody? {
        if entry.body.data != nil || exchange.delivery != .data { return entry.body }
        return try? HTTPBody(await entry.body.collect(upTo: .max))
    }

    /// Removes a key's entry, and responses in flight for the key.
    @discardableResult
    func remove(_ key: CacheKey) async -> (any Error)? { await remove(.key(key), keys: [key]) }

    /// Removes the entries of keys, and responses in flight that the target contains.
    @discardableResult
    func remove(_ target: RecentRemovals.Target, keys: [CacheKey]) async -> (any Error)? {
        do { try await cache.writer.remove(target, keys: keys, from: store) } catch {
            note("an entry couldn't be removed", error)
            return error
        }
        return nil
    }

    func write(_ entry: CacheEntry, for key: CacheKey, since start: CacheWriter.Start) {
        cache.writer.write(entry.head, entry.body, for: key, in: store, since: start) {
            [exchange = self.exchange] error in
            Self.noteUnwritten(error, exchange)
        }
    }

    func update(_ head: CacheEntryHead, of old: CacheEntry, for key: CacheKey, since start: CacheWriter.Start) {
        let body = old.body.data.map { HTTPBody($0) }
        cache.writer.write(head, body, replacing: old.head, for: key, in: store, since: start) {
            [exchange = self.exchange] error in
            Self.noteUnwritten(error, exchange)
        }
    }

    /// Writes the body while the caller reads it.
    func writeStream(
        _ tee: TeeBody, of response: HTTPResponse, _ head: CacheEntryHead, under key: CacheKey,
        since start: CacheWriter.Start
    ) -> HTTPResponse {
        let (exchange, store, writer) = (exchange, store, cache.writer)
        let task = Task.detached {
            do {
                let entry = CacheEntry(head: head, body: HTTPBody(source: tee.copy))
                if try await !writer.stream(entry, for: key, in: store, since: start) { tee.abandon() }
            } catch {
                // The caller continues without the cache. If the caller stopped reading, there's no error to report.
                if tee.abandon() { Self.noteUnwritten(error, exchange) }
            }
        }
        tee.onEnd { writer.track(task) }
        var response = response
        response.body = HTTPBody(length: response.body.length, source: tee)
        return response
    }

    /// Notes the error in a separate activity, because the call may have ended.
    private static func noteUnwritten(_ error: any Error, _ exchange: Exchange) {
        let reason =
            (error as? CacheStoreError)?.description ?? (error as? ErrandError)?.code.description
            ?? "\(type(of: error))"
        exchange.detach("cache write") { $0.note("cache", "an entry couldn't be written: \(reason)") }
    }
}
