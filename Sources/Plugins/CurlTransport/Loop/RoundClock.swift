#if os(Linux) || os(Android)
/// The time at which the loop's current round of work began, readable by C code too.
final class RoundClock {
    let time: UnsafeMutablePointer<UInt64>

    init() {
        time = .allocate(capacity: 1)
        time.initialize(to: Nanoseconds.now)
    }

    deinit { time.deallocate() }
}
#endif
