import Errand
import ErrandEssentials

// One validation of a stale response for all requests that wait for it.

extension CacheHandler {
    func isShareable(_ lookup: HTTPLookup) -> Bool {
        !lookup.isHead && exchange.delivery == .data && !lookup.hasConditions
    }

    /// Shares one validation among several requests. After a failure, each request gets the stale response if it may be
    /// served (RFC 5861, section 4). Otherwise, if the requests can't share the result, each of them is sent.
    func share(
        _ found: StoredResponse, for lookup: HTTPLookup, status: CacheStatus
    ) async throws -> HTTPResponse {
        let validations = cache.sharedValidations
        let location = CacheWriter.Location(store, found.key)
        let role = try await validations.join(location, since: lookup.start, by: exchange.activity.id) { start in
            !cache.writer.isRemoved(found.entry.head, found.key, in: store, since: start)
        }
        switch role {
        case .leader(let leader):
            note(status)
            do {
                let response = try await leading(leader).validate(found, for: lookup, status: status)
                validations.finish(location, by: leader, with: leader.outcome)
                return response
            } catch {
                let outcome =
                    Self.allowsStale(after: error) ? .failed(status: nil) : SharedValidations.Outcome.notShareable
                validations.finish(location, by: leader, with: Task.isCancelled ? .leaderCancelled : outcome)
                throw error
            }
        case .follower(let outcome):
            if let response = await serveShared(outcome, of: found, for: lookup, status: status) { return response }
            note(status)
            return try await validate(found, for: lookup, status: status)
        }
    }

    private func serveShared(
        _ outcome: SharedValidations.Outcome, of found: StoredResponse, for lookup: HTTPLookup, status: CacheStatus
    ) async -> HTTPResponse? {
        var status = status
        (status.isCollapsed, status.isStored) = (true, true)
        switch outcome {
        case .validated(let head, let old):
            guard found.entry.head == old else { return nil }
            status.forwardStatus = 304
            return await serve(CacheEntry(head: head, body: found.entry.body), as: .whole, status: status)
        case .replaced(let entry, let key, let vary):
            if HTTPCacheRules.isServerFailure(entry.head.status),
                let stale = await staleAfterShared(entry.head.status, found, for: lookup)
            {
                return stale
            }
            guard key == (vary.isEmpty ? lookup.key : lookup.variantKey(vary)) else { return nil }
            status.forwardStatus = entry.head.status
            return await serve(entry, as: .whole, status: status)
        case .failed(let failed): return await staleAfterShared(failed, found, for: lookup)
        case .notShareable, .leaderCancelled: return nil
        }
    }

    private func staleAfterShared(
        _ status: Int?, _ found: StoredResponse, for lookup: HTTPLookup
    ) async -> HTTPResponse? {
        await stale(
            found, for: lookup, forwardStatus: status, stagedWork: exchange.stagedWorkCount, isCollapsed: true)
    }
}
