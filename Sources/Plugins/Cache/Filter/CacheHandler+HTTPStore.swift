import Errand
import ErrandEssentials

/// How the responses for one URL are stored.
///
/// The key of the URL leads to the response itself or, if `Vary` distinguishes several, to an index of the header names
/// that do; each variant has a key of its own. Responses that belong to one user have keys of their own, and are valid
/// only while the record of the URL has the serial number that they were stored with: an unsafe request that removes
/// the record invalidates all of them, however many there are. The serial number of an index does the same for its
/// variants. Validity never depends on a date.
extension CacheHandler {
    /// Looks for the stored response that matches the request.
    func search(_ lookup: HTTPLookup) async -> HTTPSearch.Outcome {
        var search = HTTPSearch(lookup)
        while let key = search.key {
            if case .entry(let entry) = await read(key) { search.take(entry) } else { search.take(nil) }
        }
        return search.outcome
    }

    /// The same without a wait; nil where the store has to be waited for.
    func searchAtOnce(_ lookup: HTTPLookup) -> HTTPSearch.Outcome? {
        guard let store = lookup.store.immediate else { return nil }
        var search = HTTPSearch(lookup)
        while let key = search.key {
            switch cache.writer.entryAtOnce(for: key, in: store) {
            case .entry(let entry): search.take(entry)
            case .nothing: search.take(nil)
            case .unknown: return nil
            }
        }
        return search.outcome
    }

    /// Stores a server's response if the rules allow it; `old` is the key of the entry that it replaces.
    func keep(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date, old: CacheKey? = nil) async -> HTTPResponse {
        guard mayNotStore(response) else { return await keepStorable(response, lookup, sent: sent) }
        // The validation returned another response: the stored one is no longer valid.
        if let old, (200...299).contains(response.status), response.status != 206 { await remove(old) }
        return response
    }

    /// Whether the rules forbid to store the response; notes the reason.
    func mayNotStore(_ response: HTTPResponse) -> Bool {
        guard let refusal = HTTPCacheRules.refusal(of: response, to: exchange.http) else { return false }
        note(CacheStatus(forwardStatus: response.status, detail: "not stored: \(refusal)"))
        return true
    }

    /// Stores a response that the rules allow to store.
    func keepStorable(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) async -> HTTPResponse {
        if await reportsFailure(response) {
            note(CacheStatus(forwardStatus: response.status, detail: "not stored: its outcome is a failure"))
            return response
        }
        let received = now
        let fresh = HTTPFreshness(status: response.status, headers: response.headers, sent: sent, received: received)
        let head = head(response, HTTPCacheHeaders.storable(response.headers), fresh, received, lookup)
        let vary = VaryRule(response.headers)
        let (key, storedHead) = await storageKey(head, vary, lookup)
        if response.body.data == nil {
            var response = response
            let tee = TeeBody(response.body, isAccepted: true)
            writeStream(tee, storedHead, key, lookup.mark)
            response.body = HTTPBody(length: response.body.length, source: tee)
            return response
        }
        let entry = CacheEntry(head: storedHead, body: response.body)
        write(entry, key, lookup.mark)
        leader?.record(.replaced(entry, key, vary: vary.names))
        if policy.waitsForWrite { await cache.flush() }
        return response
    }

    /// Whether the request refuses the response for what its body says, which no header shows.
    private func reportsFailure(_ response: HTTPResponse) async -> Bool {
        do { return try await exchange.outcomeFailure(of: response) != nil } catch { return true }
    }

    private func head(
        _ response: HTTPResponse, _ headers: HTTPHeaders, _ fresh: HTTPFreshness, _ received: Date, _ lookup: HTTPLookup
    ) -> CacheEntryHead {
        var head = CacheEntryHead(
            .http, url: lookup.url, response: response, headers: headers, received: received,
            expires: received, tags: terms.request?.cacheTags ?? [],
            partition: policy.http?.partition.map(lookup.hasher.hash))
        head.update(fresh, received)
        return head
    }

    /// The key for a response, after writing the indexes that lead to it, and the head with its generation.
    private func storageKey(
        _ head: CacheEntryHead, _ vary: VaryRule, _ lookup: HTTPLookup
    ) async -> (CacheKey, CacheEntryHead) {
        if !lookup.isOwned && vary.names.isEmpty { return (lookup.key, head) }
        let record = CacheKeyBuilder.record(of: lookup.url)
        // Concurrent responses must not each begin a generation.
        return await cache.indexAccess.run(CacheWriter.Location(store, record)) {
            var head = head
            if lookup.isOwned { head.generation = await serial(record, head, lookup) }
            if vary.names.isEmpty { return (lookup.key, head) }
            let key = CacheKeyBuilder.variant(
                of: lookup.key, names: vary.names, headers: exchange.http.headers, lookup.hasher)
            head.generation = await index(vary.names, head, lookup)
            return (key, head)
        }
    }

    /// The serial number of the record of a URL, which is created if it does not exist.
    private func serial(_ key: CacheKey, _ head: CacheEntryHead, _ lookup: HTTPLookup) async -> UInt64 {
        if case .entry(let old) = await read(key), old.head.kind == .index { return old.head.serial }
        var record = head
        (record.kind, record.variants, record.headers) = (.index, [], [:])
        record.change { ($0.partition, $0.tags, $0.expires) = (nil, [], .distantFuture) }
        (record.serial, record.generation) = (.random(in: 1 ... .max), 0)
        write(CacheEntry(head: record, body: .empty), key, lookup.mark)
        return record.serial
    }

    /// Moves header names to the front of the index of a URL, and returns the serial number of the index.
    private func index(_ names: [String], _ head: CacheEntryHead, _ lookup: HTTPLookup) async -> UInt64 {
        var index = head
        (index.kind, index.variants, index.headers) = (.index, [names], [:])
        index.serial = .random(in: 1 ... .max)
        if case .entry(let old) = await read(lookup.key), old.head.kind == .index,
            old.head.generation == index.generation
        {
            index.serial = old.head.serial
            index.variants += old.head.variants.filter { $0 != names }.prefix(7)
            index.change { $0.expires = max($0.expires, old.head.expires) }
            if index.variants == old.head.variants && index.expires == old.head.expires { return index.serial }
        }
        write(CacheEntry(head: index, body: .empty), lookup.key, lookup.mark)
        return index.serial
    }

    /// The key of the responses that belong to all users.
    private static func unownedKey(_ url: String) -> CacheKey {
        CacheKeyBuilder.http(url, users: [], partition: nil, KeyedHasher(secret: []))
    }

    /// Updates the stored response with the fields of a 304 response, and writes its head (RFC 9111, section 4.3.4).
    @discardableResult
    func freshen(_ found: StoredResponse, _ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) async
        -> CacheEntry
    {
        let old = found.entry
        let received = now
        let merged = HTTPCacheHeaders.merged(old.head.headers, with: response.headers)
        let fresh = HTTPFreshness(status: old.head.status, headers: merged, sent: sent, received: received)
        var head = old.head
        head.headers = HTTPCacheHeaders.storable(merged)
        head.change { $0.tags = terms.request?.cacheTags ?? [] }
        head.update(fresh, received)
        if CacheDirectives(response.headers).noStore {
            await remove(found.key)
        } else {
            update(head, of: old, found.key, lookup.mark)
            leader?.record(.validated(head, old: old.head))
        }
        return CacheEntry(head: head, body: old.body)
    }

    /// Updates or invalidates the stored response to GET, and those in flight, by a response to HEAD (RFC 9111, section
    /// 4.3.5).
    func applyHead(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) async {
        let (key, described) = (lookup.key, response.headers)
        cache.writer.remove(in: store) { other, head in
            other == key && head.kind == .http && !HTTPCacheHeaders.describesSame(described, head.headers)
        }
        // Another entry may have been stored since the request was sent, or may appear behind one that was queued.
        guard let found = await search(lookup).found else { return }
        if HTTPCacheHeaders.describesSame(response.headers, found.entry.head.headers) {
            await freshen(found, response, lookup, sent: sent)
        } else {
            await remove(found.key)
        }
    }

    /// Sends an unsafe request, and invalidates the responses that it may have changed (RFC 9111, section 4.4).
    func sendUnsafe(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        let sent = now
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        for url in invalidated(by: response) { await invalidate(url) }
        guard let policy, HTTPCacheRules.isStorableForGet(response, to: exchange.http), let store = await openStore()
        else {
            return response
        }
        var asGet = exchange
        asGet.http.method = .get
        let handler = handling(asGet, mode)
        let lookup = handler.makeLookup(policy, CacheDirectives(request: asGet.http.headers), store)
        return lookup.mayKeep(record.marks) ? await handler.keep(response, lookup, sent: sent) : response
    }

    /// The texts of the URLs whose stored responses a response to this request makes invalid: with them the one under
    /// which filters have stored its resource.
    private func invalidated(by response: HTTPResponse) -> [String] {
        let urls = HTTPCacheRules.invalidated(by: response, to: exchange.http)
        guard !urls.isEmpty, exchange.hop == 1, let resource = exchange.tags[ResourceURL.self] else { return urls }
        return urls + [CacheKeyBuilder.url(resource)]
    }

    /// Invalidates all responses for a URL, of every user, including those in flight.
    private func invalidate(_ text: String) async {
        cache.writer.remove(in: store) { _, head in head.kind != .timed && head.url == text }
        await remove(Self.unownedKey(text))
        await remove(CacheKeyBuilder.record(of: text))
    }
}
