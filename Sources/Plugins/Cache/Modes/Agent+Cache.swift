public import Errand

extension Agent {
    /// The valid answer that is stored, nil if there is none; nothing is sent (Y75). It passes checks and decoding as
    /// any answer does, and throws what they throw.
    ///
    /// - Parameter evenStale: whether an answer past its lifetime will do; false by default.
    public func cached<R: Request>(
        _ request: R, evenStale: Bool = false, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output>? {
        do {
            return try await send(request, options: options.cache(evenStale ? .onlyEvenStale : .only))
        } catch is CacheMiss {
            return nil
        }
    }

    /// Keeps an answer, of another request for instance, under this request's key, as if the server had answered with it
    /// (Y76). It has to pass this request's checks and decoding; what those make of it is returned. Throws ``CacheMiss``
    /// if the request's policy keeps nothing.
    @discardableResult
    public func store<R: Request>(
        _ response: HTTPResponse, for request: R, options: CallOptions = CallOptions()
    ) async throws -> Response<R.Output> {
        try await send(request, options: options.cache(.put(response)))
    }

    /// Removes the request's entry. Returns whether there was one for the request's version, partition and app version.
    @discardableResult
    public func removeCached(_ request: some Request, options: CallOptions = CallOptions()) async throws -> Bool {
        do {
            _ = try await send(request, options: options.cache(.take))
            return true
        } catch let error as CacheMiss where error.reason == .off {
            throw error
        } catch is CacheMiss {
            return false
        } catch let error as ErrandError where error.isCancelled {
            throw error
        } catch {
            // It was there, and gone before somebody disliked it.
            return true
        }
    }

    /// What is stored at once, then what the server says: two answers, or one.
    ///
    /// ```swift
    /// for try await feed in agent.cachedThenFresh(GetFeed()) { show(feed.value) }
    /// ```
    ///
    /// The second comes if its body differs from the first, or always. If nothing is stored there is only the fresh one.
    /// If the server fails, the sequence ends with the error, after the stored one.
    ///
    /// - Parameters:
    ///   - evenStale: whether the first may be past its lifetime; true by default, since the second is on its way.
    ///   - always: whether a fresh answer is given that is the same; false by default.
    public func cachedThenFresh<R: Request>(
        _ request: R, evenStale: Bool = true, always: Bool = false, options: CallOptions = CallOptions()
    ) -> CachedThenFresh<Self, R> {
        CachedThenFresh(agent: self, request: request, evenStale: evenStale, always: always, options: options)
    }
}

/// The stored answer of a request, then the fresh one; see `Agent.cachedThenFresh`. Each loop over it asks anew.
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

        /// The next answer, nil after the last. Throws what sending throws.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Response<R.Output>? {
            let (agent, request) = (sequence.agent, sequence.request)
            if phase == .cached {
                phase = .fresh
                // What is stored and cannot be read any more is as good as not stored.
                if let stored = try? await agent.cached(
                    request, evenStale: sequence.evenStale, options: sequence.options)
                {
                    first = stored.http
                    return stored
                }
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
