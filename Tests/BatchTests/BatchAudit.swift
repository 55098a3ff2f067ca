import Errand
import ErrandBatch
import Synchronization

/// Checks one batch and its parts: each starts once and ends once, in order, and the batch ends last.
final class BatchAudit: Accessory {
    private enum Phase { case runs, stops, over }

    private struct State {
        var phases: [Activity.ID: Phase] = [:]
        var whole: Activity?
        var open = 0
        var outcome: ActivityOutcome?
        var problems: [String] = []
    }

    private let state = Mutex(State())

    var started: Int { state.withLock { $0.phases.count - 1 } }
    var isOver: Bool { state.withLock { state in state.whole.map { state.phases[$0.id] == .over } ?? false } }
    var outcome: ActivityOutcome? { state.withLock { $0.outcome } }

    var problems: [String] {
        state.withLock { state in
            state.problems + (state.open == 0 ? [] : ["\(state.open) have no end"])
        }
    }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        state.withLock { state in
            let isWhole = activity.kind == .batch
            let phase = state.phases[activity.id]
            switch event {
            case .willStart:
                if phase != nil { state.problems.append("\(activity) started twice") }
                if isWhole, state.whole == nil { state.whole = activity }
                if !isWhole, activity.parent != state.whole?.id { state.problems.append("\(activity) has no parent") }
                if state.outcome != nil { state.problems.append("\(activity) started after the end") }
                state.phases[activity.id] = .runs
                state.open += 1
            case .willStop(let outcome):
                if phase != .runs { state.problems.append("\(activity) stops, but was \(phase, default: "nothing")") }
                state.phases[activity.id] = .stops
                guard isWhole else { return }
                if state.open != 1 { state.problems.append("the whole ends before \(state.open - 1) parts") }
                state.outcome = outcome
            case .didStop:
                if phase != .stops {
                    state.problems.append("\(activity) is over, but was \(phase, default: "nothing")")
                }
                state.phases[activity.id] = .over
                state.open -= 1
            default:
                if phase != .runs { state.problems.append("\(activity) reported something after its end") }
            }
        }
    }
}
