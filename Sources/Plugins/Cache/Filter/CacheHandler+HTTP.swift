import Errand
import ErrandEssentials

extension CacheHandler {
    func respond(storing isStorable: Bool) async throws -> HTTPResponse {
        if !exchange.http.method.isSafe { return try await sendUnsafe(isStorable ? policy.http : nil) }

        // After the first request, the store is already open.
        var beginning = try begin(storing: isStorable, nil)
        if case .closed = beginning { beginning = try begin(storing: isStorable, await openStore()) }
        guard case .lookup(let lookup) = beginning else {
            if case .closed = beginning { try bypass(nil) }
            return try await next(mode.applied(to: exchange))
        }
        if case .store(let response) = mode { return try await storeForCaller(response, lookup) }
        if case .remove = mode { return try await removeForCaller(lookup) }
        let candidate: SearchResult
        if let found = searchAtOnce(lookup) { candidate = found } else { candidate = await search(lookup) }
        if let found = candidate.found { return try await respond(from: found, lookup) }
        if try mustNotSend(lookup, .notStored) { return gatewayTimeout }
        note(decision(candidate, condition: .whole, for: lookup).status)
        return try await forward(lookup)
    }

    /// Sends the request and returns its response. A separate function, because the other cases' variables would
    /// enlarge the async frame of every miss.
    private func forward(_ lookup: HTTPLookup) async throws -> HTTPResponse {
        let sent = now
        let (request, record) = mode.applied(to: exchange).recordingUsers()
        let response = try await next(request)
        record.commit()
        if !isForUsers(of: lookup, record, response) { return response }
        if lookup.isHead {
            if response.status == 200 { await applyHead(response, lookup, sent: sent) }
            return response
        }
        return isRefused(response, lookup) ? response : await storeResponse(response, lookup, sent: sent)
    }

    private func respond(from stored: StoredResponse, _ lookup: HTTPLookup) async throws -> HTTPResponse {
        let condition = condition(stored, lookup)
        let decision = decision(.found(stored), condition: condition, for: lookup)
        if decision.usesStored {
            if let response = await serve(stored.entry, as: condition, status: decision.status) {
                if decision.revalidates || mode.refreshes { revalidateInBackground(stored, lookup) }
                return response
            }
            await remove(stored.key)
            if mode.mustNotSend { throw miss(.unreadable) }
            if lookup.directives.onlyIfCached { return gatewayTimeout }
            note(.forward(.miss, detail: "unreadable"))
            return try await forward(lookup)
        }
        if try mustNotSend(lookup, .expired) { return gatewayTimeout }
        let status = decision.status
        if status.forward == .stale, isShareable(lookup) { return try await share(stored, for: lookup, status: status) }
        note(status)
        return try await validate(stored, for: lookup, status: status)
    }

    private func mustNotSend(_ lookup: HTTPLookup, _ reason: CacheMiss.Reason) throws -> Bool {
        if mode.mustNotSend { throw miss(reason) }
        return lookup.directives.onlyIfCached
    }

    private func isForUsers(of lookup: HTTPLookup, _ record: UserRecord, _ response: HTTPResponse) -> Bool {
        if lookup.mayKeep(record.marks) { return true }
        note(
            CacheStatus(
                forwardStatus: response.status,
                detail: "not stored: the request's user changed after the cache lookup"))
        return false
    }

    /// Adds the stored response's validators, unless the request has its own conditions.
    ///
    /// - Parameter status: Why the request is sent.
    func validate(
        _ found: StoredResponse, for lookup: HTTPLookup, status: CacheStatus
    ) async throws -> HTTPResponse {
        let stagedWork = exchange.stagedWorkCount
        do {
            let conditional = validating(found, lookup)
            let sent = now
            let (request, record) = mode.applied(to: conditional ?? exchange).recordingUsers()
            let response = try await next(request)
            record.commit()
            if HTTPCacheRules.isServerFailure(response.status) {
                leader?.record(.failed(status: response.status))
                if let stale = await stale(
                    found, for: lookup, forwardStatus: response.status, stagedWork: stagedWork)
                {
                    await exchange.discard(response)
                    return stale
                }
            }

            // Later filters sent the request for other users than the stored response's.
            guard isForUsers(of: lookup, record, response) else {
                if response.status != 304 || conditional == nil { return response }
                await exchange.discard(response)
                await exchange.discardStagedWork(after: stagedWork)
                return try await forward(lookup)
            }
            if lookup.isHead {
                if response.status == 200 { await applyHead(response, lookup, sent: sent) }
                return response
            }

            if response.status == 304, conditional != nil || lookup.hasConditions {
                let confirms = HTTPCacheHeaders.confirms(
                    response.headers, found.entry.head.headers, condition: request.http.headers)
                let confirmed = confirms ? await freshen(found, with: response, for: lookup, sent: sent) : nil
                if lookup.hasConditions { return response }
                await exchange.discard(response)
                if let confirmed,
                    let stored = await serveConfirmed(confirmed, for: found.key, status: status, by: response)
                {
                    return stored
                }
                // The 304 confirms another response, or the stored response is damaged.
                await exchange.discardStagedWork(after: stagedWork)
                return try await forward(lookup)
            }

            return await keep(response, lookup, sent: sent, old: found.key)
        } catch {
            guard Self.allowsStale(after: error) else { throw error }
            leader?.record(.failed(status: nil))
            guard let stale = await stale(found, for: lookup, forwardStatus: nil, stagedWork: stagedWork) else {
                throw error
            }
            return stale
        }
    }

    /// Sends a request whose method isn't safe, and removes the stored responses that it invalidates (RFC 9111, section
    /// 4.4).
    private func sendUnsafe(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        // This mode forbids sending. If the request had a timed policy, the mode would already have failed the call.
        if mode.mustNotSend { throw miss(.off) }
        let sent = now
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        await invalidate(by: response)
        guard let policy, HTTPCacheRules.isStorableForGet(response, to: exchange.http), let store = await openStore()
        else {
            return response
        }
        var asGet = exchange
        asGet.http.method = .get
        let handler = handling(asGet, mode)
        let lookup = handler.lookup(policy, directives: CacheDirectives(request: asGet.http.headers), store: store)
        return lookup.mayKeep(record.marks) ? await handler.keep(response, lookup, sent: sent) : response
    }
}

// MARK: - Strategy

extension CacheHandler {
    private enum Beginning {
        case lookup(HTTPLookup)
        case bypass
        case closed
    }

    private func begin(storing isStorable: Bool, _ opened: OpenStore?) throws -> Beginning {
        let http = exchange.http
        guard isStorable, let policy = policy.http, http.method == .get || http.method == .head else {
            if mode.mustNotSend { throw miss(.off) }
            return .bypass
        }
        let directives = CacheDirectives(request: http.headers)
        // A request with a body isn't looked up, because the key doesn't contain the body.
        if http.body.length != 0 {
            try bypass("the request has a body")
            return .bypass
        }
        if directives.noStore {
            try bypass("no-store")
            return .bypass
        }
        guard let store = opened ?? cache.stores.known(store) else { return .closed }
        return .lookup(lookup(policy, directives: directives, store: store))
    }

    private func bypass(_ detail: String?) throws {
        if mode.mustNotSend { throw miss(.off) }
        note(.forward(.bypass, detail: detail))
    }

    /// Isn't inlined, because its values would double the async frames of its callers.
    @inline(never) private func decision(
        _ candidate: SearchResult, condition: HTTPConditions.Outcome, for lookup: HTTPLookup
    ) -> HTTPCacheRules.Decision {
        switch candidate {
        case .nothing(let reason): return .validate(.forward(reason))
        case .found(let found):
            if condition == .forward { return .validate(.forward(.request)) }
            if asksAgain(instead: found, lookup) { return .validate(.forward(.request, detail: "another attempt")) }
            return decision(found, lookup)
        }
    }

    @inline(never) private func decision(_ found: StoredResponse, _ lookup: HTTPLookup) -> HTTPCacheRules.Decision {
        let head = found.entry.head
        return HTTPCacheRules.decide(
            head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences, now: now)
    }

    /// A filter that begins another attempt has refused the response of an earlier attempt, which may be the stored
    /// one. A redirect wasn't refused, because it isn't the response of an attempt.
    private func asksAgain(instead found: StoredResponse, _ lookup: HTTPLookup) -> Bool {
        if exchange.attempt == 1 || mode.mustNotSend || lookup.directives.onlyIfCached { return false }
        let status = found.entry.head.status
        return status >= 400 || status < 300 && !lookup.preferences.acceptsStale
    }

    private func condition(_ found: StoredResponse, _ lookup: HTTPLookup) -> HTTPConditions.Outcome {
        guard lookup.hasConditions else { return .whole }
        let head = found.entry.head
        return HTTPConditions.evaluate(
            exchange.http, status: head.status, headers: head.headers, length: found.entry.body.length ?? 0,
            received: head.received)
    }

    private var gatewayTimeout: HTTPResponse {
        note(.forward(.request, detail: "only-if-cached"))
        return HTTPResponse(
            to: exchange.http, status: 504, source: ResponseSource("cache", reason: "only-if-cached"))
    }

    private func validating(_ found: StoredResponse, _ lookup: HTTPLookup) -> Exchange? {
        guard !lookup.hasConditions, !lookup.isHead, mode.usesValidators,
            let request = HTTPCacheHeaders.validating(exchange.http, found.entry.head.headers)
        else { return nil }
        var exchange = exchange
        exchange.http = request
        return exchange
    }
}

// MARK: - Stored responses

extension CacheHandler {
    func serve(
        _ entry: CacheEntry, as condition: HTTPConditions.Outcome, status: CacheStatus, also: HTTPHeaders = [:]
    ) async -> HTTPResponse? {
        let isKnown = entry.body.data != nil
        guard let whole = exchange.http.method == .head ? .empty : isKnown ? entry.body : await body(entry) else {
            return nil
        }
        let head = entry.head
        let age = head.fresh.age(received: head.received, now: now) ?? 0
        var headers = head.headers
        headers.set(.age, String(age))
        headers.merge(also)
        if condition == .notModified { headers.remove(.contentLength) }
        if case .part(let range) = condition {
            headers.set(.contentRange, "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.body.length ?? 0)")
            headers.set(.contentLength, "\(range.count)")
        }
        let source = ResponseSource.cache(age: .seconds(age), reason: status.description)
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

    private func serveConfirmed(
        _ confirmed: CacheEntry, for key: CacheKey, status: CacheStatus, by response: HTTPResponse
    ) async -> HTTPResponse? {
        var status = status
        (status.forwardStatus, status.isStored) = (304, true)
        let cookies = HTTPHeaders(response.headers.filter { $0.isSensitive })
        if let stored = await serve(confirmed, as: .whole, status: status, also: cookies) { return stored }
        await remove(key)
        return nil
    }

    // Kept out of line, because inlining would enlarge the async frame of a validation.

    @inline(never) func stale(
        _ found: StoredResponse, for lookup: HTTPLookup, forwardStatus: Int?, stagedWork: Int,
        isCollapsed: Bool = false
    ) async -> HTTPResponse? {
        let head = found.entry.head
        let allowed = HTTPCacheRules.staleOnError(
            head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences, now: now)
        guard var status = allowed ?? fresh(found, lookup) else { return nil }
        (status.forwardStatus, status.isCollapsed) = (forwardStatus, isCollapsed)
        let condition = condition(found, lookup)
        guard condition != .forward, let response = await serve(found.entry, as: condition, status: status) else {
            return nil
        }
        await exchange.discardStagedWork(after: stagedWork)
        return response
    }

    /// Returns the status of a response that was validated only because of another attempt, and may be served
    /// otherwise.
    private func fresh(_ found: StoredResponse, _ lookup: HTTPLookup) -> CacheStatus? {
        guard exchange.attempt > 1, found.entry.head.status < 400 else { return nil }
        let decision = decision(found, lookup)
        return decision.usesStored ? decision.status : nil
    }

    static func allowsStale(after error: any Error) -> Bool { (error as? any RequestFailure)?.isRetryable ?? false }

    private func revalidateInBackground(_ found: StoredResponse, _ lookup: HTTPLookup) {
        inBackground("revalidate", for: found.key, mode: .standard) { handler in
            // The caller may be reading the streamed body of the first entry.
            guard case .entry(let entry) = await handler.read(found.key) else { return }
            _ = try await handler.validate(
                StoredResponse(key: found.key, entry: entry), for: lookup, status: .forward(.stale))
        }
    }
}
