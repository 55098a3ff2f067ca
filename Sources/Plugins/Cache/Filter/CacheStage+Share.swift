import Errand

extension CacheStage {
    /// Whether the request may share a validation: it asks for nothing of its own, and its body comes in memory.
    var isShareable: Bool {
        let headers = exchange.http.headers
        let isOwn = HTTPConditions.names.contains { headers.contains($0) } || headers.contains("Range")
        return exchange.http.method == .get && exchange.delivery == .data && !isOwn
    }

    /// Validates a stale entry, once for all requests that wait for it at that moment. A failure is not shared: each of
    /// the others then asks by itself.
    func share(_ found: Found, _ call: HTTPCall, _ status: CacheStatus) async throws -> HTTPResponse {
        let place = CacheWriter.Place(store, found.key)
        let role = try await cache.flights.join(place, call.mark) { mark in
            !cache.writer.isRemoved(found.entry.head, found.key, in: store, since: mark)
        }
        switch role {
        case .leader(let leader):
            note(status)
            var stage = self
            stage.leader = leader
            do {
                let response = try await stage.fetch(call, status, found)
                cache.flights.land(place, leader, leader.landing)
                return response
            } catch {
                cache.flights.land(place, leader, Task.isCancelled ? .again : .alone)
                throw error
            }
        case .follower(let landing):
            if let response = await serve(landing, found, call, status) { return response }
            note(status)
            return try await fetch(call, status, found)
        }
    }

    /// What another request learned, if it holds for this one too.
    private func serve(
        _ landing: Flights.Landing, _ found: Found, _ call: HTTPCall, _ status: CacheStatus
    ) async -> HTTPResponse? {
        var status = status
        (status.isCollapsed, status.isStored) = (true, true)
        switch landing {
        case .validated(let head, let old):
            guard found.entry.head == old else { return nil }
            status.forwardStatus = 304
            return await serve(CacheEntry(head: head, body: found.entry.body), .whole, status)
        case .replaced(let entry, let key, let vary):
            let own =
                vary.isEmpty
                ? call.key
                : KeyText.variant(of: call.key, names: vary, headers: exchange.http.headers, call.hasher)
            guard own == key else { return nil }
            status.forwardStatus = entry.head.status
            return await serve(entry, .whole, status)
        case .alone, .again: return nil
        }
    }
}
