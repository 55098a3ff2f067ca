import Errand
import ErrandSupport
import Synchronization

/// What one sending of a chain remembers: the number of steps, which failed, which run, and how far they are.
final class ChainRecord: Sendable {
    struct Step: Sendable {
        /// From 1.
        let number: Int
        let label: String
        let request: (any Request)?
    }

    private struct State {
        var steps = 0
        var failures: [(step: Step, error: any Error)] = []
        var running: [Activity.ID: Activity] = [:]
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// A chain that goes on after failures remembers the last ones only.
    private static let maximumFailures = 16

    private let activity: Activity
    private let state = Mutex(State())
    private let progress: NewsTeller<ChainProgress, TransferProgress>

    init(_ activity: Activity) {
        self.activity = activity
        progress = NewsTeller(ChainProgress(), news: \.whole) { [activity] in activity.report(.progress($0)) }
    }

    /// Throws if the chain has ended or was cancelled.
    func check() throws { try state.withLock { try check($0) } }

    private func check(_ state: borrowing State) throws {
        if state.isClosed { throw ErrandError(.activityEnded, "the chain had ended before this step was sent") }
        if activity.isCancelled { throw CancellationError() }
    }

    func begin(_ label: String, _ request: (any Request)?) throws -> Step {
        let step = try state.withLock { state in
            try check(state)
            state.steps += 1
            return Step(number: state.steps, label: label, request: request)
        }
        activity.note("chain", "step \(step.number): \(label)")
        return step
    }

    func fail(_ step: Step, _ error: any Error) {
        if error.isCancellation { return }
        state.withLock { state in
            if state.failures.count == Self.maximumFailures { state.failures.removeFirst() }
            state.failures.append((step, error))
        }
    }

    /// An error of the body's as the chain's: a step's failure is named, a cancellation and an error of the body's own
    /// stay what they are. An error that crossed the body has lost where it came from, so it is known by its type and
    /// its text; of several such steps the last counts.
    func explained(_ error: any Error, chain label: String) -> any Error {
        if error.isCancellation { return error }
        let text = String(describing: error)
        let failure = state.withLock { $0.failures }.last {
            type(of: $0.error) == type(of: error) && String(describing: $0.error) == text
        }
        guard let failure else { return error }
        return ChainError(chain: label, failure.step, error)
    }

    /// How many of how many steps of a list are done.
    func count(_ done: Int, of all: Int) { progress.change { $0.count(done, of: all) } }

    /// Lets nothing more begin, cancels what still runs and waits for its end.
    func close() async {
        state.withLock { $0.isClosed = true }
        cancelSteps()
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if !state.running.isEmpty { state.waiter = continuation }
                return !state.running.isEmpty
            }
            if !waits { continuation.resume() }
        }
        await progress.allTold()
    }

    /// Also those that were started and whose task the chain's does not cancel.
    func cancelSteps() {
        for step in state.withLock({ Array($0.running.values) }) { step.cancel() }
    }

    /// Watches the steps.
    var watcher: any Accessory { Watcher(record: self, chain: activity.id) }

    private struct Watcher: Accessory {
        let record: ChainRecord
        let chain: Activity.ID

        func activity(_ activity: Activity, did event: ActivityEvent) {
            // Work that a step detaches has its accessories, and is no step: it may outlive the chain.
            guard activity.parent == chain else { return }
            switch event {
            case .willStart: record.enter(activity)
            case .transport(.progress(let told)): record.progress.change { $0.update(activity.id, told) }
            case .didStop: record.leave(activity)
            default: break
            }
        }
    }

    private func enter(_ step: Activity) {
        let isClosed = state.withLock { state in
            state.running[step.id] = step
            return state.isClosed
        }
        if isClosed || activity.isCancelled { step.cancel() }
    }

    private func leave(_ step: Activity) {
        progress.prepare { $0.end(step.id) }
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.running[step.id] = nil
            guard state.running.isEmpty else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

extension Error {
    /// Whether it says that somebody gave up.
    var isCancellation: Bool { self is CancellationError || (self as? ErrandError)?.isCancelled == true }
}
