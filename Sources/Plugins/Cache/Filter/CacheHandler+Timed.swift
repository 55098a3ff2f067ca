import Errand
import ErrandEssentials

extension CacheHandler {
    func respondTimed() async throws -> HTTPResponse {
        guard let timed = policy.timed else { return try await next(exchange) }
        guard let hasher = await openStore()?.hasher else { return try await bypass(.unreadable) }
        guard let lookup = TimedLookup(timed, for: self, hasher: hasher) else { return try await bypass(.off) }
        if case .store(let response) = mode {
            complete()
            return await keep(response, lookup)
        }
        if case .remove = mode { return try await removeForCaller(lookup) }
        var reason = CacheMiss.Reason.notStored
        if !mode.reloads {
            switch await usable(lookup) {
            case .success(let response): return response
            case .failure(let miss): reason = miss.reason
            }
            if mode.mustNotSend { throw miss(reason) }
        }

        note(
            .forward(reason == .notStored ? .uriMiss : reason == .expired ? .stale : .miss, detail: reason.description))
        let stagedWork = exchange.stagedWorkCount
        let (request, record) = exchange.recordingUsers()
        let response: HTTPResponse
        do { response = try await next(request) } catch {
            guard Self.allowsStale(after: error), let stale = await stale(lookup, "the request failed") else {
                throw error
            }
            await exchange.discardStagedWork(after: stagedWork)
            return stale
        }
        record.commit()
        if HTTPCacheRules.isServerFailure(response.status), let stale = await stale(lookup, "the server failed") {
            await exchange.discard(response)
            await exchange.discardStagedWork(after: stagedWork)
            return stale
        }

        guard let lookup = lookup.sent(for: record.marks) else {
            note(
                CacheStatus(
                    forwardStatus: response.status,
                    detail: "not stored: the request's user changed after the cache lookup"))
            return response
        }
        return await keep(response, lookup)
    }

    private func bypass(_ reason: CacheMiss.Reason) async throws -> HTTPResponse {
        if mode.mustNotSend { throw miss(reason) }
        note(.forward(.bypass, detail: reason.description))
        return try await next(exchange)
    }
}

// MARK: - Keys

/// The key and attributes of an entry. Computed before the request is sent, because the key and attributes may change
/// meanwhile.
private struct TimedLookup: Sendable {
    private(set) var key: CacheKey
    let url: String
    /// The lifetime in seconds.
    let lifetime: TimeInterval
    let attributes: TimedRules.Attributes
    let start: CacheWriter.Start
    private let users: Set<UserMark>
    private let hasPartition: Bool
    private let hasRange: Bool
    private let keyed: @Sendable (Set<UserMark>) -> CacheKey?

    /// Creates a lookup. Fails if the key depends on a body that isn't in memory.
    init?(_ timed: CachePolicy.Timed, for handler: CacheHandler, hasher: KeyedHasher) {
        let http = handler.exchange.http
        let url = CacheKeyBuilder.url(handler.exchange.tags[ResourceURL.self], of: http)
        let rule = handler.terms.request?.cacheKey ?? .standard
        let hasPartition = timed.partition != nil
        keyed = { users in
            CacheKeyBuilder.timed(http, url: url, rule: rule, hasPartition: hasPartition, users: users, hasher)
        }
        hasRange = http.headers.contains(.range) && rule.comparesHeader(.range)
        users = handler.exchange.userMarks
        guard let key = keyed(users) else { return nil }
        (self.key, self.url, self.hasPartition) = (key, url, hasPartition)
        (lifetime, start) = (timed.lifetime.interval, handler.cache.writer.start())
        attributes = TimedRules.Attributes(
            version: timed.version, partition: timed.partition.map(hasher.hash), appVersion: handler.cache.appVersion)
    }

    /// Whether the response depends on a part of the request that the key doesn't contain.
    func isIncomplete(for response: HTTPResponse) -> Bool {
        !HTTPCacheRules.isStorableTimed(response.status, keyHasRange: hasRange)
    }

    /// Returns the lookup for the users for whom the request was sent, or nil if the response must not be stored.
    ///
    /// - Parameter sent: The users for whom the request was sent. Nil if it wasn't sent.
    func sent(for sent: Set<UserMark>?) -> TimedLookup? {
        guard let sent, !sent.isStorable(for: users, hasPartition: hasPartition) else { return self }
        // A filter may have replaced each user's mark, for example by refreshing the credential.
        guard !hasPartition, sent.map(\.source).sorted() == users.map(\.source).sorted(), let key = keyed(sent)
        else { return nil }
        var lookup = self
        lookup.key = key
        return lookup
    }
}

// MARK: - Stored responses

extension CacheHandler {
    private func usable(_ lookup: TimedLookup) async -> Result<HTTPResponse, CacheMiss> {
        switch await read(lookup.key) {
        case .nothing: return .failure(CacheMiss(.notStored))
        case .unreadable: return .failure(CacheMiss(.unreadable))
        case .entry(let entry):
            if let reason = refusal(of: entry, lookup, takesExpired: mode.acceptsExpired) {
                return .failure(CacheMiss(reason))
            }
            guard let response = await serve(entry, lookup) else {
                await remove(lookup.key)
                return .failure(CacheMiss(.unreadable))
            }
            if mode.refreshes { refresh(lookup) }
            return .success(response)
        }
    }

    private func stale(_ lookup: TimedLookup, _ failure: String) async -> HTTPResponse? {
        guard case .staleIfError = mode, case .entry(let entry) = await read(lookup.key),
            refusal(of: entry, lookup, takesExpired: true) == nil
        else { return nil }
        return await serve(entry, lookup, after: failure)
    }

    private func refusal(of entry: CacheEntry, _ lookup: TimedLookup, takesExpired: Bool) -> CacheMiss.Reason? {
        TimedRules.refusal(
            of: entry.head.timed, received: entry.head.received, expected: lookup.attributes,
            lifetime: lookup.lifetime, takesExpired: takesExpired, now: now)
    }

    private func serve(
        _ entry: CacheEntry, _ lookup: TimedLookup, after failure: String? = nil
    ) async -> HTTPResponse? {
        guard let body = await body(entry) else { return nil }
        let head = entry.head
        let age = now.timeIntervalSince(head.received)
        let left = Int64(min((lookup.lifetime - age).rounded(.down), 1e15))
        var status = CacheStatus.hit(ttl: left, detail: failure ?? "timed")
        if failure != nil { (status.isHit, status.forward) = (false, .stale) }
        let source = ResponseSource.cache(age: .interval(age), reason: status.description)
        guard let response = head.response(to: exchange.http, head.headers, body, source: source) else { return nil }
        note(status)
        exchange.reportUsers()
        return response
    }

    private func refresh(_ lookup: TimedLookup) {
        inBackground("refresh", for: lookup.key, mode: .reload) { handler in
            var exchange = handler.exchange
            exchange.tags[CacheMode.self] = .reload
            let (recorded, record) = exchange.recordingUsers()
            let response = try await handler.next(recorded)
            try await exchange.judge(response)
            guard let lookup = lookup.sent(for: record.marks), let entry = handler.entry(response, lookup) else {
                return
            }
            handler.write(entry, for: lookup.key, since: lookup.start)
        }
    }

    private func keep(_ response: HTTPResponse, _ lookup: TimedLookup) async -> HTTPResponse {
        if lookup.isIncomplete(for: response) {
            note(CacheStatus(forwardStatus: response.status, detail: "not stored: status \(response.status)"))
            return response
        }
        guard let entry = entry(response, lookup) else { return response }
        if response.body.data == nil {
            let tee = TeeBody(response.body)
            exchange.whenAccepted {
                tee.accept()
            } otherwise: {
                tee.refuse()
            }
            return writeStream(tee, of: response, entry.head, under: lookup.key, since: lookup.start)
        }
        exchange.whenAccepted { [self] in
            write(entry, for: lookup.key, since: lookup.start)
            if policy.waitsForWrite { await cache.flush() }
        }
        return response
    }

    private func entry(_ response: HTTPResponse, _ lookup: TimedLookup) -> CacheEntry? {
        if lookup.isIncomplete(for: response) { return nil }
        var received = now
        if response.source.isCache, let age = response.source.age {
            // The response is as old as the HTTP cache reports.
            received -= age.interval
            if age.interval > lookup.lifetime { return nil }
        }
        var head = CacheEntryHead(
            .timed, url: lookup.url, response: response, headers: HTTPCacheHeaders.storable(response.headers),
            received: received, expires: received + lookup.lifetime, tags: tags,
            partition: lookup.attributes.partition)
        head.timed = lookup.attributes
        return CacheEntry(head: head, body: response.body)
    }

    /// Removes an entry for `removeCached`. If the policy has both a timed and an HTTP part, `next` removes the HTTP
    /// entry.
    private func removeForCaller(_ lookup: TimedLookup) async throws -> HTTPResponse {
        var found = await usable(lookup)
        if case .failure = found {
            cache.writer.removeUnwritten(
                .selection { key, head in key == lookup.key && head.timed == lookup.attributes }, in: store)
            found = await usable(lookup)
        }
        if case .success = found { complete(await remove(lookup.key)) }
        guard policy.http != nil else {
            do { return try found.get() } catch { throw miss(error.reason) }
        }
        do { return try await next(exchange) } catch let error {
            if case .success(let response) = found, error is CacheMiss { return response }
            throw error
        }
    }
}
