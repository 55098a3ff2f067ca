public import Errand

extension Agent {
    /// The stored response if it is valid, nil if there is none; nothing is sent, and accessories receive no failure then.
    /// The response passes checks and decoding like any other, and their errors are thrown. Throws ``CacheMiss`` with the reason
    /// ``CacheMiss/Reason/notInstalled`` if the request passes no cache filter.
    ///
    /// - Parameters:
    ///   - request: the request whose response is asked for.
    ///   - includingStale: whether a response past its lifetime is returned too; false by default.
    ///   - options: those of the call.
    public func cached<R: Request>(
        _ request: R, includingStale: Bool = false, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output>? {
        let report = CacheReport(failures: [.notInstalled])
        let mode = CacheMode(kind: includingStale ? .cacheOnlyIncludingStale : .cacheOnly, report: report)
        do {
            let response = try await send(request, options: options.cache(mode))
            // An agent that does not forward the options has sent the request.
            guard response.http.source.isCache else { throw CacheMiss(.notInstalled) }
            return response
        } catch {
            guard let miss = report.miss(behind: error), miss.reason != .notInstalled else { throw error }
            return nil
        }
    }

    /// Stores a response, for example of another request, under this request's key, as if the server had sent it;
    /// nothing is sent. The response has to pass this request's checks and decoding; the decoded response is returned.
    /// Throws ``CacheMiss`` if the request's policy stores nothing (`off`) or there is no cache filter
    /// (`notInstalled`).
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

    /// Removes the request's entry; nothing is sent, whatever the method. Returns whether there was an entry with the
    /// request's version, partition and app version. Throws ``CacheMiss`` if the policy stores nothing (`off`) or there
    /// is no cache filter (`notInstalled`), and the error of a store that cannot remove the entry.
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
            // A check may have rejected the entry after it was removed.
            if !report.isCompleted || (error as? ErrandError)?.isCancelled == true { throw error }
        }
        if let failure = report.failure { throw failure }
        return true
    }

    /// The stored response, then the response of the server: two responses, or one.
    ///
    /// ```swift
    /// for try await feed in agent.cachedThenFresh(GetFeed()) { show(feed.value) }
    /// ```
    ///
    /// The second is returned if its body differs from the first, or always. If nothing is stored, only the fresh
    /// response is returned. If the server fails, the sequence throws the error after the stored response. If the
    /// request passes no cache filter it throws ``CacheMiss`` with the reason ``CacheMiss/Reason/notInstalled``, and
    /// nothing is sent.
    ///
    /// - Parameters:
    ///   - request: the request that is sent.
    ///   - includingStale: whether the first may be past its lifetime; true by default, since a fresh one follows.
    ///   - always: whether a fresh response with an equal body is returned too; false by default.
    ///   - options: those of both calls.
    public func cachedThenFresh<R: Request>(
        _ request: R, includingStale: Bool = true, always: Bool = false, options: CallOptions = CallOptions()
    ) -> CachedThenFresh<Self, R> {
        CachedThenFresh(agent: self, request: request, includingStale: includingStale, always: always, options: options)
    }
}

/// The stored response of a request, then the fresh one; see `Agent.cachedThenFresh`. Each iteration sends the request
/// again.
public struct CachedThenFresh<Caller: Agent, R: Request>: AsyncSequence, Sendable {
    /// A stored or a fresh response.
    public typealias Element = Response<R.Output>
    /// Any error of sending the request.
    public typealias Failure = any Error

    let agent: Caller
    let request: R
    let includingStale: Bool
    let always: Bool
    let options: CallOptions

    /// Starts an iteration; nothing is read or sent before its first `next()`.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Reads the cache at the first `next()`, and sends the request at the second.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase { case cached, fresh, end }
        private let sequence: CachedThenFresh
        private var phase = Phase.cached
        private var first: HTTPResponse?

        init(sequence: CachedThenFresh) { self.sequence = sequence }

        /// The next response, nil after the last. Throws the errors of sending the request.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Response<R.Output>? {
            let (agent, request) = (sequence.agent, sequence.request)
            if phase == .cached {
                phase = .fresh
                // A stored response that cannot be decoded any more counts as not stored.
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
