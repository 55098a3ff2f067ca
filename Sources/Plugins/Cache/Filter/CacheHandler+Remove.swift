import Errand

/// The removals of `removeCached`: no response to an earlier request is stored after one.
extension CacheHandler {
    /// Removes the timed entry, and the HTTP entry where the policy has both. Throws ``CacheMiss`` if there was none.
    func removeForCaller(_ lookup: TimedLookup) async throws -> HTTPResponse {
        var found = await usable(lookup)
        if case .failure = found {
            cache.writer.remove(in: store) { key, head in key == lookup.key && head.timed == lookup.attributes }
            // It may have been stored in between.
            found = await usable(lookup)
        }
        if case .success = found { await removeForCaller(lookup.key) }
        guard policy.http != nil else {
            do { return try found.get() } catch { throw miss(error.reason) }
        }
        do { return try await next(exchange) } catch let error {
            if case .success(let response) = found, error is CacheMiss { return response }
            throw error
        }
    }

    /// Removes every stored response that matches the request. Throws ``CacheMiss`` if there was none.
    func removeForCaller(_ lookup: HTTPLookup) async throws -> HTTPResponse {
        var found = await search(lookup).found
        let (own, headers) = (lookup.key, exchange.http.headers)
        cache.writer.remove(in: store) { key, head in
            guard head.kind == .http, head.url == lookup.url else { return false }
            let names = VaryRule(head.headers).names
            if names.isEmpty { return key == own }
            return key == CacheKeyBuilder.variant(of: own, names: names, headers: headers, lookup.hasher)
        }
        var removed: HTTPResponse?
        var hasEntry = false
        // Several variants may match. One more may have been stored before the removal began.
        for _ in 0..<Self.maximumMatches {
            if found == nil { found = await search(lookup).found }
            guard let entry = found else { break }
            hasEntry = true
            let response = removed == nil ? await serve(entry.entry, .whole, .hit(ttl: nil, detail: "removed")) : nil
            removed = removed ?? response
            await removeForCaller(entry.key)
            found = nil
        }
        guard let removed else { throw miss(hasEntry ? .unreadable : .notStored) }
        return removed
    }

    /// More than the header names that an index has.
    private static let maximumMatches = 16

    /// Removes an entry, and reports the result.
    private func removeForCaller(_ key: CacheKey) async {
        exchange.tags[CacheMode.self].report?.complete(await remove(key))
    }
}
