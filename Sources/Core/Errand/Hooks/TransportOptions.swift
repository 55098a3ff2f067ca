public import ErrandHTTP
import ErrandSupport

/// The options with which a transport sends one request.
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

    /// The data that Core needs to connect a transfer to its call. Empty in a transport's test.
    struct Origin {
        var observer: (any TransportObserver)?
        var reportsProgress = true
        var position: TransferPosition?
        var preSendFilters: [any PreSendFilter] = []
        /// Whether redirects and filters may examine a response's head before its body arrives.
        var isDecidedByHead = false
    }

    /// The longest time without activity: while connecting, before the head, or between two chunks. Defaults to 60
    /// seconds. Clamped to between zero and a hundred years.
    public var timeout: Duration {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue.bounded }
    }
    /// How to deliver the response's body. See ``collectsBody(ofStatus:)``.
    public var delivery: BodyDelivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// The most bytes of a body to accept if the delivery is `.data`. Defaults to 64 MiB.
    public var maximumBodyBytes: Int {
        get { fields.value.maximumBodyBytes }
        set { fields.value.maximumBodyBytes = newValue }
    }
    /// The request's priority, a hint. Defaults to medium.
    public var priority: RequestPriority {
        get { fields.value.priority }
        set { fields.value.priority = newValue }
    }
    /// The exchange's tags, which can contain options for a custom transport.
    public var tags: Tags {
        get { fields.value.tags }
        set { fields.value.tags = newValue }
    }
    /// The clock to measure the timeout with.
    public var time: any TimeSource {
        get { fields.value.time }
        set { fields.value.time = newValue }
    }
    var preSendFilters: [any PreSendFilter] { fields.value.origin.preSendFilters }

    /// Creates options, for example for a test. An agent creates them for its requests.
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

    /// Returns whether a transport can wait for the whole body and return it in memory. This is the case if
    /// ``delivery`` is `.data` and the status is below 300. If no agent created the options, as in a test, the status
    /// doesn't matter.
    ///
    /// For other statuses, return the head with a streaming body. The response may be a redirect, or a filter may
    /// repeat or replace it, and then nobody should wait for its body. Core collects the final response's body.
    public func collectsBody(ofStatus status: Int) -> Bool {
        delivery == .data && (!fields.value.origin.isDecidedByHead || Self.isCollected(status: status))
    }

    /// Whether a transport may collect a body with this status. From 300 on, a redirect or a filter may need only the
    /// head.
    static func isCollected(status: Int) -> Bool { status < 300 }

    /// Whether an accessory receives events other than progress. If not, don't collect data such as timings.
    public var isObserved: Bool { fields.value.origin.observer?.isObserved == true }

    /// Reports an event on the wire to accessories and the handle, on any thread.
    @inline(never) public func report(_ event: TransportEvent) {
        guard let observer = fields.value.origin.observer else { return }
        var event = event
        switch event {
        case .timings(var timings):
            timings.position = fields.value.origin.position
            event = .timings(timings)
        case .progress(var progress):
            if !fields.value.origin.reportsProgress { return }
            progress.transfer = fields.value.origin.position?.transfer ?? 1
            event = .progress(progress)
        default: break
        }
        observer.report(event, isMeasured: true)
    }
}

/// Receives a transfer's events. A class, because a reference is the cheapest value to pass on.
protocol TransportObserver: AnyObject, Sendable {
    var isObserved: Bool { get }
    /// - Parameter isMeasured: Whether the transport reports the event.
    func report(_ event: TransportEvent, isMeasured: Bool)
}

/// Passes events to a filter's closure, then to outer filters.
final class WireObserver: Sendable {
    private let observer: @Sendable (TransportEvent) -> Void
    private let outer: WireObserver?

    init(_ observer: @escaping @Sendable (TransportEvent) -> Void, outer: WireObserver?) {
        (self.observer, self.outer) = (observer, outer)
    }

    fileprivate func receive(_ event: TransportEvent) {
        observer(event)
        outer?.receive(event)
    }
}

/// Passes a transfer's events to the exchange's observers, then to the call.
final class ObservedTransfer: TransportObserver {
    private let observer: WireObserver
    private let call: any TransportObserver

    init(_ observer: WireObserver, _ call: any TransportObserver) { (self.observer, self.call) = (observer, call) }

    var isObserved: Bool { call.isObserved }

    func report(_ event: TransportEvent, isMeasured: Bool) {
        observer.receive(event)
        call.report(event, isMeasured: isMeasured)
    }
}
