public import Errand
public import ErrandEssentials

/// The outcome of a recorded activity. No cases will be added.
public enum RecordedOutcome: Sendable, Hashable {
    /// The activity succeeded, and its response was accepted.
    case success
    /// The activity failed. Contains the code of an ``Errand/ErrandError``, or the type of another error.
    case failure(String)
    /// The activity was cancelled, so it neither succeeded nor failed.
    case cancelled
}

/// A finished activity: a request, whatever the source of its response, a batch, a chain or background work.
public struct RecordedActivity: Sendable, Hashable, Identifiable {
    /// The activity's number, unique within the process.
    public var id: Activity.ID
    /// The batch, chain or request that the activity belongs to.
    public var parent: Activity.ID?
    /// The kind of activity, such as a request or a batch.
    public var kind: ActivityKind
    /// The activity's label for people, with secrets masked.
    public var label: String
    /// The lowercase host for which the agent built the request, before filters and redirects. `nil` for a composite,
    /// or if no request could be built.
    public var host: String?
    /// The calendar date of the start.
    public var date: Date
    /// The start as time since the recording began, by a monotonic clock.
    public var offset: Duration
    /// How long the activity took.
    public var duration: Duration
    /// How the activity ended.
    public var outcome: RecordedOutcome
    /// The response's status, if the request succeeded.
    public var status: Int?
    /// Where the response came from: the network, a cache or a filter. `nil` without a response.
    public var source: ResponseSource?
    /// The number of body bytes sent, as reported by the transport.
    public var bytesSent: Int64
    /// The number of body bytes received, as reported by the transport.
    public var bytesReceived: Int64
    /// The amount received over a live stream. `nil` for other activities.
    public var stream: StreamCount?

    /// Creates an activity, for example for a test. Every argument but the ID has a default.
    public init(
        id: Activity.ID, parent: Activity.ID? = nil, kind: ActivityKind = .request, label: String = "",
        host: String? = nil, date: Date, offset: Duration = .zero, duration: Duration = .zero,
        outcome: RecordedOutcome = .success, status: Int? = nil, source: ResponseSource? = nil, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0
    ) {
        self.init(
            id: id, parent: parent, kind: kind, label: label, host: host, date: date, offset: offset,
            duration: duration, outcome: outcome, status: status, source: source, bytesSent: bytesSent,
            bytesReceived: bytesReceived, stream: nil)
    }

    init(
        id: Activity.ID, parent: Activity.ID?, kind: ActivityKind, label: String, host: String?, date: Date,
        offset: Duration, duration: Duration, outcome: RecordedOutcome, status: Int?, source: ResponseSource?,
        bytesSent: Int64, bytesReceived: Int64, stream: StreamCount?
    ) {
        (self.id, self.parent, self.kind, self.label, self.host) = (id, parent, kind, label, host)
        (self.date, self.offset, self.duration) = (date, offset, duration)
        (self.outcome, self.status, self.source) = (outcome, status, source)
        (self.bytesSent, self.bytesReceived, self.stream) = (bytesSent, bytesReceived, stream)
    }
}

extension RecordedOutcome {
    /// Creates an outcome from an activity's outcome, without its values.
    public init(_ outcome: ActivityOutcome) {
        switch outcome {
        case .success: self = .success
        case .failure(let error): self = .failure(Redaction.name(of: error))
        case .cancelled: self = .cancelled
        }
    }

    /// The failure's name, such as "timedOut" or "cancelled", or `nil` for a success.
    var failureName: String? {
        switch self {
        case .success: nil
        case .failure(let name): name
        case .cancelled: "cancelled"
        }
    }
}
