public import Errand

/// How many of several responses came from a cache.
///
/// ```swift
/// let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))
/// if CacheShare(user, feed) == .all { showAge() }
/// ```
public enum CacheShare: Sendable, Hashable {
    /// All responses came from a cache, and there was at least one response.
    case all
    /// At least one response came from a cache, but not all.
    case part
    /// None of the responses came from a cache.
    case nothing

    init(_ cached: Int, of count: Int) { self = cached == 0 ? .nothing : cached == count ? .all : .part }

    /// Creates the value that tells how many responses of a mixed batch came from a cache.
    public init<each Output: Sendable>(_ responses: repeat Response<each Output>) {
        var (cached, count) = (0, 0)
        for response in repeat each responses {
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Creates the value that tells how many results of a mixed batch came from a cache. Failures don't count.
    public init<each Output: Sendable>(_ results: repeat Result<Response<each Output>, any Error>) {
        var (cached, count) = (0, 0)
        for result in repeat each results {
            guard case .success(let response) = result else { continue }
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Creates the value that tells how many responses of a list came from a cache.
    public init<Output: Sendable>(_ responses: [Response<Output>]) {
        self.init(responses.count { $0.http.source.isStored }, of: responses.count)
    }

    /// Creates the value that tells how many results of a list came from a cache. Failures don't count.
    public init<Output: Sendable>(_ results: [Result<Response<Output>, any Error>]) {
        self.init(results.compactMap { try? $0.get() })
    }
}
