import Foundation

/// The cost of Core in a unit that you can compare across machines: **I**, the time of a task that starts immediately
/// and is empty, `await Task.immediate { @concurrent in }.value`.
///
/// Measures CPU time, because the machine may be shared. Takes rounds in turn and keeps the minimum, because noise only
/// ever adds time.
struct CostTable {
    private var best: [String: Double] = [:]
    private var order: [String] = []

    /// Takes one round: the CPU time of a body that repeats the measured code `count` times.
    mutating func take(_ name: String, _ count: Int, _ body: () async throws -> Void) async rethrows {
        if best[name] == nil { order.append(name) }
        let start = cpuTime()
        try await body()
        best[name] = min(best[name] ?? .infinity, (cpuTime() - start) / Double(count))
    }

    mutating func takeYardstick(_ count: Int) async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        await take(Self.yardstick, count) {
            for _ in 0..<count { await Task.immediate { @concurrent in }.value }
        }
    }

    private static let yardstick = "I: a task that does nothing"

    /// Nanoseconds of CPU time.
    subscript(name: String) -> Double { best[name] ?? .nan }

    func report() {
        for name in order { report(name, self[name]) }
    }

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
