public import Errand

extension Agent {
    /// Returns the stored response if it's valid, or nil. Doesn't send a request. A miss isn't a failure for
    /// accessories.
    ///
    /// Throws the errors of checking and decoding the response, and ``CacheMiss`` with
    /// ``CacheMiss/Reason/notInstalled`` if the request doesn't pass through a cache filter.
    ///
    /// - Parameters:
    ///   - request: The request whose response to look up.
    ///   - includingStale: Whether to also return a response past its lifetime. Defaults to false.
    ///   - options: The options of the call.
    public func cached<R: Request>(
        _ request: R, includingStale: Bool = false, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output>? {
        let report = CacheReport(failures: [.notInstalled])
        let mode = CacheMode(kind: includingStale ? .cacheOnlyIncludingStale : .cacheOnly, report: report)
        do {
            let response = try await send(request, options: options.cache(mode))
            // The agent didn't forward the options and has sent the request.
            guard response.http.source.isCache else { throw CacheMiss(.notInstalled) }
            return response
        } catch {
            guard let miss = report.miss(behind: error), miss.reason != .notInstalled else { throw error }
            return nil
        }
    }

    /// Stores a response as if the server had sent it for this request. Doesn't send a request.
    ///
    /// Returns the decoded response, which must pass this request's checks. Throws ``CacheMiss`` if the request's
    /// policy doesn't store responses (`off`) or there's no cache filter (`notInstalled`).
    @discardableResult
    public func store<R: Request>(
        _ response: HTTPResponse, for request: R, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output> {
        let report = CacheReport()
        do {
            let mode = CacheMode(kind: .store(response), report: report)
            let response = try await send(request, options: options.cache(mode))
            guard report.isCompleted else { throw CacheMiss(.notInstalled) }
            return response
        } catch {
            throw report.miss(behind: error) ?? error
        }
    }

    /// Removes the request's entry, whatever its method. Returns whether there was an entry with the request's version,
    /// partition and app version. Doesn't send a request.
    ///
    /// Throws ``CacheMiss`` if the policy doesn't store responses (`off`) or there's no cache filter (`notInstalled`).
    /// If the store can't remove the entry, throws the store's error.
    @discardableResult
    public func removeCached(_ request: some Request, options: CallOptions = CallOptions()) async throws -> Bool {
        let report = CacheReport(failures: [.off, .notInstalled])
        do {
            _ = try await send(request, options: options.cache(CacheMode(kind: .remove, report: report)))
            guard report.isCompleted else { throw CacheMiss(.notInstalled) }
        } catch {
            if let miss = report.miss(behind: error) {
                if miss.reason == .off || miss.reason == .notInstalled { throw miss }
                return false
            }
            // A check can reject the entry after its removal, which has still succeeded.
            if !report.isCompleted || (error as? ErrandError)?.isCancelled == true { throw error }
        }
        if let failure = report.failure { throw failure }
        return true
    }

    /// Returns the stored response, followed by the server's response.
    ///
    /// ```swift
    /// for try await feed in agent.cachedThenFresh(GetFeed()) { show(feed.value) }
    /// ```
    ///
    /// If the second response has the same status and body as the first, it's left out, unless `always` is true.
    /// Without a stored response, you receive only the fresh response. If the server fails, the sequence throws after
    /// the stored response.
    ///
    /// Without a cache filter, the sequence throws ``CacheMiss`` with ``CacheMiss/Reason/notInstalled`` and doesn't
    /// send the request.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - includingStale: Whether the first response can be past its lifetime. Defaults to true, because a fresh
    ///     response follows.
    ///   - always: Whether to also return a fresh response that equals the stored one. Defaults to false.
    ///   - options: The options of both calls.
    public func cachedThenFresh<R: Request>(
        _ request: R, includingStale: Bool = true, always: Bool = false, options: CallOptions = CallOptions()
    ) -> CachedThenFresh<Self, R> {
        CachedThenFresh(agent: self, request: request, includingStale: includingStale, always: always, options: options)
    }
}

/// The stored response of a request, followed by the fresh response. Each iteration sends the request. See
/// `Agent.cachedThenFresh`.
public struct CachedThenFresh<Caller: Agent, R: Request>: AsyncSequence, Sendable {
    /// The stored or the fresh response.
    public typealias Element = Response<R.Output>
    /// Any error that sending the request throws.
    public typealias Failure = any Error

    let agent: Caller
    let request: R
    let includingStale: Bool
    let always: Bool
    let options: CallOptions

    /// Creates an iterator. It reads the cache and sends the request only when you call `next()`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Reads the cache first. Sends the request at the second `next()`, or at the first if there's no stored response.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase { case cached, fresh, end }
        private let sequence: CachedThenFresh
        private var phase = Phase.cached
        private var first: HTTPResponse?

        init(sequence: CachedThenFresh) { self.sequence = sequence }

        /// Returns the next response, or nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Response<R.Output>? {
            let (agent, request) = (sequence.agent, sequence.request)
            if phase == .cached {
                phase = .fresh
                // A stored response that can no longer be decoded counts as a miss.
                do {
                    let includingStale = sequence.includingStale
                    if let stored = try await agent.cached(
                        request, includingStale: includingStale, options: sequence.options)
                    {
                        first = stored.http
                        return stored
                    }
                } catch let miss as CacheMiss where miss.reason == .notInstalled {
                    phase = .end
                    throw miss
                } catch {}
                try Task.checkCancellation()
            }
            guard phase == .fresh else { return nil }
            phase = .end
            let fresh = try await agent.send(request, options: sequence.options.cache(.reload))
            if let first, !sequence.always, fresh.http.status == first.status, let data = fresh.http.body.data,
                data == first.body.data
            {
                return nil
            }
            return fresh
        }
    }
}
