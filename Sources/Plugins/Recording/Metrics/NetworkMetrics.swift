import Errand

/// The counters and response times of requests, by host.
///
/// ```swift
/// let recorder = ExchangeRecorder(maximumExchanges: 0)          // only counts
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// Requests count for the host in the URL that the agent built, before filters and redirects. The first hosts get
/// separate counters, up to a limit. Later hosts are counted together as "other".
public struct NetworkMetrics: Sendable, Hashable {
    /// The counters by lowercase host. Requests without a valid URL count under "none".
    public private(set) var hosts: [String: HostMetrics] = [:]
    private let limit: Int

    /// Creates counters that start at zero.
    ///
    /// - Parameter maximumHosts: the number of hosts with separate counters. Defaults to 100.
    public init(maximumHosts: Int = 100) { limit = max(1, maximumHosts) }

    /// Creates the counters of finished activities.
    public init(counting activities: some Sequence<RecordedActivity>, maximumHosts: Int = 100) {
        self.init(maximumHosts: maximumHosts)
        for activity in activities { add(activity) }
    }

    /// Counts a finished activity, if it is a request.
    public mutating func add(_ activity: RecordedActivity) {
        guard activity.kind == .request else { return }
        var host = activity.host ?? "none"
        if let index = hosts.index(forKey: host) { return hosts.values[index].add(activity) }
        if hosts.count >= limit { host = "other" }
        hosts[host, default: HostMetrics()].add(activity)
    }
}
