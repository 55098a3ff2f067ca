import Errand

/// Counters and times of requests, host by host.
///
/// ```swift
/// let recorder = ExchangeRecorder(maximumExchanges: 0)          // counts, and keeps nothing else
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// A host is the one that the agent built the request for, before filters and redirects. The first hosts are counted
/// separately up to a limit; later ones are counted together under "other".
public struct NetworkMetrics: Sendable, Hashable {
    /// The counters by host in lower case; "none" for requests that had no valid URL.
    public private(set) var hosts: [String: HostMetrics] = [:]
    private let limit: Int

    /// Counters at zero.
    ///
    /// - Parameter maximumHosts: the number of hosts to count separately; 100 by default.
    public init(maximumHosts: Int = 100) { limit = max(1, maximumHosts) }

    /// The counters of some activities.
    public init(counting activities: some Sequence<RecordedActivity>, maximumHosts: Int = 100) {
        self.init(maximumHosts: maximumHosts)
        for activity in activities { add(activity) }
    }

    /// Counts an activity that has ended, if it is a request.
    public mutating func add(_ activity: RecordedActivity) {
        guard activity.kind == .request else { return }
        var host = activity.host ?? "none"
        if let index = hosts.index(forKey: host) { return hosts.values[index].add(activity) }
        if hosts.count >= limit { host = "other" }
        hosts[host, default: HostMetrics()].add(activity)
    }
}
