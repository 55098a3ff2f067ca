public import ErrandHTTP
import ErrandSupport

/// The options of one exchange, which a transport receives beside the request.
public struct TransportOptions: Sendable {
    private var fields: CopyOnWrite<Fields>

    private struct Fields {
        var timeout: Duration
        var delivery: BodyDelivery
        var maximumBodyBytes: Int
        var priority: RequestPriority
        var tags: Tags
        var time: any TimeSource
        var origin: Origin
    }

    /// The exchange that the options belong to, as far as Core needs it; a transport of a test has none.
    struct Origin {
        var observer: (any TransportObserver)?
        var reportsProgress = true
        /// Which transfer of the call this is, from 1.
        var transfer = 1
        /// The filters that look at the request once more.
        var departures: [any DepartureFilter] = []
        /// Of which attempt and hop of the call this is.
        var position: (attempt: Int?, hop: Int?)
        /// Whether redirects and filters may decide by the head of a response.
        var isDecidedByHead = false
    }

    /// The longest silence: while connecting, before the head, between two chunks. 60 seconds by default; a negative
    /// duration counts as zero, one over a hundred years as that, so that it can be added to a point in time.
    public var timeout: Duration {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue.bounded }
    }
    /// How the reader wants the body; see ``collectsBody(ofStatus:)``.
    public var delivery: BodyDelivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// With `.data`, the most bytes that will be accepted; 64 MiB by default.
    public var maximumBodyBytes: Int {
        get { fields.value.maximumBodyBytes }
        set { fields.value.maximumBodyBytes = newValue }
    }
    /// A hint; medium by default.
    public var priority: RequestPriority {
        get { fields.value.priority }
        set { fields.value.priority = newValue }
    }
    /// The tags of the exchange, for options of a transport's own.
    public var tags: Tags {
        get { fields.value.tags }
        set { fields.value.tags = newValue }
    }
    /// The clock for the timeout.
    public var time: any TimeSource {
        get { fields.value.time }
        set { fields.value.time = newValue }
    }
    var departures: [any DepartureFilter] { fields.value.origin.departures }

    /// Options with the defaults of Core.
    public init(
        timeout: Duration = .seconds(60), delivery: BodyDelivery = .data, maximumBodyBytes: Int = 64 << 20,
        priority: RequestPriority = .medium, tags: Tags = Tags(), time: any TimeSource = SystemTimeSource()
    ) {
        self.init(
            timeout: timeout, delivery: delivery, maximumBodyBytes: maximumBodyBytes, priority: priority, tags: tags,
            time: time, origin: Origin())
    }

    init(
        timeout: Duration, delivery: BodyDelivery, maximumBodyBytes: Int, priority: RequestPriority, tags: Tags,
        time: any TimeSource, origin: Origin
    ) {
        fields = CopyOnWrite(
            Fields(
                timeout: timeout.bounded, delivery: delivery, maximumBodyBytes: maximumBodyBytes, priority: priority,
                tags: tags, time: time, origin: origin))
    }

    /// Whether a transport may wait for the whole body of a response, and return it in memory: if ``delivery`` is `.data`,
    /// and the status below 300.
    ///
    /// Any other response of an agent's request is returned with its head, and a body that streams: it may be a redirect,
    /// or one that a filter repeats or replaces, and none of these waits for a body. Core collects the body if the
    /// response is the final one. Options that no agent has made, such as those of a test, allow every body to be
    /// collected.
    public func collectsBody(ofStatus status: Int) -> Bool {
        delivery == .data && (!fields.value.origin.isDecidedByHead || Self.isCollected(status: status))
    }

    /// Whether the head of a response with a status leaves open only what the body says.
    static func isCollected(status: Int) -> Bool { status < 300 }

    /// Whether an accessory receives anything but progress: a transport that has to ask for an event first, such as for
    /// timings, need not ask if this is false.
    public var isObserved: Bool { fields.value.origin.observer?.isObserved == true }

    /// Notifies accessories and the handle of what happens on the wire; from any thread, cheap when nothing listens.
    @inline(never) public func report(_ event: TransportEvent) {
        guard let observer = fields.value.origin.observer else { return }
        var event = event
        switch event {
        case .timings(var timings):
            (timings.attempt, timings.hop) = fields.value.origin.position
            event = .timings(timings)
        case .progress(var progress):
            if !fields.value.origin.reportsProgress { return }
            progress.transfer = fields.value.origin.transfer
            event = .progress(progress)
        default: break
        }
        observer.report(event, isMeasured: true)
    }
}

/// Receives what a transport reports. A class, whose reference costs less to hand on than any value.
protocol TransportObserver: AnyObject, Sendable {
    /// Whether an accessory receives anything but progress.
    var isObserved: Bool { get }
    /// - Parameter isMeasured: whether the transport reports it, and no filter and no composite.
    func report(_ event: TransportEvent, isMeasured: Bool)
}
