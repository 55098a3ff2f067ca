import Errand

/// Counters and response times for each host.
///
/// ```swift
/// let recorder = ExchangeRecorder(maximumExchanges: 0)          // only counts
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// A request counts for the host in the URL that the agent built. Filters and redirects can send the request to another
/// host, which doesn't matter here. If there are more hosts than the limit, the further hosts are counted together as
/// "other".
public struct NetworkMetrics: Sendable, Hashable {
    /// The counters. The keys are lowercase host names. Requests without a valid URL count under "none".
    public private(set) var hosts: [String: HostMetrics] = [:]
    private let limit: Int

    /// Creates counters that start at zero.
    ///
    /// - Parameter maximumHosts: The maximum number of hosts with separate counters. Defaults to 100.
    public init(maximumHosts: Int = 100) { limit = max(1, maximumHosts) }

    /// Creates counters from finished activities, for example from a recording.
    public init(counting activities: some Sequence<RecordedActivity>, maximumHosts: Int = 100) {
        self.init(maximumHosts: maximumHosts)
        for activity in activities { add(activity) }
    }

    /// Counts an activity if it's a request. Ignores other activities.
    public mutating func add(_ activity: RecordedActivity) {
        guard activity.kind == .request else { return }
        var host = activity.host ?? "none"
        if let index = hosts.index(forKey: host) { return hosts.values[index].add(activity) }
        if hosts.count >= limit { host = "other" }
        hosts[host, default: HostMetrics()].add(activity)
    }
}

/// The counters and response times of a host.
public struct HostMetrics: Sendable, Hashable {
    /// The number of requests that succeeded, failed or were cancelled.
    public private(set) var requests = 0
    /// The number of requests that succeeded.
    public private(set) var succeeded = 0
    /// The number of requests that were cancelled.
    public private(set) var cancelled = 0
    /// The number of requests that failed, for each kind of failure. A kind is the code of an ``Errand/ErrandError``,
    /// or the type of another error. If there are more than 50 kinds, the further kinds count as "other".
    public private(set) var failures: [String: Int] = [:]
    /// The number of responses from a cache or another store.
    public private(set) var cacheHits = 0
    /// The number of body bytes that the transport reported as sent.
    public private(set) var bytesSent: Int64 = 0
    /// The number of body bytes that the transport reported as received.
    public private(set) var bytesReceived: Int64 = 0
    private var times = Histogram()

    /// The number of all requests that failed.
    public var failed: Int { failures.values.reduce(0, +) }

    /// Returns the time within which this percentage of requests succeeded or failed. The result is at most an eighth
    /// too long. Returns nil before the first such request.
    ///
    /// ```swift
    /// recorder.metrics.hosts["api.example.com"]?.percentile(99)
    /// ```
    ///
    /// - Parameter percent: A percentage from 0 to 100. Cancelled requests and cached responses don't count.
    public func percentile(_ percent: Double) -> Duration? {
        times.percentile(percent).map { .microseconds($0) }
    }

    init() {}

    mutating func add(_ activity: RecordedActivity) {
        requests += 1
        bytesSent &+= activity.bytesSent
        bytesReceived &+= activity.bytesReceived
        switch activity.outcome {
        case .success:
            succeeded += 1
            if activity.source?.isStored == true { cacheHits += 1 } else { count(time: activity.duration) }
        case .failure(let name):
            count(failure: name)
            count(time: activity.duration)
        case .cancelled: cancelled += 1
        }
    }

    mutating func count(failure: String) {
        let name = failures.count < 50 || failures[failure] != nil ? failure : "other"
        failures[name, default: 0] += 1
    }

    private mutating func count(time: Duration) { times.add(UInt64(min(max(0, time / .microseconds(1)), 1e15))) }
}

/// A histogram with eight buckets per power of two. It uses at most two kilobytes.
struct Histogram: Sendable, Hashable {
    private var buckets: [UInt32] = []
    private var count = 0

    mutating func add(_ value: UInt64) {
        let bucket = Self.bucket(min(value, 1 << 40))
        if bucket >= buckets.count { buckets += Array(repeating: 0, count: bucket + 1 - buckets.count) }
        buckets[bucket] &+= 1
        count += 1
    }

    func percentile(_ percent: Double) -> UInt64? {
        guard count > 0, !percent.isNaN else { return nil }
        let rank = max(1, Int((Double(count) * min(max(percent, 0), 100) / 100).rounded(.up)))
        var seen = 0
        for (bucket, number) in buckets.enumerated() {
            seen += Int(number)
            if seen >= rank { return Self.end(of: bucket) }
        }
        return nil
    }

    static func bucket(_ value: UInt64) -> Int {
        if value < 8 { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 2) * 8 + Int((value >> UInt64(exponent - 3)) & 7)
    }

    static func end(of bucket: Int) -> UInt64 {
        if bucket < 8 { return UInt64(bucket) }
        let exponent = bucket / 8 + 2
        return ((UInt64(bucket % 8) + 9) << UInt64(exponent - 3)) - 1
    }
}
