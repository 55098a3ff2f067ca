import Errand

import ErrandEssentials

extension CacheStage {
    /// The app's own policy, once a call.
    func timed(_ timed: CachePolicy.Timed) async throws -> HTTPResponse {
        guard let hasher = await hasher() else { return try await without(.unreadable) }
        let url = exchange.tags[ResourceURL.self] ?? exchange.http.url
        guard
            let key = KeyText.timed(
                exchange.http, url: url, rule: request?.cacheKey ?? .standard, hasPartition: timed.partition != nil,
                hasher)
        else { return try await without(.off) }
        // All that is stored beside the answer is settled before anything is sent.
        let call = TimedCall(
            key: key, url: KeyText.url(url), lifetime: timed.lifetime,
            facts: TimedRules.Facts(
                version: timed.version, partition: timed.partition.map(hasher.hash), appVersion: cache.appVersion),
            mark: cache.writer.mark())
        if case .put(let response) = mode {
            exchange.tags[CacheModeTag.self].report?.done()
            return await keep(response, call)
        }
        var reason = CacheMiss.Reason.notStored
        switch mode {
        case .reload, .reloadFromOrigin: break
        default:
            switch await usable(call) {
            case .success(let response): return response
            case .failure(let miss): reason = miss.reason
            }
            if asksCacheOnly { throw miss(reason) }
        }
        note(
            .forward(reason == .notStored ? .uriMiss : reason == .expired ? .stale : .miss, detail: reason.description))
        do {
            let response = try await next(exchange)
            if case .staleIfError = mode, HTTPCacheRules.isServerFailure(response.status),
                let stale = await stale(call, "the server failed")
            {
                response.body.cancel()
                return stale
            }
            return await keep(response, call)
        } catch {
            if case .staleIfError = mode, Self.isUnreachable(error),
                let stale = await stale(call, "the server could not be reached")
            {
                return stale
            }
            throw error
        }
    }

    struct TimedCall: Sendable {
        let key: CacheKey
        let url: String
        let lifetime: Duration
        let facts: TimedRules.Facts
        let mark: CacheWriter.Mark
    }

    private func without(_ reason: CacheMiss.Reason) async throws -> HTTPResponse {
        if asksCacheOnly { throw miss(reason) }
        if case .put = mode { throw miss(reason) }
        note(.forward(.bypass, detail: reason.description))
        return try await next(exchange)
    }

    /// The stored answer, if the mode takes it.
    private func usable(_ call: TimedCall) async -> Result<HTTPResponse, CacheMiss> {
        let takesExpired: Bool
        switch mode {
        case .onlyEvenStale, .preferCache, .staleWhileRevalidate, .take: takesExpired = true
        default: takesExpired = false
        }
        switch await read(call.key) {
        case .nothing: return .failure(CacheMiss(.notStored))
        case .unreadable: return .failure(CacheMiss(.unreadable))
        case .entry(let entry):
            let head = entry.head
            if let reason = TimedRules.refusal(
                of: head.timed, received: head.received, wanted: call.facts, lifetime: call.lifetime,
                takesExpired: takesExpired, now: now)
            {
                return .failure(CacheMiss(reason))
            }
            guard let body = try? await body(entry) else {
                await remove(call.key)
                return .failure(CacheMiss(.unreadable))
            }
            if case .take = mode { await take(call.key) }
            if case .staleWhileRevalidate = mode { refresh(call) }
            return .success(answer(head, body, call, nil))
        }
    }

    private func answer(
        _ head: CacheEntryHead, _ body: HTTPBody, _ call: TimedCall, _ detail: String?
    ) -> HTTPResponse {
        let age = now.timeIntervalSince(head.received)
        let left = Int64((call.lifetime.interval - age).rounded(.down))
        var status = CacheStatus.hit(ttl: left, detail: detail ?? "timed")
        if detail != nil { (status.isHit, status.forward) = (false, .stale) }
        note(status)
        return head.response(body, source: .cache(age: .interval(age), reason: status.description))
    }

    private func stale(_ call: TimedCall, _ why: String) async -> HTTPResponse? {
        guard case .entry(let entry) = await read(call.key),
            TimedRules.refusal(
                of: entry.head.timed, received: entry.head.received, wanted: call.facts, lifetime: call.lifetime,
                takesExpired: true, now: now) == nil,
            let body = try? await body(entry)
        else { return nil }
        return answer(entry.head, body, call, why)
    }

    /// Fetches the answer for the next time; only one that is accepted is kept.
    private func refresh(_ call: TimedCall) {
        let place = CacheWriter.Place(store, call.key)
        guard cache.beginRevalidation(place) else { return }
        exchange.detach("refresh \(exchange.activity.label)") { exchange in
            defer { cache.endRevalidation(place) }
            var exchange = exchange
            exchange.delivery = .data
            exchange.tags[CacheModeTag.self] = .reload
            let stage = CacheStage(
                cache: cache, exchange: exchange, next: next, policy: policy, mode: .reload, request: request,
                store: store)
            let response = try await next(exchange)
            try await exchange.judge(response)
            if let entry = stage.entry(response, call) { stage.write(entry, call.key, call.mark) }
        }
    }

    /// Has the answer kept if it is accepted.
    private func keep(_ response: HTTPResponse, _ call: TimedCall) async -> HTTPResponse {
        guard let entry = entry(response, call) else { return response }
        if response.body.data == nil {
            var response = response
            let tee = TeeBody(response.body)
            exchange.whenAccepted {
                tee.accept()
            } otherwise: {
                tee.refuse()
            }
            writeStream(tee, entry.head, call.key, call.mark)
            response.body = HTTPBody(length: response.body.length, source: tee)
            return response
        }
        exchange.whenAccepted {
            write(entry, call.key, call.mark)
            if policy.waitsForWrite { await cache.flush() }
        }
        return response
    }

    private func entry(_ response: HTTPResponse, _ call: TimedCall) -> CacheEntry? {
        var received = now
        if response.source.isCache, let age = response.source.age {
            // An HTTP cache below answered: it is as old as it says.
            received -= age.interval
            if age > call.lifetime { return nil }
        }
        var head = CacheEntryHead(
            .timed, url: call.url, response: response, headers: HTTPCacheHeaders.storable(response.headers),
            received: received, expires: received + call.lifetime.interval, tags: request?.cacheTags ?? [],
            partition: call.facts.partition)
        head.timed = call.facts
        return CacheEntry(head: head, body: response.body)
    }
}
