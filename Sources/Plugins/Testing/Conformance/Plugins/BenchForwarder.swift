import Errand
import ErrandEssentials

/// Stands between an agent and an accessory: measures it, or keeps events from it.
final class BenchForwarder: Accessory {
    struct Event: Sendable {
        let activity: Activity
        let event: ActivityEvent
    }

    /// What happens to the events.
    enum Mode: Sendable { case all, withoutEnds, endsTwice }

    private struct State: Sendable {
        /// How long each event kept the thread without using it, by the name of the event.
        var blocked: [String: [Duration]] = [:]
        var events: [Event] = []
    }

    private let accessory: any Accessory
    private let mode: Mode
    private let keepsEvents: Bool
    private let state = Watched(State())

    init(_ accessory: any Accessory, _ mode: Mode = .all, keepsEvents: Bool = false) {
        (self.accessory, self.mode, self.keepsEvents) = (accessory, mode, keepsEvents)
    }

    var bodyByteLimit: Int { accessory.bodyByteLimit }
    var isListening: Bool { accessory.isListening }
    var events: [Event] { state.read { $0.events } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let name = RecordingAccessory.name(of: event)
        let isEnd = name == "willStop" || name == "didStop"
        if isEnd, mode == .withoutEnds { return }
        let (begin, used) = (ContinuousClock.now, POSIX.threadTime())
        accessory.activity(activity, did: event)
        let blocked = (ContinuousClock.now - begin) - (POSIX.threadTime() - used)
        state.update { state in
            state.blocked[name, default: []].append(blocked)
            if keepsEvents { state.events.append(Event(activity: activity, event: event)) }
        }
        if isEnd, mode == .endsTwice { accessory.activity(activity, did: event) }
    }

    /// The event that blocks most, by the median, which what else the machine does cannot move.
    var worst: (name: String, median: Duration)? {
        let medians = state.read { state in
            state.blocked.filter { $0.value.count >= 20 }.map {
                (name: $0.key, median: $0.value.sorted()[$0.value.count / 2])
            }
        }
        return medians.max { $0.median < $1.median }
    }
}
