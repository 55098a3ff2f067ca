public import Errand

/// An accessory that records its events in order, for tests.
///
/// ```swift
/// let recording = RecordingAccessory()
/// let agent = NetworkAgent(baseURL: url, transport: .stub(.text("ok")), accessories: [recording])
/// _ = try await agent.send(Get())
/// try await recording.waitUntilQuiet()
/// recording.names()       // ["willStart", "built", "sending", "received", "willStop", "didStop"]
/// recording.problems()    // [] if every activity began and ended once and in order
/// ```
///
/// Records don't contain the streams of bodies, because keeping a stream would keep its transfer alive.
public final class RecordingAccessory: Accessory {
    /// An event that was recorded, with its activity.
    public struct Record: Sendable {
        /// The number of the activity.
        public let activity: Activity.ID
        /// The ID of the activity that contains this activity, such as a batch. It's `nil` if the activity isn't part
        /// of another.
        public let parent: Activity.ID?
        /// The activity's kind, such as a request or a batch.
        public let kind: ActivityKind
        /// The activity's name in logs.
        public let label: String
        /// The event. Streams in it are replaced by empty bodies.
        public let event: ActivityEvent
        /// The event's name, such as "willStart", "sending", or "progress".
        public var name: String { RecordingAccessory.name(of: event) }
    }

    private struct State: Sendable {
        var records: [Record] = []
        var dropped = 0
        var running: Set<Activity.ID> = []
    }

    /// The maximum number of bytes to record of each body.
    public let maximumBodyBytes: Int
    /// Whether the accessory records WebSocket messages and events of event streams.
    public let observesMessages: Bool
    private let maximumRecords: Int
    private let state = Watched(State())

    /// Creates an accessory without records.
    ///
    /// - Parameters:
    ///   - maximumBodyBytes: The maximum number of bytes to record of each body. Defaults to 0.
    ///   - observesMessages: Whether to record messages of WebSockets and event streams. Defaults to `false`.
    ///   - maximumRecords: The maximum number of events to keep. Later events aren't recorded. Defaults to 100,000.
    public init(maximumBodyBytes: Int = 0, observesMessages: Bool = false, maximumRecords: Int = 100_000) {
        (self.maximumBodyBytes, self.maximumRecords) = (maximumBodyBytes, maximumRecords)
        self.observesMessages = observesMessages
        CreationObservers.notify(of: self)
    }

    /// Records an event. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        let record = Record(
            activity: activity.id, parent: activity.parent, kind: activity.kind, label: activity.label,
            event: Self.withoutStreams(event))
        state.update { state in
            switch event {
            case .willStart: state.running.insert(activity.id)
            case .didStop: state.running.remove(activity.id)
            default: break
            }
            if state.records.count < maximumRecords { state.records.append(record) } else { state.dropped += 1 }
        }
    }

    /// Returns the records of an activity. By default, returns the records of all activities.
    public func records(of activity: Activity.ID? = nil) -> [Record] {
        state.read { state in
            guard let activity else { return state.records }
            return state.records.filter { $0.activity == activity }
        }
    }

    /// Returns an activity's events in order.
    public func events(of activity: Activity.ID) -> [ActivityEvent] { records(of: activity).map(\.event) }

    /// Returns the names of an activity's events, or of all events. Omits transport events unless you pass
    /// `transport: true`.
    public func names(of activity: Activity.ID? = nil, transport includesTransport: Bool = false) -> [String] {
        records(of: activity).compactMap { record in
            if case .transport = record.event, !includesTransport { return nil }
            return record.name
        }
    }

    /// The IDs of all activities, in the order of their first events.
    public var activities: [Activity.ID] {
        var seen: Set<Activity.ID> = []
        return records().map(\.activity).filter { seen.insert($0).inserted }
    }

    /// Waits for the `count`th event with this name. Counts the events of one activity, or of all activities. Throws
    /// ``WaitTimeout`` after `limit`.
    @discardableResult
    public func wait(
        for name: String, count: Int = 1, of activity: Activity.ID? = nil, within limit: Duration = .seconds(300)
    ) async throws -> Record {
        try await state.wait(for: "\(count) \(name)", within: limit) { state in
            let found = state.records.lazy.filter { $0.name == name && (activity == nil || $0.activity == activity) }
            return found.dropFirst(max(0, count - 1)).first
        }
    }

    /// Waits until at least one activity has started and all started activities have stopped. Throws ``WaitTimeout``
    /// after `limit`.
    public func waitUntilQuiet(within limit: Duration = .seconds(300)) async throws {
        _ = try await state.wait(for: "all activities to stop", within: limit) { state in
            state.running.isEmpty && !state.records.isEmpty ? true : nil
        }
    }
}

extension RecordingAccessory {
    /// Returns a text for each violation of the order of events. The array is empty if the order is right. Each
    /// activity must begin with will-start, then have one will-stop, and end with one did-stop. Will-stop and did-stop
    /// must have the same outcome.
    public func problems() -> [String] {
        let (records, dropped) = state.read { ($0.records, $0.dropped) }
        var problems = dropped > 0 ? ["\(dropped) events were dropped; raise maximumRecords"] : []
        for (id, records) in Dictionary(grouping: records, by: \.activity).sorted(by: { $0.key < $1.key }) {
            let names = records.map(\.name)
            func report(_ problem: String) { problems.append("\(id) \(records[0].label): \(problem) in \(names)") }
            for name in ["willStart", "willStop", "didStop"] {
                let count = names.count { $0 == name }
                if count != 1 { report("expected one \(name), got \(count)") }
            }
            if names.first != "willStart" { report("another event precedes willStart") }
            if names.last != "didStop", names.contains("didStop") { report("another event follows didStop") }
            let outcomes = records.compactMap { Self.outcome(of: $0.event) }
            if Set(outcomes).count > 1 { report("different outcomes: \(outcomes)") }
        }
        return problems
    }

    private static func outcome(of event: ActivityEvent) -> String? {
        guard case .willStop(let outcome) = event else {
            guard case .didStop(let outcome) = event else { return nil }
            return name(of: outcome)
        }
        return name(of: outcome)
    }

    private static func name(of outcome: ActivityOutcome) -> String {
        switch outcome {
        case .success: "success"
        case .failure: "failure"
        case .cancelled: "cancelled"
        }
    }

    /// Returns the name of an event. It's the same name as in ``Record/name``.
    public static func name(of event: ActivityEvent) -> String {
        switch event {
        case .willStart: "willStart"
        case .built: "built"
        case .sending: "sending"
        case .requestBody: "requestBody"
        case .transport(.progress): "progress"
        case .transport(.informational): "informational"
        case .transport(.trailers): "trailers"
        case .transport(.waitingForConnectivity): "waitingForConnectivity"
        case .transport(.timings): "timings"
        case .received: "received"
        case .responseBody: "responseBody"
        case .redirected: "redirected"
        case .message: "message"
        case .note: "note"
        case .willStop: "willStop"
        case .didStop: "didStop"
        }
    }

    private static func withoutStreams(_ event: ActivityEvent) -> ActivityEvent {
        switch event {
        case .built(let request): .built(withoutStream(request))
        case .sending(let request, let position): .sending(withoutStream(request), position)
        case .received(let response, let position): .received(withoutStream(response), position)
        case .redirected(let response, let request): .redirected(withoutStream(response), to: withoutStream(request))
        case .willStop(let outcome): .willStop(withoutStream(outcome))
        case .didStop(let outcome): .didStop(withoutStream(outcome))
        default: event
        }
    }

    private static func withoutStream(_ outcome: ActivityOutcome) -> ActivityOutcome {
        guard case .success(let response?) = outcome else { return outcome }
        return .success(withoutStream(response))
    }

    private static func withoutStream(_ response: HTTPResponse) -> HTTPResponse {
        if response.body.data != nil { return response }
        var response = response
        response.body = .empty
        return response
    }

    private static func withoutStream(_ request: HTTPRequest) -> HTTPRequest {
        if request.body.isReplayable { return request }
        var request = request
        request.body = .none
        return request
    }
}
