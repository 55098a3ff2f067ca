import Errand
import ErrandEssentials

extension CacheHandler {
    /// Applies RFC 9111 to a request on the wire.
    func http(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        let isForCache = exchange.http.method == .get || exchange.http.method == .head
        guard let policy, isForCache else {
            // A timed policy would have thrown before.
            if mode.mustNotSend { throw miss(.off) }
            return exchange.http.method.isSafe ? try await next(exchange) : try await sendUnsafe(policy)
        }
        let directives = CacheDirectives(request: exchange.http.headers)
        // Known without a wait, but for the first request of a store.
        var hasher = directives.noStore ? nil : cache.hashers.known(for: store)
        if hasher == nil, !directives.noStore { hasher = await self.hasher() }
        guard let hasher else {
            if mode.mustNotSend { throw miss(.off) }
            note(.forward(.bypass, detail: directives.noStore ? "no-store" : nil))
            return try await next(mode.applied(to: exchange))
        }
        let lookup = makeLookup(policy, directives, hasher)
        if case .store(let response) = mode {
            // The response is stored for the request itself, not for the target of a redirect.
            if exchange.hop > 1 { throw miss(.off) }
            exchange.tags[CacheMode.self].report?.complete()
            return await keep(response, lookup, sent: now)
        }
        if case .remove = mode { return try await removeForCaller(lookup) }
        let (found, reason) = await lookUp(lookup)
        guard let found else {
            if isCacheOnly { throw miss(.notStored) }
            if directives.onlyIfCached { return gatewayTimeout }
            note(.forward(reason))
            return try await fetch(lookup, .forward(reason), nil)
        }
        return try await respond(found, lookup)
    }

    func makeLookup(
        _ policy: CachePolicy.HTTP, _ directives: CacheDirectives, _ hasher: KeyedHasher
    ) -> HTTPLookup {
        var directives = directives
        var preferences = HTTPCacheRules.CallPreferences(staleIfError: policy.staleIfError?.wholeSeconds)
        switch mode {
        case .reload: preferences.requiresValidation = true
        case .reloadFromOrigin: directives.noCache = true
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate: preferences.acceptsStale = true
        case .staleIfError: preferences.staleIfError = .max
        default: break
        }
        // The resource URL concerns the first hop only, not the target of a redirect.
        let resource = exchange.hop == 1 ? exchange.tags[ResourceURL.self] : nil
        let url = CacheKeyBuilder.url(resource, of: exchange.http)
        return HTTPLookup(
            url, users: exchange.userMarks, partition: policy.partition, directives, preferences, hasher,
            cache.writer.mark())
    }

    /// Serves the stored response, or validates it.
    private func respond(_ found: StoredResponse, _ lookup: HTTPLookup) async throws -> HTTPResponse {
        let head = found.entry.head
        let condition = HTTPConditions.evaluate(
            exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
        var decision = HTTPCacheRules.decide(
            head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences, now: now)
        if condition == .forward { decision = .validate(.forward(.request)) }
        switch decision {
        case .serve(let status), .serveAndRevalidate(let status):
            guard let response = await serve(found.entry, condition, status) else { break }
            var refreshes = false
            if case .serveAndRevalidate = decision { refreshes = true }
            if case .staleWhileRevalidate = mode { refreshes = true }
            if refreshes { revalidate(found, lookup) }
            return response
        case .validate(let status):
            if isCacheOnly { throw miss(.expired) }
            if lookup.directives.onlyIfCached { return gatewayTimeout }
            if status.forward == .stale, isShareable { return try await share(found, lookup, status) }
            note(status)
            return try await fetch(lookup, status, found)
        }
        // The entry is damaged.
        await remove(found.key)
        if isCacheOnly { throw miss(.unreadable) }
        return try await fetch(lookup, .forward(.miss, detail: "unreadable"), nil)
    }

    /// The response to `only-if-cached` without a valid entry (RFC 9111, section 5.2.1.7).
    private var gatewayTimeout: HTTPResponse {
        note(.forward(.request, detail: "only-if-cached"))
        return HTTPResponse(
            to: exchange.http, status: 504, source: ResponseSource("cache", reason: "only-if-cached"))
    }

    /// The stored response as the response to the request; nil if it cannot be read.
    func serve(
        _ entry: CacheEntry, _ condition: HTTPConditions.Outcome, _ status: CacheStatus, also: HTTPHeaders = [:]
    ) async -> HTTPResponse? {
        let head = entry.head
        guard let whole = exchange.http.method == .head ? .empty : try? await body(entry) else { return nil }
        let age = head.fresh.age(received: head.received, now: now) ?? 0
        let source = ResponseSource.cache(age: .seconds(age), reason: status.description)
        guard var response = head.response(to: exchange.http, whole, source: source) else { return nil }
        response.headers.set(.age, "\(age)")
        response.headers.merge(also)
        switch condition {
        case .whole, .forward: break
        case .notModified:
            whole.cancel()
            (response.status, response.body) = (304, .empty)
            response.headers.remove(.contentLength)
        case .part(let range):
            response.status = 206
            response.body = whole.slice(range)
            response.headers.set(
                .contentRange, "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.body.length ?? 0)")
            response.headers.set(.contentLength, "\(range.count)")
        }
        note(status)
        exchange.reportUsers()
        return response
    }

    /// Sends the request, with the stored response's validators if the request has no conditions of its own.
    func fetch(_ lookup: HTTPLookup, _ status: CacheStatus, _ found: StoredResponse?) async throws -> HTTPResponse {
        let own = exchange.http.headers
        let hasOwnConditions = HTTPConditions.names.contains { own.contains($0) } || own.contains(.range)
        var validating = exchange
        var validates = false
        var isFullReload = false
        if case .reloadFromOrigin = mode { isFullReload = true }
        if let found, !hasOwnConditions, !isFullReload, exchange.http.method == .get,
            let request = HTTPCacheHeaders.validating(exchange.http, found.entry.head.headers)
        {
            validating.http = request
            validates = true
        }
        let sent = now
        do {
            let (response, users) = try await send(validating)
            if let found, HTTPCacheRules.isServerFailure(response.status),
                let stale = await staleOnError(found, lookup, status: response.status)
            {
                response.body.cancel()
                return stale
            }
            // The filters behind this one have made it the response of other users: nothing of it belongs into this
            // entry.
            if !lookup.mayKeep(users) {
                note(CacheStatus(forwardStatus: response.status, detail: "not stored: sent for other users"))
                if response.status != 304 || !validates { return response }
                response.body.cancel()
                return try await next(mode.applied(to: exchange))
            }
            return try await resolve(
                response, lookup, status, found, sent: sent, condition: validating.http.headers, validates: validates,
                hasOwnConditions: hasOwnConditions)
        } catch {
            if let found, Self.allowsStale(after: error), let stale = await staleOnError(found, lookup, status: nil) {
                return stale
            }
            throw error
        }
    }

    /// The response of the following filters and the transport, and the users for whom it was sent, where that is
    /// known.
    func send(_ exchange: Exchange) async throws -> (HTTPResponse, Set<UserMark>?) {
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(mode.applied(to: recorded))
        record.commit()
        return (response, record.marks)
    }

    private func staleOnError(_ found: StoredResponse, _ lookup: HTTPLookup, status: Int?) async -> HTTPResponse? {
        let head = found.entry.head
        guard
            var reason = HTTPCacheRules.staleOnError(
                head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences,
                now: now)
        else { return nil }
        reason.forwardStatus = status
        let condition = HTTPConditions.evaluate(
            exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
        return condition == .forward ? nil : await serve(found.entry, condition, reason)
    }

    /// Updates the cache with the server's response, and returns the response for the caller.
    private func resolve(
        _ response: HTTPResponse, _ lookup: HTTPLookup, _ status: CacheStatus, _ found: StoredResponse?, sent: Date,
        condition: HTTPHeaders, validates: Bool, hasOwnConditions: Bool
    ) async throws -> HTTPResponse {
        if exchange.http.method == .head {
            if response.status == 200 { await applyHead(response, lookup, sent: sent) }
            return response
        }
        if response.status == 304, let found {
            let confirms = HTTPCacheHeaders.confirms(
                response.headers, found.entry.head.headers, condition: condition)
            if hasOwnConditions {
                if confirms { await freshen(found, response, lookup, sent: sent) }
                return response
            }
            if validates {
                response.body.cancel()
                guard confirms else {
                    // The 304 is about a response that is not stored: send the request without conditions.
                    return try await keepAnew(lookup)
                }
                let entry = await freshen(found, response, lookup, sent: sent)
                var status = status
                (status.forwardStatus, status.isStored) = (304, true)
                let cookies = HTTPHeaders(response.headers.filter { $0.isSensitive })
                if let response = await serve(entry, .whole, status, also: cookies) { return response }
                await remove(found.key)
                return try await keepAnew(lookup)
            }
        }
        return await keep(response, lookup, sent: sent, old: found?.key)
    }

    /// Sends the request without conditions.
    private func keepAnew(_ lookup: HTTPLookup) async throws -> HTTPResponse {
        let sent = now
        let (response, users) = try await send(exchange)
        return lookup.mayKeep(users) ? await keep(response, lookup, sent: sent) : response
    }

    /// Validates the stored response in the background.
    private func revalidate(_ found: StoredResponse, _ lookup: HTTPLookup) {
        inBackground("revalidate", found.key, .standard) { handler in
            // Read the entry again: the caller may be reading its body as a stream.
            guard case .entry(let entry) = await handler.read(found.key) else { return }
            _ = try await handler.fetch(lookup, .forward(.stale), StoredResponse(key: found.key, entry: entry))
        }
    }
}
