import Errand
import ErrandEssentials
import ErrandTesting

/// An accessory that passes events on to the accessory under test and measures it. It can withhold or repeat some of
/// the events.
final class BenchForwarder: Accessory {
    struct Event: Sendable {
        let activity: Activity
        let event: ActivityEvent
    }

    enum Mode: Sendable { case all, withoutEnds, endsTwice }

    private struct State: Sendable {
        var uses: [String: [ThreadUse]] = [:]
        var events: [Event] = []
        var counts: [Activity.ID: Int] = [:]
        var isFlooded = false
    }

    private let accessory: any Accessory
    private let mode: Mode
    private let keepsEvents: Bool
    private let measures: Bool
    private let state = Watched(State())

    init(_ accessory: any Accessory, _ mode: Mode = .all, keepsEvents: Bool = false, measures: Bool = false) {
        (self.accessory, self.mode, self.keepsEvents, self.measures) = (accessory, mode, keepsEvents, measures)
    }

    var maximumBodyBytes: Int { accessory.maximumBodyBytes }
    var observesMessages: Bool { accessory.observesMessages }
    func observesNotes(of kind: ActivityKind) -> Bool { accessory.observesNotes(of: kind) }
    var isListening: Bool { accessory.isListening }
    var events: [Event] { state.read { $0.events } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let name = RecordingAccessory.name(of: event)
        let isEnd = name == "willStop" || name == "didStop"
        if isEnd, mode == .withoutEnds { return }
        // The number of events is limited, because an accessory may report another event for each event, in an endless
        // loop.
        let isFlooded = state.update { state in
            state.counts[activity.id, default: 0] += 1
            if state.counts[activity.id, default: 0] > 2_000 { state.isFlooded = true }
            if name == "didStop" { state.counts[activity.id] = nil }
            return state.isFlooded
        }
        if isFlooded { return }
        let use = ThreadUse.measured { accessory.activity(activity, did: event) }
        state.update { state in
            if measures { state.uses[Self.kind(of: event, name), default: []].append(use) }
            if keepsEvents { state.events.append(Event(activity: activity, event: event)) }
        }
        if isEnd, mode == .endsTwice { accessory.activity(activity, did: event) }
    }

    /// Returns a text for the kind of an event. It includes the outcome, because accessories can act on outcomes.
    private static func kind(of event: ActivityEvent, _ name: String) -> String {
        switch event {
        case .willStop(.failure), .didStop(.failure): "\(name) of a failure"
        case .willStop(.cancelled), .didStop(.cancelled): "\(name) of a cancellation"
        default: name
        }
    }

    var isFlooded: Bool { state.read { $0.isFlooded } }

    func worst(_ part: @Sendable (ThreadUse) -> Duration) -> (name: String, median: Duration)? {
        let medians = state.read { state in
            state.uses.filter { $0.value.count >= 20 }.map {
                (name: $0.key, median: part(ThreadUse.median(of: $0.value)))
            }
        }
        return medians.max { $0.median < $1.median }
    }
}
