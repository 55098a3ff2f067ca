/// Numbers in buckets that are an eighth wide, in two kilobytes for any number of them.
struct Histogram: Sendable, Hashable {
    private var buckets: [UInt32] = []
    private var count = 0

    mutating func add(_ value: UInt64) {
        let bucket = Self.bucket(min(value, 1 << 40))
        if bucket >= buckets.count { buckets += Array(repeating: 0, count: bucket + 1 - buckets.count) }
        buckets[bucket] &+= 1
        count += 1
    }

    /// The upper end of the bucket that holds the percentile; nil without a number.
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

    /// The greatest value in a bucket.
    static func end(of bucket: Int) -> UInt64 {
        if bucket < 8 { return UInt64(bucket) }
        let exponent = bucket / 8 + 2
        return ((UInt64(bucket % 8) + 9) << UInt64(exponent - 3)) - 1
    }
}
