public import ErrandHTTP

/// The options of one exchange, which a transport receives beside the request.
public struct TransportOptions: Sendable {
    /// The longest silence: while connecting, before the head, between two chunks. 60 seconds by default.
    public var timeout: Duration
    /// How the reader wants the body.
    public var delivery: BodyDelivery
    /// With `.data`, the most bytes that will be accepted; 64 MiB by default.
    public var maximumBodyBytes: Int
    /// A hint; medium by default.
    public var priority: RequestPriority
    /// The tags of the exchange, for options of a transport's own.
    public var tags: Tags
    /// The clock for the timeout.
    public var time: any TimeSource
    var observer: (any TransportObserver)?
    var reportsProgress = true
    /// Which transfer of the call this is, from 1.
    var transfer = 1
    /// The filters that look at the request once more.
    var departures: [any DepartureFilter] = []
    /// Of which attempt and hop of the call this is.
    var position: (attempt: Int?, hop: Int?)

    /// Options with the defaults of Core.
    public init(
        timeout: Duration = .seconds(60), delivery: BodyDelivery = .data, maximumBodyBytes: Int = 64 << 20,
        priority: RequestPriority = .medium, tags: Tags = Tags(), time: any TimeSource = SystemTimeSource()
    ) {
        self.timeout = timeout
        self.delivery = delivery
        self.maximumBodyBytes = maximumBodyBytes
        self.priority = priority
        self.tags = tags
        self.time = time
    }

    /// Whether an accessory receives anything but progress: a transport that has to ask for an event first, such as for
    /// timings, need not ask if this is false.
    public var isObserved: Bool { observer?.isObserved == true }

    /// Notifies accessories and the handle of what happens on the wire; from any thread, cheap when nothing listens.
    @inline(never) public func report(_ event: TransportEvent) {
        var event = event
        switch event {
        case .timings(var timings):
            (timings.attempt, timings.hop) = position
            event = .timings(timings)
        case .progress(var progress):
            if !reportsProgress { return }
            progress.transfer = transfer
            event = .progress(progress)
        default: break
        }
        observer?.report(event, isMeasured: true)
    }
}

/// Receives what a transport reports. A class, whose reference costs less to hand on than any value.
protocol TransportObserver: AnyObject, Sendable {
    /// Whether an accessory receives anything but progress.
    var isObserved: Bool { get }
    /// - Parameter isMeasured: whether the transport reports it, and no filter and no composite.
    func report(_ event: TransportEvent, isMeasured: Bool)
}
