public import Errand
public import ErrandEssentials

/// The outcome of a recorded activity. Later versions won't add cases.
public enum RecordedOutcome: Sendable, Hashable {
    /// The activity succeeded.
    case success
    /// The activity failed. The text is the code of an ``Errand/ErrandError``, or the type of another error.
    case failure(String)
    /// The activity was cancelled.
    case cancelled
}

/// A finished activity: a request, a batch, a chain or background work.
public struct RecordedActivity: Sendable, Hashable, Identifiable {
    /// The activity's ID, unique within the process.
    public var id: Activity.ID
    /// The batch, chain or request that the activity belongs to.
    public var parent: Activity.ID?
    /// The kind of activity, such as a request or a batch.
    public var kind: ActivityKind
    /// The activity's label. Secrets in it are masked.
    public var label: String
    /// The lowercase host in the URL that the agent built, before filters and redirects. It's nil for batches and
    /// chains, and if the request couldn't be built.
    public var host: String?
    /// The time when the activity started.
    public var date: Date
    /// The time from the start of the recording to the start of the activity, according to a monotonic clock.
    public var offset: Duration
    /// The time that the activity took.
    public var duration: Duration
    /// The way in which the activity ended.
    public var outcome: RecordedOutcome
    /// The status of the response. It's nil if the request didn't succeed.
    public var status: Int?
    /// The place where the response came from, for example the network or a cache. It's nil without a response.
    public var source: ResponseSource?
    /// The number of body bytes that the transport reported as sent.
    public var bytesSent: Int64
    /// The number of body bytes that the transport reported as received.
    public var bytesReceived: Int64
    /// The amount of data that a live stream has received. It's nil for other activities.
    public var stream: StreamCount?

    /// Creates an activity, for example for a test.
    public init(
        id: Activity.ID, parent: Activity.ID? = nil, kind: ActivityKind = .request, label: String = "",
        host: String? = nil, date: Date, offset: Duration = .zero, duration: Duration = .zero,
        outcome: RecordedOutcome = .success, status: Int? = nil, source: ResponseSource? = nil, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0, stream: StreamCount? = nil
    ) {
        (self.id, self.parent, self.kind, self.label, self.host) = (id, parent, kind, label, host)
        (self.date, self.offset, self.duration) = (date, offset, duration)
        (self.outcome, self.status, self.source) = (outcome, status, source)
        (self.bytesSent, self.bytesReceived, self.stream) = (bytesSent, bytesReceived, stream)
    }
}

extension RecordedOutcome {
    /// Creates an outcome from an activity's outcome. Leaves out the activity's values.
    public init(_ outcome: ActivityOutcome) {
        switch outcome {
        case .success: self = .success
        case .failure(let error): self = .failure(Redaction.name(of: error))
        case .cancelled: self = .cancelled
        }
    }

    var failureName: String? {
        switch self {
        case .success: nil
        case .failure(let name): name
        case .cancelled: "cancelled"
        }
    }
}
