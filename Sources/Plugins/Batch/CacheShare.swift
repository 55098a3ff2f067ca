public import Errand

/// Tells whether all, some or none of a group of responses came from a cache.
///
/// ```swift
/// let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))
/// if CacheShare(user, feed) == .all { showAge() }
/// ```
public enum CacheShare: Sendable, Hashable {
    /// All responses came from a cache, and the group wasn't empty.
    case all
    /// Some responses came from a cache, but not all.
    case part
    /// No response came from a cache.
    case nothing

    init(_ cached: Int, of count: Int) { self = cached == 0 ? .nothing : cached == count ? .all : .part }

    /// Creates a share from the responses of a batch of different types.
    public init<each Output: Sendable>(_ responses: repeat Response<each Output>) {
        var (cached, count) = (0, 0)
        for response in repeat each responses {
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Creates a share from the results of a batch of different types. Ignores failures.
    public init<each Output: Sendable>(_ results: repeat Result<Response<each Output>, any Error>) {
        var (cached, count) = (0, 0)
        for result in repeat each results {
            guard case .success(let response) = result else { continue }
            count += 1
            if response.http.source.isStored { cached += 1 }
        }
        self.init(cached, of: count)
    }

    /// Creates a share from a list of responses.
    public init<Output: Sendable>(_ responses: [Response<Output>]) {
        self.init(responses.count { $0.http.source.isStored }, of: responses.count)
    }

    /// Creates a share from a list of results. Ignores failures.
    public init<Output: Sendable>(_ results: [Result<Response<Output>, any Error>]) {
        self.init(results.compactMap { try? $0.get() })
    }
}
