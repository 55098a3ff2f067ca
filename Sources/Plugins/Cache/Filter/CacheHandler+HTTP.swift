import Errand
import ErrandEssentials

/// RFC 9111, as far as nothing has to be waited for.
extension CacheHandler {
    /// What follows for a request on the wire.
    func begin(_ policy: CachePolicy.HTTP?) throws -> CacheStep {
        let http = exchange.http
        let method = http.method
        guard let policy, method == .get || method == .head else {
            // A timed policy would have thrown before.
            if mode.mustNotSend { throw miss(.off) }
            return method.isSafe ? .pass(exchange) : .wait(self, .unsafe(policy))
        }
        // The key has no body, and another one may mean another response.
        if http.body.length != 0 { return try bypass("the request has a body") }
        let directives = CacheDirectives(request: http.headers)
        if directives.noStore { return try bypass("no-store") }
        guard let store = cache.stores.known(store) else { return .wait(self, .store(policy, directives)) }
        return try look(makeLookup(policy, directives, store))
    }

    /// Past the cache, with a note.
    func bypass(_ detail: String?) throws -> CacheStep {
        if mode.mustNotSend { throw miss(.off) }
        note(.forward(.bypass, detail: detail))
        return .pass(mode.applied(to: exchange))
    }

    func makeLookup(
        _ policy: CachePolicy.HTTP, _ directives: consuming CacheDirectives, _ store: OpenStore
    ) -> HTTPLookup {
        var preferences = HTTPCacheRules.CallPreferences(staleIfError: policy.staleIfError?.wholeSeconds)
        switch mode {
        case .reload: preferences.requiresValidation = true
        case .reloadFromOrigin: directives.noCache = true
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate: preferences.acceptsStale = true
        case .staleIfError: preferences.staleIfError = .max
        default: break
        }
        return HTTPLookup(exchange, partition: policy.partition, directives, preferences, store, cache.writer.mark())
    }

    /// What follows once the keys are known.
    func look(_ lookup: HTTPLookup) throws -> CacheStep {
        if case .store(let response) = mode {
            // The response is stored for the request itself, not for the target of a redirect.
            if exchange.hop > 1 { throw miss(.off) }
            exchange.tags[CacheMode.self].report?.complete()
            return .wait(self, .storing(response, lookup))
        }
        if case .remove = mode { return .wait(self, .removal(lookup)) }
        guard let outcome = searchAtOnce(lookup) else { return .wait(self, .search(lookup)) }
        return try decide(outcome, lookup)
    }

    /// What follows once the store has been searched.
    func decide(_ outcome: HTTPSearch.Outcome, _ lookup: HTTPLookup) throws -> CacheStep {
        switch outcome {
        case .found(let found): return try respond(found, lookup)
        case .nothing(let reason):
            if isCacheOnly { throw miss(.notStored) }
            if lookup.directives.onlyIfCached { return .done(gatewayTimeout) }
            note(.forward(reason))
            return .fetch(HTTPFetch(self, lookup, .forward(reason), nil))
        }
    }

    /// Serves the stored response, or validates it.
    private func respond(_ found: StoredResponse, _ lookup: HTTPLookup) throws -> CacheStep {
        let (head, now) = (found.entry.head, now)
        let condition = condition(found, lookup)
        var decision = HTTPCacheRules.decide(
            head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences, now: now)
        if condition == .forward { decision = .validate(.forward(.request)) }
        guard case .validate(let status) = decision else {
            let body = lookup.isHead ? .empty : bodyAtOnce(found.entry)
            guard let body, let response = serve(found, body, condition, decision, lookup) else {
                return .wait(self, .body(found, condition, decision, lookup))
            }
            return .done(response)
        }
        if isCacheOnly { throw miss(.expired) }
        if lookup.directives.onlyIfCached { return .done(gatewayTimeout) }
        if status.forward == .stale, isShareable(lookup) { return .wait(self, .validation(found, lookup, status)) }
        note(status)
        return .fetch(HTTPFetch(self, lookup, status, found))
    }

    /// How a stored response satisfies the request's own conditions.
    func condition(_ found: StoredResponse, _ lookup: HTTPLookup) -> HTTPConditions.Outcome {
        guard lookup.hasConditions else { return .whole }
        let head = found.entry.head
        return HTTPConditions.evaluate(
            exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
    }

    /// The response to `only-if-cached` without a valid entry (RFC 9111, section 5.2.1.7).
    private var gatewayTimeout: HTTPResponse {
        note(.forward(.request, detail: "only-if-cached"))
        return HTTPResponse(
            to: exchange.http, status: 504, source: ResponseSource("cache", reason: "only-if-cached"))
    }

    /// The stored response, and a validation in the background where that is due; nil if the entry is damaged.
    func serve(
        _ found: StoredResponse, _ body: HTTPBody, _ condition: HTTPConditions.Outcome,
        _ decision: HTTPCacheRules.Decision, _ lookup: HTTPLookup
    ) -> HTTPResponse? {
        var refreshes = false
        if case .staleWhileRevalidate = mode { refreshes = true }
        if case .serveAndRevalidate = decision { refreshes = true }
        guard let response = serve(found.entry, body, condition, decision.status) else { return nil }
        if refreshes { revalidate(found, lookup) }
        return response
    }

    /// The stored response as the response to the request; nil if it cannot be read.
    func serve(
        _ entry: CacheEntry, _ condition: HTTPConditions.Outcome, _ status: CacheStatus,
        also: HTTPHeaders = HTTPHeaders()
    ) async -> HTTPResponse? {
        if exchange.http.method == .head { return serve(entry, .empty, condition, status, also: also) }
        guard let whole = await body(entry) else { return nil }
        return serve(entry, whole, condition, status, also: also)
    }

    /// The same with its body.
    private func serve(
        _ entry: CacheEntry, _ whole: HTTPBody, _ condition: HTTPConditions.Outcome, _ status: CacheStatus,
        also: HTTPHeaders = HTTPHeaders()
    ) -> HTTPResponse? {
        let head = entry.head
        let age = head.fresh.age(received: head.received, now: now) ?? 0
        let source = ResponseSource.cache(age: .seconds(age), reason: status.description)
        var headers = head.headers
        headers.set(.age, String(age))
        headers.merge(also)
        if condition == .notModified { headers.remove(.contentLength) }
        if case .part(let range) = condition {
            headers.set(
                .contentRange, "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.body.length ?? 0)")
            headers.set(.contentLength, "\(range.count)")
        }
        guard var response = head.response(to: exchange.http, headers, whole, source: source) else { return nil }
        switch condition {
        case .whole, .forward: break
        case .notModified:
            whole.cancel()
            (response.status, response.body) = (304, .empty)
        case .part(let range): (response.status, response.body) = (206, whole.slice(range))
        }
        note(status)
        exchange.reportUsers()
        return response
    }

    /// Validates the stored response in the background.
    private func revalidate(_ found: StoredResponse, _ lookup: HTTPLookup) {
        inBackground("revalidate", found.key, .standard) { handler in
            // Read the entry again: the caller may be reading its body as a stream.
            guard case .entry(let entry) = await handler.read(found.key) else { return }
            let fresh = StoredResponse(key: found.key, entry: entry)
            _ = try await HTTPFetch(handler, lookup, .forward(.stale), fresh).response()
        }
    }
}
