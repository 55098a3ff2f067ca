import Foundation

/// What Core costs, in a unit that travels from machine to machine: **I**, the time of a task that begins at once and does
/// nothing, `await Task.immediate { @concurrent in }.value`.
///
/// CPU time, since the machine may be shared, and of rounds that are taken in turn the minimum, since nothing can make
/// code faster than it is.
struct CostTable {
    private var best: [String: Double] = [:]
    private var order: [String] = []

    /// One round: the CPU time of a body that repeats what it measures `count` times.
    mutating func take(_ name: String, _ count: Int, _ body: () async throws -> Void) async rethrows {
        if best[name] == nil { order.append(name) }
        let start = cpuTime()
        try await body()
        best[name] = min(best[name] ?? .infinity, (cpuTime() - start) / Double(count))
    }

    /// One round of the yardstick.
    mutating func takeYardstick(_ count: Int) async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        await take(Self.yardstick, count) {
            for _ in 0..<count { await Task.immediate { @concurrent in }.value }
        }
    }

    private static let yardstick = "I: a task that does nothing"

    /// Nanoseconds of CPU time.
    subscript(name: String) -> Double { best[name] ?? .nan }

    /// A line a name, in nanoseconds and in I.
    func report() {
        for name in order { report(name, self[name]) }
    }

    /// A line for a figure that was computed of others.
    func report(_ name: String, _ nanoseconds: Double) {
        let inI = nanoseconds / self[Self.yardstick]
        print("\(Rounds.pad(name, 44)) \(Rounds.number(nanoseconds)) ns  \(Rounds.number(inI)) I")
    }

    private func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
