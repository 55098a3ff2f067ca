import Errand

/// Counters and times of requests, host by host.
///
/// ```swift
/// let recorder = ExchangeRecorder(keeping: 0)          // counts, and keeps nothing else
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// A host is what the agent built the request for, before filters and redirects. The first hosts are counted separately up to a
/// limit; those that come later count together under "other".
public struct NetworkMetrics: Sendable, Hashable {
    /// The counters by host in lower case; "none" for requests that had no valid URL.
    public private(set) var hosts: [String: HostMetrics] = [:]
    private let limit: Int

    /// Counters at zero.
    ///
    /// - Parameter limit: how many hosts to count separately; 100 by default.
    public init(hosts limit: Int = 100) { self.limit = max(1, limit) }

    /// The counters of some activities.
    public init(counting activities: some Sequence<RecordedActivity>, hosts limit: Int = 100) {
        self.init(hosts: limit)
        for activity in activities { add(activity) }
    }

    /// Counts an activity that has ended, if it is a request.
    public mutating func add(_ activity: RecordedActivity) {
        guard activity.kind == .request else { return }
        var host = activity.host ?? "none"
        if hosts[host] == nil, hosts.count >= limit { host = "other" }
        hosts[host, default: HostMetrics()].add(activity)
    }
}
