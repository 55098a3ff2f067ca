import Errand

/// Counters and response times by host.
///
/// ```swift
/// let recorder = ExchangeRecorder(maximumExchanges: 0)          // only counts
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [recorder])
/// recorder.metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// A request counts for the host in the URL that the agent built, before filters and redirects. Hosts above the limit
/// are counted together as "other".
public struct NetworkMetrics: Sendable, Hashable {
    /// The counters by lowercase host. Requests without a valid URL count under "none".
    public private(set) var hosts: [String: HostMetrics] = [:]
    private let limit: Int

    /// Creates counters that start at zero.
    ///
    /// - Parameter maximumHosts: The number of hosts with separate counters. Defaults to 100.
    public init(maximumHosts: Int = 100) { limit = max(1, maximumHosts) }

    /// Counts finished activities, for example of a recording.
    public init(counting activities: some Sequence<RecordedActivity>, maximumHosts: Int = 100) {
        self.init(maximumHosts: maximumHosts)
        for activity in activities { add(activity) }
    }

    /// Counts an activity, if it's a request.
    public mutating func add(_ activity: RecordedActivity) {
        guard activity.kind == .request else { return }
        var host = activity.host ?? "none"
        if let index = hosts.index(forKey: host) { return hosts.values[index].add(activity) }
        if hosts.count >= limit { host = "other" }
        hosts[host, default: HostMetrics()].add(activity)
    }
}

/// One host's counters and response times.
public struct HostMetrics: Sendable, Hashable {
    /// The number of finished requests: succeeded, failed or cancelled.
    public private(set) var requests = 0
    /// The number of succeeded requests.
    public private(set) var succeeded = 0
    /// The number of cancelled requests.
    public private(set) var cancelled = 0
    /// The number of failed requests, by the code of an ``Errand/ErrandError`` or by the error's type. Above 50 kinds,
    /// further ones count as "other".
    public private(set) var failures: [String: Int] = [:]
    /// The number of responses from a cache or another store.
    public private(set) var cacheHits = 0
    /// The number of body bytes that the transport reported as sent.
    public private(set) var bytesSent: Int64 = 0
    /// The number of body bytes that the transport reported as received.
    public private(set) var bytesReceived: Int64 = 0
    private var times = Histogram()

    /// The number of failed requests of all kinds.
    public var failed: Int { failures.values.reduce(0, +) }

    /// Returns the time within which this percentage of requests succeeded or failed. Nil without such requests. At
    /// most an eighth too long.
    ///
    /// ```swift
    /// recorder.metrics.hosts["api.example.com"]?.percentile(99)
    /// ```
    ///
    /// - Parameter percent: From 0 to 100. Cancelled requests and cached responses don't count.
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

/// Counts numbers in eight buckets per power of two. Uses at most two kilobytes.
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
