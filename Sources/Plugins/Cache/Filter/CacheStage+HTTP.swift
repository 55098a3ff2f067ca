import Errand

import ErrandEssentials

extension CacheStage {
    /// What the cache has for a request on the wire.
    struct Found: Sendable {
        let key: CacheKey
        let entry: CacheEntry
    }

    /// The keys of a request on the wire.
    struct HTTPCall: Sendable {
        let key: CacheKey
        let hasher: KeyText.Hasher
        /// A keyed hash of whose answers these are.
        let owner: String?
        let url: URL
        let directives: CacheDirectives
        let wish: HTTPCacheRules.Wish
        let mark: CacheWriter.Mark
    }

    /// RFC 9111, on each request on the wire.
    func http(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        let isForCache = exchange.http.method == .get || exchange.http.method == .head
        guard let policy, isForCache else {
            // The timed policy, where there is one, would have thrown before.
            if mode.mustNotSend { throw miss(.off) }
            return exchange.http.method.isSafe ? try await next(exchange) : try await unsafe(policy)
        }
        let directives = CacheDirectives(request: exchange.http.headers)
        guard !directives.noStore, let hasher = await hasher() else {
            if mode.mustNotSend { throw miss(.off) }
            note(.forward(.bypass, detail: directives.noStore ? "no-store" : nil))
            return try await next(mode.applied(to: exchange))
        }
        let call = call(policy, directives, hasher)
        if case .put(let response) = mode {
            // What is kept is the response to the request, not to the one that a redirect leads to.
            if exchange.hop > 1 { throw miss(.off) }
            exchange.tags[CacheModeTag.self].report?.done()
            return await keep(response, call, sent: now)
        }
        let (found, why) = await look(call)
        guard let found else {
            if asksCacheOnly { throw miss(.notStored) }
            if directives.onlyIfCached { return gatewayTimeout }
            note(.forward(why))
            return try await fetch(call, .forward(why), nil)
        }
        return try await answer(found, call)
    }

    func call(
        _ policy: CachePolicy.HTTP, _ directives: CacheDirectives, _ hasher: KeyText.Hasher
    ) -> HTTPCall {
        let headers = exchange.http.headers
        var directives = directives
        var wish = HTTPCacheRules.Wish(staleIfError: policy.staleIfError?.wholeSeconds)
        switch mode {
        case .reload: wish.revalidates = true
        case .reloadFromOrigin: directives.noCache = true
        case .onlyEvenStale, .preferCache, .staleWhileRevalidate, .take: wish.takesStale = true
        case .staleIfError: wish.staleIfError = .max
        default: break
        }
        // What is said of the first URL says nothing of the one that a redirect leads to.
        let url = (exchange.hop == 1 ? exchange.tags[ResourceURL.self] : nil) ?? exchange.http.url
        return HTTPCall(
            key: KeyText.http(url, authorization: headers[.authorization], partition: policy.partition, hasher),
            hasher: hasher,
            owner: policy.partition.map { "partition " + hasher.hash($0) }
                ?? headers[.authorization].map { "authorization " + hasher.hash($0) },
            url: url, directives: directives, wish: wish, mark: cache.writer.mark())
    }

    /// What the stored response can do for the request.
    private func answer(_ found: Found, _ call: HTTPCall) async throws -> HTTPResponse {
        let head = found.entry.head
        let condition = HTTPConditions.answer(
            to: exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
        var plan = HTTPCacheRules.plan(
            head.fresh, received: head.received, request: call.directives, wish: call.wish, now: now)
        if condition == .forward { plan = .validate(.forward(.request)) }
        switch plan {
        case .serve(let status), .serveAndRevalidate(let status):
            guard let response = await serve(found.entry, condition, status) else { break }
            if case .take = mode { await take(found.key) }
            var refreshes = false
            if case .serveAndRevalidate = plan { refreshes = true }
            if case .staleWhileRevalidate = mode { refreshes = true }
            if refreshes { revalidate(found, call) }
            return response
        case .validate(let status):
            if asksCacheOnly { throw miss(.expired) }
            if call.directives.onlyIfCached { return gatewayTimeout }
            if status.forward == .stale, isShareable { return try await share(found, call, status) }
            note(status)
            return try await fetch(call, status, found)
        }
        // The body turned out damaged.
        await remove(found.key)
        if asksCacheOnly { throw miss(.unreadable) }
        return try await fetch(call, .forward(.miss, detail: "unreadable"), nil)
    }

    /// RFC 9111, section 5.2.1.7.
    private var gatewayTimeout: HTTPResponse {
        note(.forward(.request, detail: "only-if-cached"))
        return HTTPResponse(
            url: exchange.http.url, status: 504, source: ResponseSource("cache", reason: "only-if-cached"))
    }

    /// The stored response as the response to the request; nil if its body cannot be read.
    func serve(
        _ entry: CacheEntry, _ condition: HTTPConditions.Answer, _ status: CacheStatus, also: HTTPHeaders = [:]
    ) async -> HTTPResponse? {
        let head = entry.head
        guard let whole = exchange.http.method == .head ? .empty : try? await body(entry) else { return nil }
        let age = head.fresh.age(received: head.received, now: now) ?? 0
        let source = ResponseSource.cache(age: .seconds(age), reason: status.description)
        var response = head.response(whole, source: source)
        response.headers.set("Age", "\(age)")
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
                "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.body.length ?? 0)")
            response.headers.set(.contentLength, "\(range.count)")
        }
        note(status)
        return response
    }

    /// Asks the server, with the stored response's validators if the request has no conditions of its own.
    func fetch(_ call: HTTPCall, _ status: CacheStatus, _ found: Found?) async throws -> HTTPResponse {
        let own = exchange.http.headers
        let isOwn = HTTPConditions.names.contains { own.contains($0) } || own.contains("Range")
        var validating = exchange
        var validates = false
        var isForced = false
        if case .reloadFromOrigin = mode { isForced = true }
        if let found, !isOwn, !isForced, exchange.http.method == .get,
            let request = HTTPCacheHeaders.validating(exchange.http, found.entry.head.headers)
        {
            validating.http = request
            validates = true
        }
        let sent = now
        do {
            let response = try await next(mode.applied(to: validating))
            if let found, HTTPCacheRules.isServerFailure(response.status),
                let stale = await staleOnError(found, call, status: response.status)
            {
                response.body.cancel()
                return stale
            }
            return try await take(response, call, status, found, sent: sent, validates: validates, isOwn: isOwn)
        } catch {
            if let found, Self.isUnreachable(error), let stale = await staleOnError(found, call, status: nil) {
                return stale
            }
            throw error
        }
    }

    private func staleOnError(_ found: Found, _ call: HTTPCall, status: Int?) async -> HTTPResponse? {
        let head = found.entry.head
        guard
            var reason = HTTPCacheRules.staleOnError(
                head.fresh, received: head.received, request: call.directives, wish: call.wish, now: now)
        else { return nil }
        reason.forwardStatus = status
        let condition = HTTPConditions.answer(
            to: exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
        return condition == .forward ? nil : await serve(found.entry, condition, reason)
    }

    /// What the server's answer means for the stored response and for the caller.
    private func take(
        _ response: HTTPResponse, _ call: HTTPCall, _ status: CacheStatus, _ found: Found?, sent: Date,
        validates: Bool, isOwn: Bool
    ) async throws -> HTTPResponse {
        if exchange.http.method == .head {
            if response.status == 200 { await learn(from: response, found, call, sent: sent) }
            return response
        }
        if response.status == 304, let found {
            let confirms = HTTPCacheHeaders.confirms(response.headers, found.entry.head.headers)
            if isOwn {
                if confirms { await freshen(found, response, call, sent: sent) }
                return response
            }
            if validates {
                response.body.cancel()
                guard confirms else {
                    // It speaks of a response that is not here: ask without conditions.
                    let again = now
                    return await keep(try await next(mode.applied(to: exchange)), call, sent: again)
                }
                let entry = await freshen(found, response, call, sent: sent)
                var status = status
                (status.forwardStatus, status.isStored) = (304, true)
                let cookies = HTTPHeaders(response.headers.filter { $0.isSensitive })
                if let answer = await serve(entry, .whole, status, also: cookies) { return answer }
                await remove(found.key)
                let again = now
                return await keep(try await next(mode.applied(to: exchange)), call, sent: again)
            }
        }
        return await keep(response, call, sent: sent, old: found?.key)
    }

    /// Validates in the background, one at a time for a key.
    private func revalidate(_ found: Found, _ call: HTTPCall) {
        let place = CacheWriter.Place(store, found.key)
        guard cache.beginRevalidation(place) else { return }
        exchange.detach("revalidate \(exchange.activity.label)") { exchange in
            defer { cache.endRevalidation(place) }
            var exchange = exchange
            exchange.delivery = .data
            let stage = CacheStage(
                cache: cache, exchange: exchange, next: next, policy: policy, mode: .standard, request: request,
                store: store)
            // The entry anew: its body may have been a stream that the caller reads now.
            guard case .entry(let entry) = await stage.read(found.key) else { return }
            _ = try await stage.fetch(call, .forward(.stale), Found(key: found.key, entry: entry))
        }
    }
}
