import Errand
import ErrandEssentials

extension CacheHandler {
    /// Applies the app's own policy, once for each call.
    func timed(_ timed: CachePolicy.Timed) async throws -> HTTPResponse {
        guard let hasher = await openStore()?.hasher else { return try await bypass(.unreadable) }
        let url = CacheKeyBuilder.url(exchange.tags[ResourceURL.self], of: exchange.http)
        let users = exchange.userMarks
        let rule = terms.request?.cacheKey ?? .standard
        let http = exchange.http
        let keyed = { @Sendable (users: Set<UserMark>) in
            CacheKeyBuilder.timed(
                http, url: url, rule: rule, hasPartition: timed.partition != nil, users: users, hasher)
        }
        guard let key = keyed(users) else { return try await bypass(.off) }
        // The attributes are determined before the request is sent, since they may change meanwhile.
        let lookup = TimedLookup(
            key: key, url: url, lifetime: timed.lifetime.interval,
            attributes: TimedRules.Attributes(
                version: timed.version, partition: timed.partition.map(hasher.hash), appVersion: cache.appVersion),
            mark: cache.writer.mark(), users: users, hasPartition: timed.partition != nil,
            keyed: keyed)
        if case .store(let response) = mode {
            exchange.tags[CacheMode.self].report?.complete()
            return await keep(response, lookup)
        }
        if case .remove = mode { return try await removeForCaller(lookup) }
        var reason = CacheMiss.Reason.notStored
        switch mode {
        case .reload, .reloadFromOrigin: break
        default:
            switch await usable(lookup) {
            case .success(let response): return response
            case .failure(let miss): reason = miss.reason
            }
            if isCacheOnly { throw miss(reason) }
        }
        note(
            .forward(reason == .notStored ? .uriMiss : reason == .expired ? .stale : .miss, detail: reason.description))
        let stagedWork = exchange.stagedWorkCount
        do {
            let (recorded, record) = exchange.recordingUsers()
            let response = try await next(recorded)
            record.commit()
            if case .staleIfError = mode, HTTPCacheRules.isServerFailure(response.status),
                let stale = await stale(lookup, "the server failed")
            {
                await exchange.discard(response)
                await exchange.discardStagedWork(after: stagedWork)
                return stale
            }
            guard let lookup = lookup.sent(for: record.marks) else {
                note(CacheStatus(forwardStatus: response.status, detail: "not stored: sent for other users"))
                return response
            }
            return await keep(response, lookup)
        } catch {
            if case .staleIfError = mode, Self.allowsStale(after: error),
                let stale = await stale(lookup, "the request failed")
            {
                await exchange.discardStagedWork(after: stagedWork)
                return stale
            }
            throw error
        }
    }

    struct TimedLookup: Sendable {
        var key: CacheKey
        let url: String
        /// In seconds.
        let lifetime: TimeInterval
        let attributes: TimedRules.Attributes
        let mark: CacheWriter.Mark
        /// The users to whom the call belongs.
        let users: Set<UserMark>
        let hasPartition: Bool
        /// The key of the same request of other users.
        let keyed: @Sendable (Set<UserMark>) -> CacheKey?

        /// The lookup under which to store the response that was sent for these users, nil if none was sent; nil if it
        /// must not be stored.
        func sent(for sent: Set<UserMark>?) -> TimedLookup? {
            guard let sent, sent != users else { return self }
            if sent.isStorable(for: users, hasPartition: hasPartition) { return self }
            // For example the credential of the same source after a refresh.
            guard !hasPartition, sent.map(\.source).sorted() == users.map(\.source).sorted(), let key = keyed(sent)
            else { return nil }
            var lookup = self
            lookup.key = key
            return lookup
        }
    }

    private func bypass(_ reason: CacheMiss.Reason) async throws -> HTTPResponse {
        if isCacheOnly { throw miss(reason) }
        if case .store = mode { throw miss(reason) }
        note(.forward(.bypass, detail: reason.description))
        return try await next(exchange)
    }

    /// The stored response, if it is valid or the mode accepts it.
    func usable(_ lookup: TimedLookup) async -> Result<HTTPResponse, CacheMiss> {
        let takesExpired: Bool
        switch mode {
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate, .remove: takesExpired = true
        default: takesExpired = false
        }
        switch await read(lookup.key) {
        case .nothing: return .failure(CacheMiss(.notStored))
        case .unreadable: return .failure(CacheMiss(.unreadable))
        case .entry(let entry):
            let head = entry.head
            if let reason = TimedRules.refusal(
                of: head.timed, received: head.received, expected: lookup.attributes, lifetime: lookup.lifetime,
                takesExpired: takesExpired, now: now)
            {
                return .failure(CacheMiss(reason))
            }
            guard let body = await body(entry), let response = respond(head, body, lookup, nil) else {
                await remove(lookup.key)
                return .failure(CacheMiss(.unreadable))
            }
            if case .staleWhileRevalidate = mode { refresh(lookup) }
            return .success(response)
        }
    }

    /// The stored response; nil if it is damaged.
    private func respond(
        _ head: CacheEntryHead, _ body: HTTPBody, _ lookup: TimedLookup, _ detail: String?
    ) -> HTTPResponse? {
        let age = now.timeIntervalSince(head.received)
        let left = Int64(min((lookup.lifetime - age).rounded(.down), 1e15))
        var status = CacheStatus.hit(ttl: left, detail: detail ?? "timed")
        if detail != nil { (status.isHit, status.forward) = (false, .stale) }
        let source = ResponseSource.cache(age: .interval(age), reason: status.description)
        guard let response = head.response(to: exchange.http, head.headers, body, source: source) else { return nil }
        note(status)
        exchange.reportUsers()
        return response
    }

    private func stale(_ lookup: TimedLookup, _ reason: String) async -> HTTPResponse? {
        guard case .entry(let entry) = await read(lookup.key),
            TimedRules.refusal(
                of: entry.head.timed, received: entry.head.received, expected: lookup.attributes,
                lifetime: lookup.lifetime,
                takesExpired: true, now: now) == nil,
            let body = await body(entry)
        else { return nil }
        return respond(entry.head, body, lookup, reason)
    }

    /// Fetches a response in the background; it is stored if it is accepted.
    private func refresh(_ lookup: TimedLookup) {
        inBackground("refresh", lookup.key, .reload) { handler in
            var exchange = handler.exchange
            exchange.tags[CacheMode.self] = .reload
            let (recorded, record) = exchange.recordingUsers()
            let response = try await handler.next(recorded)
            try await exchange.judge(response)
            guard let lookup = lookup.sent(for: record.marks), let entry = handler.entry(response, lookup) else {
                return
            }
            handler.write(entry, lookup.key, lookup.mark)
        }
    }

    /// Stores the response when it is accepted.
    private func keep(_ response: HTTPResponse, _ lookup: TimedLookup) async -> HTTPResponse {
        guard let entry = entry(response, lookup) else { return response }
        if response.body.data == nil {
            var response = response
            let tee = TeeBody(response.body)
            exchange.whenAccepted {
                tee.accept()
            } otherwise: {
                tee.refuse()
            }
            writeStream(tee, entry.head, lookup.key, lookup.mark)
            response.body = HTTPBody(length: response.body.length, source: tee)
            return response
        }
        exchange.whenAccepted { [self] in
            write(entry, lookup.key, lookup.mark)
            if policy.waitsForWrite { await cache.flush() }
        }
        return response
    }

    private func entry(_ response: HTTPResponse, _ lookup: TimedLookup) -> CacheEntry? {
        var received = now
        if response.source.isCache, let age = response.source.age {
            // The response is from an HTTP cache further along the way, and as old as it says.
            received -= age.interval
            if age.interval > lookup.lifetime { return nil }
        }
        var head = CacheEntryHead(
            .timed, url: lookup.url, response: response,
            headers: HTTPCacheHeaders.storable(response.headers),
            received: received, expires: received + lookup.lifetime, tags: terms.request?.cacheTags ?? [],
            partition: lookup.attributes.partition)
        head.timed = lookup.attributes
        return CacheEntry(head: head, body: response.body)
    }
}
