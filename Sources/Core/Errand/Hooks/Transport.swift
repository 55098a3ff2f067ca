public import ErrandHTTP

/// Moves one HTTP exchange over the wire: a request goes out, a response comes back.
///
/// Choose a ready one in a word (`.curl`, `.urlSession`, `.stub`), or write one to put another client under every agent:
///
/// ```swift
/// struct Echo: Transport {
///     func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
///         let body = try await request.body.open().collect(upTo: options.maximumBodyBytes)
///         return HTTPResponse(to: request, status: 200, headers: request.headers, body: HTTPBody(body))
///     }
/// }
/// ```
///
/// A transport follows no redirect, keeps no cookie, no credential and no cache, and retries nothing beyond a reused
/// connection that turns out closed: that is Core's and the filters' work, so that it is the same on every transport.
/// It throws ``ErrandError``; it stops within a millisecond or two when its task is cancelled; it ends a wait in which
/// nothing is received for `options.timeout` with `timedOut`. Where a request may wait for a connection or a turn, it calls
/// ``TransportOptions/checkDeparture(of:)`` after that. It decodes content codings only if it then removes
/// `Content-Encoding` and `Content-Length`. A failure after the head of a body that it collects itself carries the head and
/// the beginning of the body as `response`; for a stream Core adds them. `ErrandTesting` has the suite that a transport is expected to pass.
public protocol Transport: Sendable {
    /// Sends a request that Core has validated, and returns once the head of the response is there. With
    /// `options.delivery == .data` it may wait for the whole body and return it in memory, which is faster.
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse
}

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
    var place: (attempt: Int?, hop: Int?)

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

    /// Whether anything but progress is received by anyone: a transport that has to ask for an event first, such as for
    /// timings, need not ask if this is false.
    public var isObserved: Bool { observer?.isObserved == true }

    /// Notifies accessories and the handle of what happens on the wire; from any thread, cheap when nothing listens.
    @inline(never) public func report(_ event: TransportEvent) {
        var event = event
        switch event {
        case .timings(var timings):
            (timings.attempt, timings.hop) = place
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
    /// Whether anything but progress reaches anyone.
    var isObserved: Bool { get }
    /// - Parameter isMeasured: whether the transport reports it, and no filter and no composite.
    func report(_ event: TransportEvent, isMeasured: Bool)
}
