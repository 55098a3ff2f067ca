public import Errand

extension Agent {
    /// The valid response that is stored, nil if there is none; nothing is sent. It passes checks and decoding as any
    /// response does, and throws what they throw. Throws ``CacheMiss`` with the reason
    /// ``CacheMiss/Reason/notInstalled`` if no cache filter is on the way of the request.
    ///
    /// - Parameter evenStale: whether a response past its lifetime will do; false by default.
    public func cached<R: Request>(
        _ request: R, evenStale: Bool = false, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output>? {
        let report = CacheReport()
        let mode = CacheMode(kind: evenStale ? .onlyEvenStale : .cacheOnly, report: report)
        do {
            let response = try await send(request, options: options.cache(mode))
            // An agent that does not pass the options on has sent it.
            guard response.http.source.isCache else { throw CacheMiss(.notInstalled) }
            return response
        } catch {
            guard let miss = report.miss(behind: error), miss.reason != .notInstalled else { throw error }
            return nil
        }
    }

    /// Keeps a response, of another request for instance, under this request's key, as if the server had sent it; nothing
    /// is sent. It has to pass this request's checks and decoding; what those make of it is returned. Throws
    /// ``CacheMiss`` if the request's policy keeps nothing (`off`) or there is no cache filter (`notInstalled`).
    @discardableResult
    public func store<R: Request>(
        _ response: HTTPResponse, for request: R, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output> {
        let report = CacheReport()
        do {
            let mode = CacheMode(kind: .put(response), report: report)
            let response = try await send(request, options: options.cache(mode))
            guard report.isDone else { throw CacheMiss(.notInstalled) }
            return response
        } catch {
            throw report.miss(behind: error) ?? error
        }
    }

    /// Removes the request's entry; nothing is sent, whatever the method. Returns whether there was one for the request's
    /// version, partition and app version. Throws ``CacheMiss`` if the policy keeps nothing (`off`) or there is no cache
    /// filter (`notInstalled`), and what the store throws when it cannot remove the entry.
    @discardableResult
    public func removeCached(_ request: some Request, options: CallOptions = CallOptions()) async throws -> Bool {
        let report = CacheReport()
        do {
            _ = try await send(request, options: options.cache(CacheMode(kind: .take, report: report)))
            guard report.isDone else { throw CacheMiss(.notInstalled) }
        } catch {
            if let miss = report.miss(behind: error) {
                if miss.reason == .off || miss.reason == .notInstalled { throw miss }
                return false
            }
            // An entry that was removed may have been refused by a check afterwards.
            if !report.isDone || (error as? ErrandError)?.isCancelled == true { throw error }
        }
        if let failure = report.failure { throw failure }
        return true
    }

    /// What is stored at once, then what the server says: two responses, or one.
    ///
    /// ```swift
    /// for try await feed in agent.cachedThenFresh(GetFeed()) { show(feed.value) }
    /// ```
    ///
    /// The second comes if its body differs from the first, or always. If nothing is stored there is only the fresh one.
    /// If the server fails, the sequence ends with the error, after the stored one. Without a cache filter on the way of the
    /// request it throws ``CacheMiss`` with the reason ``CacheMiss/Reason/notInstalled``, and nothing is sent.
    ///
    /// - Parameters:
    ///   - evenStale: whether the first may be past its lifetime; true by default, since the second is on its way.
    ///   - always: whether a fresh response that is the same is returned too; false by default.
    public func cachedThenFresh<R: Request>(
        _ request: R, evenStale: Bool = true, always: Bool = false, options: CallOptions = CallOptions()
    ) -> CachedThenFresh<Self, R> {
        CachedThenFresh(agent: self, request: request, evenStale: evenStale, always: always, options: options)
    }
}

/// The stored response of a request, then the fresh one; see `Agent.cachedThenFresh`. Each loop over it asks anew.
public struct CachedThenFresh<Caller: Agent, R: Request>: AsyncSequence, Sendable {
    public typealias Element = Response<R.Output>
    public typealias Failure = any Error

    let agent: Caller
    let request: R
    let evenStale: Bool
    let always: Bool
    let options: CallOptions

    /// Begins.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Asks for one after the other, when it is asked.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase { case cached, fresh, end }
        private let sequence: CachedThenFresh
        private var phase = Phase.cached
        private var first: HTTPResponse?

        init(sequence: CachedThenFresh) { self.sequence = sequence }

        /// The next response, nil after the last. Throws what sending throws.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Response<R.Output>? {
            let (agent, request) = (sequence.agent, sequence.request)
            if phase == .cached {
                phase = .fresh
                // What is stored and cannot be read any more is as good as not stored.
                do {
                    let evenStale = sequence.evenStale
                    if let stored = try await agent.cached(request, evenStale: evenStale, options: sequence.options) {
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
