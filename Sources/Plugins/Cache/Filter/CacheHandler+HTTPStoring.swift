import Errand
import ErrandEssentials

/// Stores the responses for a URL.
///
/// The URL's key leads to its response. If `Vary` distinguishes several responses, the key leads to an index of header
/// names instead, and each variant has its own key.
///
/// Responses of different users also have separate keys. Such a response is valid only while the URL's record has the
/// serial number with which the response was stored. A request whose method isn't safe removes the record, which
/// invalidates all users' responses at once. An index's serial number protects its variants in the same way. Validity
/// never depends on a date.
extension CacheHandler {
    /// Stores a response.
    ///
    /// - Parameter old: The key of the entry that the response replaces.
    func keep(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date, old: CacheKey? = nil) async -> HTTPResponse {
        if isRefused(response, lookup) {
            // The validation returned another response.
            if let old, (200...299).contains(response.status), response.status != 206 { await remove(old) }
            return response
        }
        return await storeResponse(response, lookup, sent: sent)
    }

    func storeResponse(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) async -> HTTPResponse {
        if await reportsFailure(response) {
            note(
                CacheStatus(
                    forwardStatus: response.status,
                    detail: "not stored: the request's check found a failure in the body"))
            return response
        }
        let vary = VaryRule(response.headers).names
        let (key, head) = await storageKey(for: head(response, lookup, sent: sent), vary: vary, lookup: lookup)
        if response.body.data == nil {
            return writeStream(
                TeeBody(response.body, isAccepted: true), of: response, head, under: key, since: lookup.start)
        }
        let entry = CacheEntry(head: head, body: response.body)
        write(entry, for: key, since: lookup.start)
        leader?.record(.replaced(entry, key, vary: vary))
        if policy.waitsForWrite { await cache.flush() }
        return response
    }

    func isRefused(_ response: HTTPResponse, _ lookup: HTTPLookup) -> Bool {
        guard let refusal = HTTPCacheRules.refusal(of: response, to: exchange.http, lookup.directives) else {
            return false
        }
        note(CacheStatus(forwardStatus: response.status, detail: "not stored: \(refusal)"))
        return true
    }

    private func reportsFailure(_ response: HTTPResponse) async -> Bool {
        if exchange.request.outcomeCheck == nil { return false }
        do { return try await exchange.outcomeFailure(of: response) != nil } catch { return true }
    }

    private func head(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) -> CacheEntryHead {
        let received = now
        var head = CacheEntryHead(
            .http, url: lookup.url, response: response, headers: HTTPCacheHeaders.storable(response.headers),
            received: received, expires: received, tags: tags,
            partition: policy.http?.partition.map(lookup.hasher.hash))
        head.update(
            HTTPFreshness(status: response.status, headers: response.headers, sent: sent, received: received), received)
        return head
    }

    private func storageKey(
        for head: CacheEntryHead, vary: [String], lookup: HTTPLookup
    ) async -> (CacheKey, CacheEntryHead) {
        if !lookup.isOwned && vary.isEmpty { return (lookup.key, head) }
        let record = CacheKeyBuilder.record(of: lookup.url)
        // Create the record one call at a time. Otherwise, concurrent responses would each create a serial number.
        return await cache.indexAccess.run(CacheWriter.Location(store, record)) {
            var head = head
            if lookup.isOwned { head.generation = await serial(of: record, head: head, lookup: lookup) }
            if vary.isEmpty { return (lookup.key, head) }
            head.generation = await index(adding: vary, head: head, lookup: lookup)
            return (lookup.variantKey(vary), head)
        }
    }

    private func serial(of key: CacheKey, head: CacheEntryHead, lookup: HTTPLookup) async -> UInt64 {
        if case .entry(let old) = await read(key), old.head.kind == .index { return old.head.serial }
        var record = head
        (record.kind, record.variants, record.headers) = (.index, [], [:])
        record.change { ($0.partition, $0.tags, $0.expires) = (nil, [], .distantFuture) }
        (record.serial, record.generation) = (.random(in: 1 ... .max), 0)
        write(CacheEntry(head: record, body: .empty), for: key, since: lookup.start)
        return record.serial
    }

    /// Adds header names to the URL's index. Returns the index's serial number.
    private func index(adding names: [String], head: CacheEntryHead, lookup: HTTPLookup) async -> UInt64 {
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
        write(CacheEntry(head: index, body: .empty), for: lookup.key, since: lookup.start)
        return index.serial
    }

    /// Updates a stored response with the fields of a 304 (RFC 9111, section 4.3.4). Removes the stored response if the
    /// 304's `Vary` or `no-store` forbids serving it.
    @discardableResult
    func freshen(_ found: StoredResponse, with response: HTTPResponse, for lookup: HTTPLookup, sent: Date) async
        -> CacheEntry
    {
        let old = found.entry
        let received = now
        let merged = HTTPCacheHeaders.merged(old.head.headers, with: response.headers)
        let fresh = HTTPFreshness(status: old.head.status, headers: merged, sent: sent, received: received)
        var head = old.head
        head.headers = HTTPCacheHeaders.storable(merged)
        head.change { $0.tags = tags }
        head.update(fresh, received)
        // The key contains only the request fields in the stored `Vary`.
        let isKeyTooShort = !VaryRule(response.headers).isCovered(by: VaryRule(old.head.headers))
        if CacheDirectives(response.headers).noStore || isKeyTooShort {
            await remove(found.key)
        } else {
            update(head, of: old, for: found.key, since: lookup.start)
            leader?.record(.validated(head, old: old.head))
        }
        return CacheEntry(head: head, body: old.body)
    }

    /// Updates or removes the stored responses to GET according to a response to HEAD (RFC 9111, section 4.3.5).
    func applyHead(_ response: HTTPResponse, _ lookup: HTTPLookup, sent: Date) async {
        cache.writer.removeUnwritten(.outdated(lookup.key, by: response.headers), in: store)
        guard let found = await search(lookup).found else { return }
        if HTTPCacheHeaders.describesSame(response.headers, found.entry.head.headers) {
            await freshen(found, with: response, for: lookup, sent: sent)
        } else {
            await remove(found.key)
        }
    }

    /// Removes the stored responses that a response invalidates, for all users. Also applies to responses in flight.
    func invalidate(by response: HTTPResponse) async {
        var urls = HTTPCacheRules.invalidated(by: response, to: exchange.http)
        // Entries are stored under the resource URL, which filters may have replaced in the request.
        if !urls.isEmpty, exchange.hop == 1, let resource = exchange.tags[ResourceURL.self] {
            let url = CacheKeyBuilder.url(resource)
            if !urls.contains(url) { urls.append(url) }
        }
        if urls.isEmpty { return }
        // Without its record, a user's entry isn't valid.
        let keys = urls.flatMap { [CacheKeyBuilder.http($0), CacheKeyBuilder.record(of: $0)] }
        await remove(.urls(Set(urls)), keys: keys)
    }
}
