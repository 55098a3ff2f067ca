public import Errand
public import ErrandEssentials

/// The outcome of a recorded activity. These three cases are all that there are.
public enum RecordedOutcome: Sendable, Hashable {
    /// It succeeded.
    case success
    /// It failed: with the code of an ``Errand/ErrandError``, or the type of another error.
    case failure(String)
    /// It was cancelled.
    case cancelled
}

/// One activity from its start to its end: a request, wherever its response came from, a batch, a chain, or background
/// work.
public struct RecordedActivity: Sendable, Hashable, Identifiable {
    /// The identity of the activity.
    public var id: Activity.ID
    /// The batch, chain or request that the activity belongs to.
    public var parent: Activity.ID?
    /// A request, a batch, …
    public var kind: ActivityKind
    /// The name of the activity for people, secrets masked.
    public var label: String
    /// The host that the agent built the request for, in lower case, before filters and redirects; nil for a composite,
    /// and where no request could be built.
    public var host: String?
    /// The calendar date of its start.
    public var date: Date
    /// The same instant, counted from the start of the recording by a clock that never jumps.
    public var offset: Duration
    /// The time from the start to the end.
    public var duration: Duration
    /// The outcome of the activity.
    public var outcome: RecordedOutcome
    /// The status of the response of a request that succeeded.
    public var status: Int?
    /// The source of that response: the network, a cache, a filter.
    public var source: ResponseSource?
    /// Body bytes on the wire in both directions, as far as the transport reported them.
    public var bytesSent: Int64
    /// See ``bytesSent``.
    public var bytesReceived: Int64
    /// The amount that was received over a live stream; nil for anything else.
    public var stream: StreamCount?

    /// Makes an activity.
    public init(
        id: Activity.ID, parent: Activity.ID? = nil, kind: ActivityKind = .request, label: String = "",
        host: String? = nil, date: Date, offset: Duration = .zero, duration: Duration = .zero,
        outcome: RecordedOutcome = .success, status: Int? = nil, source: ResponseSource? = nil, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0
    ) {
        (self.id, self.parent, self.kind, self.label, self.host) = (id, parent, kind, label, host)
        (self.date, self.offset, self.duration) = (date, offset, duration)
        (self.outcome, self.status, self.source) = (outcome, status, source)
        (self.bytesSent, self.bytesReceived) = (bytesSent, bytesReceived)
    }
}

extension RecordedOutcome {
    /// The outcome of an activity, without its values.
    public init(_ outcome: ActivityOutcome) {
        switch outcome {
        case .success: self = .success
        case .failure(let error): self = .failure(Redaction.name(of: error))
        case .cancelled: self = .cancelled
        }
    }

    /// "timedOut", "cancelled"; nil for a success.
    var failureName: String? {
        switch self {
        case .success: nil
        case .failure(let name): name
        case .cancelled: "cancelled"
        }
    }
}
