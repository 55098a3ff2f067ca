/// Counters and times of the requests to one host.
public struct HostMetrics: Sendable, Hashable {
    /// Requests that ended, however they did.
    public internal(set) var requests = 0
    public internal(set) var succeeded = 0
    public internal(set) var cancelled = 0
    /// By the code of an ``Errand/ErrandError``, or the type of another error; past 50 kinds all count as "other".
    public internal(set) var failures: [String: Int] = [:]
    /// Answers that came from a cache.
    public internal(set) var cacheHits = 0
    /// Body bytes on the wire, as far as the transport told.
    public internal(set) var bytesSent: Int64 = 0
    public internal(set) var bytesReceived: Int64 = 0
    private var times = Histogram()

    /// All kinds together.
    public var failed: Int { failures.values.reduce(0, +) }

    /// The time within which so many of a hundred succeeded or failed, an eighth too long at the most; nil if none did.
    ///
    /// ```swift
    /// metrics.hosts["api.example.com"]?.percentile(99)
    /// ```
    ///
    /// - Parameter percent: from 0 to 100. Cancelled requests and answers from a cache do not count.
    public func percentile(_ percent: Double) -> Duration? {
        times.percentile(percent).map { .microseconds($0) }
    }

    init() {}

    mutating func count(failure: String) {
        let name = failures.count < 50 || failures[failure] != nil ? failure : "other"
        failures[name, default: 0] += 1
    }

    mutating func count(time: Duration) { times.add(UInt64(max(0, time / .microseconds(1)))) }
}

/// Numbers in buckets that are an eighth wide, so that any number of them takes two kilobytes.
struct Histogram: Sendable, Hashable {
    private var buckets: [UInt32] = []
    private var count = 0

    mutating func add(_ value: UInt64) {
        let bucket = Self.bucket(min(value, 1 << 40))
        if bucket >= buckets.count { buckets += Array(repeating: 0, count: bucket + 1 - buckets.count) }
        buckets[bucket] &+= 1
        count += 1
    }

    /// The upper end of the bucket in which it is.
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

    /// Eight buckets for each doubling.
    static func bucket(_ value: UInt64) -> Int {
        if value < 8 { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 2) * 8 + Int((value >> UInt64(exponent - 3)) & 7)
    }

    /// The greatest value that goes into a bucket.
    static func end(of bucket: Int) -> UInt64 {
        if bucket < 8 { return UInt64(bucket) }
        let exponent = bucket / 8 + 2
        return ((UInt64(bucket % 8) + 9) << UInt64(exponent - 3)) - 1
    }
}
