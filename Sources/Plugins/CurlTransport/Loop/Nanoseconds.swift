#if os(Linux) || os(Android)
import Errand

/// Functions for nanoseconds on the monotonic clock.
enum Nanoseconds {
    static let perSecond: UInt64 = 1_000_000_000
    private static let perMillisecond: UInt64 = 1_000_000

    /// Converts a duration. Limits the result to between 1 nanosecond and 100 years.
    static func of(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.bounded.components
        return max(1, UInt64(seconds) * perSecond + UInt64(attoseconds) / perSecond)
    }

    static func of(milliseconds: Int) -> UInt64 { UInt64(max(0, milliseconds)) * perMillisecond }

    /// Converts nanoseconds to milliseconds. Rounds up, as libcurl and epoll expect.
    static func milliseconds(_ nanoseconds: UInt64) -> Int {
        Int(min((nanoseconds + perMillisecond - 1) / perMillisecond, UInt64(Int32.max)))
    }

    static func sum(_ instant: UInt64, _ nanoseconds: UInt64) -> UInt64 {
        let (sum, isBeyond) = instant.addingReportingOverflow(nanoseconds)
        return isBeyond ? .max : sum
    }
}
#endif
