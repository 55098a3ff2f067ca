import Errand

import ErrandEssentials

/// How the responses for one URL lie in a store: under its key the response itself or, if `Vary` tells several apart, an
/// index of the header names that do; under each variant's key a response. Responses that belong to somebody lie under
/// keys of their own, and count only while the record of the URL has the serial number that they were stored with: so an
/// unsafe request that removes the record makes all of them invalid, however many there are. The serial number of an
/// index does the same for its variants. No date decides what counts.
extension CacheStage {
    /// The stored response that matches the request; of several, the one whose header names were stored last.
    func look(_ call: HTTPCall) async -> (Found?, CacheStatus.Forward) {
        var serial: UInt64 = 0
        if call.owner != nil {
            guard case .entry(let record) = await read(Self.record(of: call.url)) else { return (nil, .uriMiss) }
            serial = record.head.serial
        }
        guard case .entry(let entry) = await read(call.key), entry.head.generation == serial else {
            return (nil, .uriMiss)
        }
        if entry.head.kind == .http { return (Found(key: call.key, entry: entry), .stale) }
        guard entry.head.kind == .index else { return (nil, .uriMiss) }
        for names in entry.head.variants {
            let key = KeyText.variant(of: call.key, names: names, headers: exchange.http.headers, call.hasher)
            // One of another generation was invalidated with the index before this one.
            guard case .entry(let variant) = await read(key), variant.head.kind == .http,
                variant.head.generation == entry.head.serial
            else { continue }
            return (Found(key: key, entry: variant), .stale)
        }
        return (nil, .varyMiss)
    }

    /// Keeps a server's response if the rules let it; `old` is what it takes the place of.
    func keep(_ response: HTTPResponse, _ call: HTTPCall, sent: Date, old: CacheKey? = nil) async -> HTTPResponse {
        if let refusal = HTTPCacheRules.refusal(of: response, to: exchange.http) {
            note(CacheStatus(forwardStatus: response.status, detail: "not stored: \(refusal)"))
            // What was validated and came back as something else holds no longer.
            if let old, (200...299).contains(response.status), response.status != 206 { await remove(old) }
            return response
        }
        let received = now
        let fresh = HTTPFreshness(status: response.status, headers: response.headers, sent: sent, received: received)
        let head = head(response, HTTPCacheHeaders.storable(response.headers), fresh, received, call)
        let vary = VaryRule(response.headers)
        let (key, placed) = await place(head, vary, call)
        if response.body.data == nil {
            var response = response
            let tee = TeeBody(response.body, isAccepted: true)
            writeStream(tee, placed, key, call.mark)
            response.body = HTTPBody(length: response.body.length, source: tee)
            return response
        }
        let entry = CacheEntry(head: placed, body: response.body)
        write(entry, key, call.mark)
        leader?.learn(.replaced(entry, key, vary: vary.names))
        if policy.waitsForWrite { await cache.flush() }
        return response
    }

    private func head(
        _ response: HTTPResponse, _ headers: HTTPHeaders, _ fresh: HTTPFreshness, _ received: Date, _ call: HTTPCall
    ) -> CacheEntryHead {
        var head = CacheEntryHead(
            .http, url: KeyText.url(call.url), response: response, headers: headers, received: received,
            expires: received + Double(fresh.lifetime - fresh.initialAge), tags: request?.cacheTags ?? [],
            partition: policy.http?.partition.map(call.hasher.hash))
        head.fresh = fresh
        return head
    }

    /// The key for a response, with the indexes that lead to it, and the head with the generation that it belongs to.
    private func place(
        _ head: CacheEntryHead, _ vary: VaryRule, _ call: HTTPCall
    ) async -> (CacheKey, CacheEntryHead) {
        if call.owner == nil && vary.names.isEmpty { return (call.key, head) }
        let record = Self.record(of: call.url)
        // Many at once must not each begin a generation.
        return await cache.places.run(CacheWriter.Place(store, record)) {
            var head = head
            if call.owner != nil { head.generation = await serial(record, head, call) }
            if vary.names.isEmpty { return (call.key, head) }
            let key = KeyText.variant(of: call.key, names: vary.names, headers: exchange.http.headers, call.hasher)
            head.generation = await index(vary.names, head, call)
            return (key, head)
        }
    }

    /// The serial number of the record of a URL, which is made if there is none.
    private func serial(_ key: CacheKey, _ head: CacheEntryHead, _ call: HTTPCall) async -> UInt64 {
        if case .entry(let old) = await read(key), old.head.kind == .index { return old.head.serial }
        var record = head
        (record.kind, record.variants, record.headers) = (.index, [], [:])
        (record.partition, record.tags, record.expires) = (nil, [], .distantFuture)
        (record.serial, record.generation) = (.random(in: 1 ... .max), 0)
        write(CacheEntry(head: record, body: .empty), key, call.mark)
        return record.serial
    }

    /// Puts header names first in the index of a URL, and returns its serial number.
    private func index(_ names: [String], _ head: CacheEntryHead, _ call: HTTPCall) async -> UInt64 {
        var index = head
        (index.kind, index.variants, index.headers) = (.index, [names], [:])
        index.serial = .random(in: 1 ... .max)
        if case .entry(let old) = await read(call.key), old.head.kind == .index,
            old.head.generation == index.generation
        {
            index.serial = old.head.serial
            index.variants += old.head.variants.filter { $0 != names }.prefix(7)
            index.expires = max(index.expires, old.head.expires)
            if index.variants == old.head.variants && index.expires == old.head.expires { return index.serial }
        }
        write(CacheEntry(head: index, body: .empty), call.key, call.mark)
        return index.serial
    }

    /// The key of the record of a URL.
    private static func record(of url: URL) -> CacheKey { CacheKey("record\nGET \(KeyText.url(url))") }

    /// The key of what belongs to nobody.
    private static func plain(_ url: URL) -> CacheKey {
        KeyText.http(url, authorization: nil, partition: nil, KeyText.Hasher(secret: []))
    }

    /// Gives the stored response the fields of a 304 and writes its head again (RFC 9111, section 4.3.4).
    @discardableResult
    func freshen(_ found: Found, _ response: HTTPResponse, _ call: HTTPCall, sent: Date) async -> CacheEntry {
        let old = found.entry
        let received = now
        let merged = HTTPCacheHeaders.merged(old.head.headers, with: response.headers)
        var full = old.head.response(old.body, source: .network)
        full.headers = merged
        let fresh = HTTPFreshness(status: full.status, headers: merged, sent: sent, received: received)
        var head = head(full, HTTPCacheHeaders.storable(merged), fresh, received, call)
        head.version = old.head.version
        head.generation = old.head.generation
        if CacheDirectives(response.headers).noStore {
            await remove(found.key)
        } else {
            update(head, of: old, found.key, call.mark)
            leader?.learn(.validated(head, old: old.head))
        }
        return CacheEntry(head: head, body: old.body)
    }

    /// What a response to HEAD says of the stored response of GET, and of those on their way (RFC 9111, section 4.3.5).
    func learn(from response: HTTPResponse, _ found: Found?, _ call: HTTPCall, sent: Date) async {
        let (key, described) = (call.key, response.headers)
        cache.writer.remove(in: store) { other, head in
            other == key && head.kind == .http && !HTTPCacheHeaders.describesSame(described, head.headers)
        }
        guard let found else { return }
        if HTTPCacheHeaders.describesSame(response.headers, found.entry.head.headers) {
            await freshen(found, response, call, sent: sent)
        } else {
            await remove(found.key)
        }
    }

    /// Lets an unsafe request pass and forgets what it may have changed (RFC 9111, section 4.4).
    func unsafe(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        let sent = now
        let response = try await next(exchange)
        for url in HTTPCacheRules.invalidated(by: response, to: exchange.http) { await forget(url) }
        guard let policy, HTTPCacheRules.answersGet(response, to: exchange.http), let hasher = await hasher() else {
            return response
        }
        var asGet = exchange
        asGet.http.method = .get
        let stage = CacheStage(
            cache: cache, exchange: asGet, next: next, policy: self.policy, mode: mode, request: request, store: store)
        return await stage.keep(
            response, stage.call(policy, CacheDirectives(request: asGet.http.headers), hasher), sent: sent)
    }

    /// All responses of a URL, whoever they are for, also those on their way.
    private func forget(_ url: URL) async {
        let text = KeyText.url(url)
        cache.writer.remove(in: store) { _, head in head.kind != .timed && head.url == text }
        await remove(Self.plain(url))
        await remove(Self.record(of: url))
    }
}
