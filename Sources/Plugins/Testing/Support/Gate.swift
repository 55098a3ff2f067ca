import ErrandSupport

/// A latch between a test and the code that it tests: a task waits at it until the test opens it, and the test can
/// await its arrival.
///
/// ```swift
/// let gate = Gate()
/// server.on("/slow", .text("done").waiting(for: gate))
/// let task = Task { try await agent.send(GetSlow()) }
/// try await gate.reached()          // the request is at the server
/// task.cancel()
/// ```
///
/// An open gate stays open. Any number of tasks may use it at once, from any thread.
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var arrivals = 0
        var bells: [Bell] = []
    }

    private let state: Watched<State>

    /// Makes a gate, closed by default.
    public init(isOpen: Bool = false) { state = Watched(State(isOpen: isOpen)) }

    /// Lets all tasks pass that wait, and all that arrive later.
    public func open() {
        state.update { state in
            state.isOpen = true
            for bell in state.bells { bell.ring() }
            state.bells = []
        }
    }

    /// Whether the gate was opened.
    public var isOpen: Bool { state.read { $0.isOpen } }

    /// The number of arrivals so far, including those that have passed.
    public var arrivals: Int { state.read { $0.arrivals } }

    /// Waits at the gate. Throws ``WaitTimeout`` after `limit`, and `CancellationError`.
    public func wait(within limit: Duration = .seconds(300)) async throws {
        state.update { $0.arrivals += 1 }
        _ = try await state.wait(for: "a gate to open", within: limit) { $0.isOpen ? true : nil }
    }

    /// Waits until there are `count` arrivals. Throws ``WaitTimeout`` after `limit`, and `CancellationError`.
    public func reached(by count: Int = 1, within limit: Duration = .seconds(300)) async throws {
        _ = try await state.wait(for: "\(count) to reach a gate", within: limit) { $0.arrivals >= count ? true : nil }
    }

    /// Registers a descriptor that receives a byte when the gate opens; false if it is open already.
    func arrive(_ bell: Bell) -> Bool {
        state.update { state in
            state.arrivals += 1
            if !state.isOpen { state.bells.append(bell) }
            return !state.isOpen
        }
    }

    /// Removes the descriptor before it is closed.
    func leave(_ bell: Bell) { state.update { $0.bells.removeAll { $0 == bell } } }
}
