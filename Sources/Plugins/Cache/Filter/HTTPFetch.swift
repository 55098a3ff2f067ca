import Errand
import ErrandEssentials

/// A request that is sent for a response that may be stored, with the stored response's validators if the request has
/// no conditions of its own. An object: the frame that lasts as long as the request holds nothing else.
final class HTTPFetch: Sendable {
    private let handler: CacheHandler
    private let lookup: CacheHandler.HTTPLookup
    private let status: CacheStatus
    /// The stored response, which is not valid without an answer of the server.
    private let found: CacheHandler.StoredResponse?
    private let sent: Date
    private let departure: CacheHandler.Departure
    /// Whether the request has the validators of the stored response.
    private let validates: Bool
    /// The number of pieces of work that filters further out have staged.
    private let stagedWork: Int

    /// Not in line, where it would enlarge the frames of functions that wait.
    ///
    /// - Parameter status: why the request is sent.
    @inline(never) init(
        _ handler: CacheHandler, _ lookup: CacheHandler.HTTPLookup, _ status: CacheStatus,
        _ found: CacheHandler.StoredResponse?
    ) {
        (self.handler, self.lookup, self.status, self.found) = (handler, lookup, status, found)
        var validating: HTTPRequest?
        if let found, !lookup.hasConditions, !lookup.isHead, handler.mode.usesValidators {
            validating = HTTPCacheHeaders.validating(handler.exchange.http, found.entry.head.headers)
        }
        var exchange = handler.exchange
        if let validating { exchange.http = validating }
        validates = validating != nil
        departure = handler.departing(exchange)
        (sent, stagedWork) = (handler.now, handler.exchange.stagedWorkCount)
    }

    /// The server's response, or the stored one; updates the cache.
    func response() async throws -> HTTPResponse {
        do {
            let response = try await handler.next(departure.exchange)
            departure.record?.commit()
            if found != nil || lookup.isHead || !lookup.mayKeep(departure.users) {
                return try await resolve(response)
            }
            if handler.mayNotStore(response) { return response }
            return await handler.keepStorable(response, lookup, sent: sent)
        } catch {
            if let found, CacheHandler.allowsStale(after: error), let stale = await stale(found, status: nil) {
                return stale
            }
            throw error
        }
    }

    /// Updates the cache with the server's response, and returns the response for the caller.
    private func resolve(_ response: HTTPResponse) async throws -> HTTPResponse {
        if let found, HTTPCacheRules.isServerFailure(response.status),
            let stale = await stale(found, status: response.status)
        {
            await handler.exchange.discard(response)
            return stale
        }
        // The filters behind this one have made it the response of other users: nothing of it belongs into this entry.
        if !lookup.mayKeep(departure.users) {
            handler.note(CacheStatus(forwardStatus: response.status, detail: "not stored: sent for other users"))
            if response.status != 304 || !validates { return response }
            await handler.exchange.discard(response)
            await handler.exchange.discardStagedWork(after: stagedWork)
            return try await handler.next(handler.mode.applied(to: handler.exchange))
        }
        if lookup.isHead {
            if response.status == 200 { await handler.applyHead(response, lookup, sent: sent) }
            return response
        }
        if response.status == 304, let found, validates || lookup.hasConditions {
            return try await resolve(notModified: response, found)
        }
        return await handler.keep(response, lookup, sent: sent, old: found?.key)
    }

    private func resolve(
        notModified response: HTTPResponse, _ found: CacheHandler.StoredResponse
    ) async throws -> HTTPResponse {
        let confirms = HTTPCacheHeaders.confirms(
            response.headers, found.entry.head.headers, condition: departure.exchange.http.headers)
        if lookup.hasConditions {
            if confirms { await handler.freshen(found, response, lookup, sent: sent) }
            return response
        }
        await handler.exchange.discard(response)
        // A 304 about a response that is not stored: send the request without conditions.
        guard confirms else { return try await sentAnew() }
        let entry = await handler.freshen(found, response, lookup, sent: sent)
        var status = status
        (status.forwardStatus, status.isStored) = (304, true)
        let cookies = HTTPHeaders(response.headers.filter { $0.isSensitive })
        if let response = await handler.serve(entry, .whole, status, also: cookies) { return response }
        await handler.remove(found.key)
        return try await sentAnew()
    }

    /// The response to the request without conditions.
    private func sentAnew() async throws -> HTTPResponse {
        await handler.exchange.discardStagedWork(after: stagedWork)
        let (sent, departure) = (handler.now, handler.departing(handler.exchange))
        let response = try await handler.next(departure.exchange)
        departure.record?.commit()
        return lookup.mayKeep(departure.users) ? await handler.keep(response, lookup, sent: sent) : response
    }

    /// The stored response, if it may stand for a failure.
    private func stale(_ found: CacheHandler.StoredResponse, status: Int?) async -> HTTPResponse? {
        let head = found.entry.head
        guard
            var reason = HTTPCacheRules.staleOnError(
                head.fresh, received: head.received, request: lookup.directives, preferences: lookup.preferences,
                now: handler.now)
        else { return nil }
        reason.forwardStatus = status
        let condition = handler.condition(found, lookup)
        guard condition != .forward, let response = await handler.serve(found.entry, condition, reason) else {
            return nil
        }
        await handler.exchange.discardStagedWork(after: stagedWork)
        return response
    }
}

extension CacheHandler {
    /// An exchange as it is sent on.
    struct Departure: Sendable {
        let exchange: Exchange
        /// Where filters follow, which may send it for other users.
        let record: UserRecord?

        /// The users for whom it was sent; nil if they are those of the exchange, or if nothing was sent.
        var users: Set<UserMark>? { record?.marks }
    }

    func departing(_ exchange: Exchange) -> Departure {
        let applied = mode.applied(to: exchange)
        if next.commonWay?.hasFilters == false { return Departure(exchange: applied, record: nil) }
        let (recorded, record) = applied.recordingUsers()
        return Departure(exchange: recorded, record: record)
    }
}
