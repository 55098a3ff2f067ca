#if os(Linux)
/// The time at which the loop's present round of work began, where C code can read it too.
final class RoundClock {
    let time: UnsafeMutablePointer<UInt64>

    init() {
        time = .allocate(capacity: 1)
        time.initialize(to: Nanoseconds.now)
    }

    deinit { time.deallocate() }
}
#endif
