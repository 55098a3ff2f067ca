import Errand

extension CacheHandler {
    /// Whether the request may share a validation: it has no conditions of its own, and its body is delivered as data.
    func isShareable(_ lookup: HTTPLookup) -> Bool {
        !lookup.isHead && exchange.delivery == .data && !lookup.hasConditions
    }

    /// Validates a stale entry once for all requests that currently wait for it. A failure is not shared: each of the
    /// others then sends a request of its own.
    func share(_ found: StoredResponse, _ lookup: HTTPLookup, _ status: CacheStatus) async throws -> HTTPResponse {
        let location = CacheWriter.Location(store, found.key)
        let role = try await cache.sharedValidations.join(location, lookup.mark, exchange.activity.id) { mark in
            !cache.writer.isRemoved(found.entry.head, found.key, in: store, since: mark)
        }
        switch role {
        case .leader(let leader):
            note(status)
            do {
                let response = try await HTTPFetch(leading(leader), lookup, status, found).response()
                cache.sharedValidations.finish(location, leader, leader.outcome)
                return response
            } catch {
                cache.sharedValidations.finish(location, leader, Task.isCancelled ? .leaderCancelled : .notShareable)
                throw error
            }
        case .follower(let outcome):
            if let response = await serve(outcome, found, lookup, status) { return response }
            note(status)
            return try await HTTPFetch(self, lookup, status, found).response()
        }
    }

    /// The response that the leading request received, if it applies to this request.
    private func serve(
        _ outcome: SharedValidations.Outcome, _ found: StoredResponse, _ lookup: HTTPLookup, _ status: CacheStatus
    ) async -> HTTPResponse? {
        var status = status
        (status.isCollapsed, status.isStored) = (true, true)
        switch outcome {
        case .validated(let head, let old):
            guard found.entry.head == old else { return nil }
            status.forwardStatus = 304
            return await serve(CacheEntry(head: head, body: found.entry.body), .whole, status)
        case .replaced(let entry, let key, let vary):
            let own =
                vary.isEmpty
                ? lookup.key
                : CacheKeyBuilder.variant(of: lookup.key, names: vary, headers: exchange.http.headers, lookup.hasher)
            guard own == key else { return nil }
            status.forwardStatus = entry.head.status
            return await serve(entry, .whole, status)
        case .notShareable, .leaderCancelled: return nil
        }
    }
}
