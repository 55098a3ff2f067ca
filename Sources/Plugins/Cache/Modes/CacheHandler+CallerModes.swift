import Errand
import ErrandEssentials

// The modes in which the caller stores or removes a response.

extension CacheHandler {
    /// Removes an entry for `removeCached`.
    func removeForCaller(_ lookup: HTTPLookup) async throws -> HTTPResponse {
        var found = await search(lookup).found
        let matching = RecentRemovals.Target.selection { key, head in
            guard head.kind == .http, head.url == lookup.url else { return false }
            let names = VaryRule(head.headers).names
            return key == (names.isEmpty ? lookup.key : lookup.variantKey(names))
        }
        cache.writer.removeUnwritten(matching, in: store)
        var removed: HTTPResponse?
        var hasEntry = false
        // Remove repeatedly, because several variants may match, and another variant may have been stored before the
        // removal began.
        for _ in 0..<Self.maximumMatches {
            if found == nil { found = await search(lookup).found }
            guard let match = found else { break }
            hasEntry = true
            if removed == nil {
                removed = await serve(match.entry, as: .whole, status: .hit(ttl: nil, detail: "removed"))
            }
            complete(await remove(match.key))
            found = nil
        }
        guard let removed else { throw miss(hasEntry ? .unreadable : .notStored) }
        return removed
    }

    /// A limit that exceeds the number of variants in an index.
    private static let maximumMatches = 16

    func storeForCaller(_ response: HTTPResponse, _ lookup: HTTPLookup) async throws -> HTTPResponse {
        // The response belongs to the request itself, not to the target of a redirect.
        if exchange.hop > 1 { throw miss(.off) }
        complete()
        return await keep(response, lookup, sent: now)
    }
}
