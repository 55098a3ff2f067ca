import Synchronization

package struct CompileBudget {
    static let pattern = CompileBudget(steps: 2_000_000, bytes: 16 << 20)

    private(set) var steps: Int
    package private(set) var bytes: Int
    private let limits: (steps: Int, bytes: Int)

    package init(steps: Int, bytes: Int) {
        limits = (max(0, steps), max(0, bytes))
        (self.steps, self.bytes) = limits
    }

    package var excess: String {
        if steps < 0 { return "needs more than \(limits.steps) steps to compile" }
        return "needs more than \(limits.bytes) bytes when compiled"
    }

    package mutating func spend(steps: Int, bytes: Int = 0) -> Bool {
        self.steps -= steps
        self.bytes -= bytes
        return self.steps >= 0 && self.bytes >= 0
    }
}

package final class PatternRoom: Sendable {
    private let left = Atomic(16 << 20)

    package init() {}

    func take(_ bytes: Int) -> Bool {
        let (before, _) = left.subtract(bytes, ordering: .relaxed)
        if before >= bytes { return true }
        left.add(bytes, ordering: .relaxed)
        return false
    }
}
