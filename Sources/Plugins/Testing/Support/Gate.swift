import ErrandPlatform
import ErrandSupport

/// A latch for tests. Tasks wait until the test opens it, and the test can wait for their arrival.
///
/// ```swift
/// let gate = Gate()
/// server.on("/slow", .text("done").waiting(for: gate))
/// let task = Task { try await agent.send(GetSlow()) }
/// try await gate.reached()          // the request is at the server
/// task.cancel()
/// ```
///
/// A gate stays open. Any number of tasks can use it, from any thread.
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var arrivals = 0
        var bells: [Bell] = []
    }

    private let state: Watched<State>

    /// Creates a gate. By default, it's closed.
    public init(isOpen: Bool = false) { state = Watched(State(isOpen: isOpen)) }

    /// Opens the gate. Waiting tasks continue, and later tasks don't wait.
    public func open() {
        state.update { state in
            state.isOpen = true
            for bell in state.bells { bell.ring() }
            state.bells = []
        }
    }

    /// Whether the gate is open.
    public var isOpen: Bool { state.read { $0.isOpen } }

    /// The number of tasks that have arrived, including tasks that have passed.
    public var arrivals: Int { state.read { $0.arrivals } }

    /// Waits until the gate opens. Throws ``WaitTimeout`` after `limit`, and `CancellationError` if the task is
    /// cancelled.
    public func wait(within limit: Duration = .seconds(300)) async throws {
        state.update { $0.arrivals += 1 }
        _ = try await state.wait(for: "a gate to open", within: limit) { $0.isOpen ? true : nil }
    }

    /// Waits until `count` tasks have arrived. Throws ``WaitTimeout`` after `limit`, and `CancellationError` if the
    /// task is cancelled.
    public func reached(by count: Int = 1, within limit: Duration = .seconds(300)) async throws {
        _ = try await state.wait(for: "\(count) arrivals at a gate", within: limit) {
            $0.arrivals >= count ? true : nil
        }
    }

    /// Returns `false` if the gate is open. Otherwise, rings the bell when the gate opens.
    func arrive(_ bell: Bell) -> Bool {
        state.update { state in
            state.arrivals += 1
            if !state.isOpen { state.bells.append(bell) }
            return !state.isOpen
        }
    }

    /// Call this before closing the bell.
    func leave(_ bell: Bell) { state.update { $0.bells.removeAll { $0 == bell } } }
}
