import Errand
import ErrandSupport
import Synchronization

/// What one sending of a chain remembers: the number of steps, which failed, which run, and how far they are.
final class ChainRecord: Sendable {
    struct Step: Sendable {
        /// From 0.
        let index: Int
        private let given: String?
        private let kind: ActivityKind
        let request: (any Request)?

        init(_ index: Int, _ given: String?, _ kind: ActivityKind, _ request: (any Request)?) {
            (self.index, self.given, self.kind, self.request) = (index, given, kind, request)
        }

        /// That of the call, else the request's, else the request's type, else the kind of composite.
        var label: String {
            given ?? request.map { $0.label ?? "\(type(of: $0))" } ?? kind.rawValue
        }
    }

    private struct State {
        var steps = 0
        /// Steps that are being sent.
        var sending = 0
        /// Steps that were started, and may go on while nobody awaits them.
        var running: [Activity.ID: Activity] = [:]
        var failures: [(step: Step, error: any Error)] = []
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?

        var isQuiet: Bool { sending == 0 && running.isEmpty }
    }

    /// A chain that goes on after failures remembers the last ones only.
    private static let maximumFailures = 16

    private let activity: Activity
    private let state = Mutex(State())
    private let progress: LatestValueNotifier<ChainProgress, TransferProgress>

    init(_ activity: Activity) {
        self.activity = activity
        progress = LatestValueNotifier(ChainProgress(), value: \.whole) { [activity] in activity.report(.progress($0)) }
    }

    /// Throws if the chain has ended or was cancelled.
    func check() throws { try state.withLock { try check($0) } }

    private func check(_ state: borrowing State) throws {
        if state.isClosed { throw ErrandError(.activityEnded, "the chain had ended before this step was sent") }
        if activity.isCancelled { throw CancellationError() }
    }

    func begin(
        _ label: String?, _ kind: ActivityKind, _ request: (any Request)?, isSent: Bool = false
    ) throws -> Step {
        let step = try state.withLock { state in
            try check(state)
            defer { state.steps += 1 }
            if isSent { state.sending += 1 }
            return Step(state.steps, label, kind, request)
        }
        progress.changeSilently { $0.begin(step.index) }
        activity.note("chain", "step \(step.index): \(step.label)")
        return step
    }

    /// A step that was sent has come back.
    func end(_ step: Step) {
        progress.changeSilently { $0.end(step.index) }
        leave { $0.sending -= 1 }
    }

    func fail(_ step: Step, _ error: any Error) {
        if error.isCancellation { return }
        state.withLock { state in
            if state.failures.count == Self.maximumFailures { state.failures.removeFirst() }
            state.failures.append((step, error))
        }
    }

    /// An error of the body's as the chain's: a step's failure is named, a cancellation and an error of the body's own
    /// stay what they are. A step's failure is known by its identity, so that neither another that reads the same nor
    /// the order of several that fail at once matters.
    func explained(_ error: any Error, chain label: String) -> any Error {
        if error.isCancellation { return error }
        let failure = state.withLock { $0.failures }.last { ThrownError($0.error).isSame(as: error) }
        guard let failure else { return error }
        return ChainError(chain: label, failure.step, error)
    }

    /// How many of how many steps of a list are done.
    func count(_ done: Int, of all: Int) { progress.change { $0.count(done, of: all) } }

    /// Lets nothing more begin, cancels what was started and still runs, and waits for the end of that and of what is
    /// being sent.
    func close() async {
        let isQuiet = state.withLock { state in
            state.isClosed = true
            return state.isQuiet
        }
        if !isQuiet {
            cancelSteps()
            await quiet()
        }
        await progress.allDelivered()
    }

    private func quiet() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if !state.isQuiet { state.waiter = continuation }
                return state.isQuiet
            }
            if isQuiet { continuation.resume() }
        }
    }

    /// Also those that were started and whose task the chain's does not cancel.
    func cancelSteps() {
        for step in state.withLock({ Array($0.running.values) }) { step.cancel() }
    }

    /// Listens to a step.
    func listener(of step: Step) -> @Sendable (TransferProgress) -> Void {
        { [progress, index = step.index] told in progress.change { $0.update(index, told) } }
    }

    /// Watches a step that is started.
    func watcher(of step: Step) -> any Accessory { Watcher(record: self, chain: activity.id, index: step.index) }

    private struct Watcher: Accessory {
        let record: ChainRecord
        let chain: Activity.ID
        let index: Int

        func activity(_ activity: Activity, did event: ActivityEvent) {
            // Work that a step detaches has its accessories, and is no step: it may outlive the chain.
            guard activity.parent == chain else { return }
            switch event {
            case .willStart: record.enter(activity)
            case .didStop:
                record.progress.changeSilently { $0.end(index) }
                record.leave { $0.running[activity.id] = nil }
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

    private func leave(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard state.isQuiet else { return nil }
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
