public import Errand

/// How many of several responses came from a cache.
///
/// ```swift
/// let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))
/// if CacheShare(user, feed) == .all { showAge() }
/// ```
public enum CacheShare: Sendable, Hashable {
    /// All responses, and there was at least one response.
    case all
    /// At least one response, but not all.
    case part
    /// No response.
    case nothing

    init(_ cached: Int, of count: Int) { self = cached == 0 ? .nothing : cached == count ? .all : .part }

    /// Computes the share of the responses of a mixed batch.
    public init<each Output: Sendable>(_ responses: repeat Response<each Output>) {
        var (cached, count) = (0, 0)
        for response in repeat each responses {
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Computes the share of the results of a mixed batch. Failures don't count.
    public init<each Output: Sendable>(_ results: repeat Result<Response<each Output>, any Error>) {
        var (cached, count) = (0, 0)
        for result in repeat each results {
            guard case .success(let response) = result else { continue }
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Computes the share of a list of responses.
    public init<Output: Sendable>(_ responses: [Response<Output>]) {
        self.init(responses.count { $0.http.source.isStored }, of: responses.count)
    }

    /// Computes the share of a list of results. Failures don't count.
    public init<Output: Sendable>(_ results: [Result<Response<Output>, any Error>]) {
        self.init(results.compactMap { try? $0.get() })
    }
}
