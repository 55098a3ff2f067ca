public import Errand
import Synchronization

/// Changes the remaining steps of a list, from a step's callback.
///
/// Outside a callback, and after the chain has ended, methods are ignored and return `false` or 0.
public final class ChainEditor: Sendable {
    private struct State {
        var steps: ArraySlice<ChainStep>
        var isOpen = false
    }

    /// The activity of the running chain.
    public let activity: Activity
    private let state: Mutex<State>

    init(_ activity: Activity, _ steps: [ChainStep]) {
        self.activity = activity
        state = Mutex(State(steps: steps[...]))
    }

    /// The labels of the remaining steps, in order.
    public var pending: [String] { state.withLock { $0.steps.map(\.label) } }

    /// Adds a step at the end.
    @discardableResult
    public func append(_ step: ChainStep) -> Bool {
        state.withLock { state in
            if state.isOpen { state.steps.append(step) }
            return state.isOpen
        }
    }

    /// Inserts steps before the remaining steps.
    @discardableResult
    public func insert(_ steps: ChainStep...) -> Bool {
        state.withLock { state in
            if state.isOpen { state.steps = steps + state.steps }
            return state.isOpen
        }
    }

    /// Removes the remaining steps with a label. Returns how many it removed.
    @discardableResult
    public func remove(_ label: String) -> Int { remove { $0.label == label } }

    /// Removes all remaining steps, so the chain succeeds with the results so far. Returns how many it removed.
    @discardableResult
    public func removeAll() -> Int { remove { _ in true } }

    /// Cancels the chain. No further step begins, and the chain ends as cancelled.
    public func cancel() { activity.cancel() }

    private func remove(_ matches: (ChainStep) -> Bool) -> Int {
        state.withLock { state in
            guard state.isOpen else { return 0 }
            let before = state.steps.count
            state.steps.removeAll(where: matches)
            return before - state.steps.count
        }
    }

    func next() -> (step: ChainStep?, count: Int) {
        state.withLock { state in
            let count = state.steps.count
            return (state.steps.popFirst(), count)
        }
    }

    func open() { state.withLock { $0.isOpen = true } }

    func close() { state.withLock { $0.isOpen = false } }
}

extension Chain where Success == [ChainStepResult] {
    /// Creates a chain from a list of steps, whose callbacks may change the remaining steps. An empty chain succeeds at
    /// once.
    public init(_ label: String, steps list: [ChainStep]) {
        self.init(
            label,
            recorded: { steps, record in
                let editor = ChainEditor(steps.activity, list)
                var results: [ChainStepResult] = []
                record.progress.update(reporting: false) { $0.begin(0) }
                results.reserveCapacity(list.count)
                var (step, left) = editor.next()
                while let current = step {
                    results.append(try await current.run(results, record, editor))
                    (step, left) = editor.next()
                    let (done, all) = (results.count, results.count + left)
                    record.progress.update { $0.count(done, of: all) }
                    try Task.checkCancellation()
                }
                return results
            })
    }
}
