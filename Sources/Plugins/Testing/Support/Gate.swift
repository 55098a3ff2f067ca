import ErrandPlatform
import ErrandSupport

/// A latch for tests. Tasks wait at the gate until the test opens it, and the test can wait until tasks have arrived.
///
/// ```swift
/// let gate = Gate()
/// server.on("/slow", .text("done").waiting(for: gate))
/// let task = Task { try await agent.send(GetSlow()) }
/// try await gate.reached()          // the request is at the server
/// task.cancel()
/// ```
///
/// After it's opened, a gate stays open. Any number of tasks can use it, from any thread.
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var arrivals = 0
        var bells: [Bell] = []
    }

    private let state: Watched<State>

    /// Creates a gate. It's closed by default.
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

    /// The number of tasks that have arrived at the gate, including tasks that have passed it.
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

    /// Registers a bell that rings when the gate opens. Returns `false` if the gate is already open.
    func arrive(_ bell: Bell) -> Bool {
        state.update { state in
            state.arrivals += 1
            if !state.isOpen { state.bells.append(bell) }
            return !state.isOpen
        }
    }

    /// Removes a bell. Call this before closing the bell.
    func leave(_ bell: Bell) { state.update { $0.bells.removeAll { $0 == bell } } }
}
