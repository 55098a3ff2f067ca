import Synchronization

/// Limits how many tests run at the same time.
///
/// Swift Testing starts all of them at once. With more than a thousand under way, a step of any of them waits a minute for
/// its turn on a machine of two cores: kept connections expire between two lines of a test, and servers close them.
final class TestSlots: Sendable {
    static let shared = TestSlots(24)

    private struct State {
        var free: Int
        /// Those that wait, the first one first.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Runs a test when it has a slot. One that runs within another test, which has one, does not wait.
    func run(_ test: @Sendable @concurrent () async throws -> Void) async throws {
        if Self.isTaken { return try await test() }
        await take()
        defer { giveBack() }
        try await Self.$isTaken.withValue(true, operation: test)
    }

    @TaskLocal private static var isTaken = false

    private func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
