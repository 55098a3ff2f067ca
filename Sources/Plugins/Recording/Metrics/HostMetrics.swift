import Errand

/// Counters and times of the requests to one host.
public struct HostMetrics: Sendable, Hashable {
    /// Requests that have ended: succeeded, failed and cancelled.
    public private(set) var requests = 0
    /// Requests that succeeded.
    public private(set) var succeeded = 0
    /// Requests that were cancelled.
    public private(set) var cancelled = 0
    /// Requests that failed, by the code of an ``Errand/ErrandError`` or the type of another error; beyond 50 kinds all
    /// others count as "other".
    public private(set) var failures: [String: Int] = [:]
    /// Responses that were stored before, for example by a cache.
    public private(set) var cacheHits = 0
    /// Body bytes sent on the wire, as far as the transport reported them.
    public private(set) var bytesSent: Int64 = 0
    /// Body bytes received on the wire, as far as the transport reported them.
    public private(set) var bytesReceived: Int64 = 0
    private var times = Histogram()

    /// Requests that failed, of all kinds.
    public var failed: Int { failures.values.reduce(0, +) }

    /// The time within which this percentage of the requests succeeded or failed, at most an eighth too long; nil if
    /// none did.
    ///
    /// ```swift
    /// recorder.metrics.hosts["api.example.com"]?.percentile(99)
    /// ```
    ///
    /// - Parameter percent: from 0 to 100. Cancelled requests and responses from a cache do not count.
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
