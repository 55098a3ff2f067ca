public import ErrandHTTP
import ErrandSupport

/// A request on its way through the filters, with the state of its call.
///
/// A filter changes its copy and passes the copy to `next`. Members that concern the whole call, such as ``checks``,
/// `whenAccepted` and `detach`, act on all copies.
public struct Exchange: Sendable {
    private var fields: CopyOnWrite<Fields>
    /// The HTTP request to send. Change it before you call `next`.
    public var http: HTTPRequest { didSet { (isAsBuilt, isOriginChecked) = (false, false) } }
    /// The request as the filter received it. The sensitive fields and the trust belong to its origin. Nil if the
    /// exchange still has the request that Core built.
    private var given: HTTPRequest?
    /// The stage in which the receiving filter runs: call, hop or wire.
    public internal(set) var stage: FilterStages = .call
    /// The number of the attempt, from 1. Each time a call filter calls `next`, an attempt begins.
    public internal(set) var attempt = 1
    /// The number of the hop within the attempt, from 1. A redirect begins a new hop.
    public internal(set) var hop = 1
    private(set) var isAsBuilt = true
    /// Whether the request, and so its origin, is unchanged since the filter received it.
    @usableFromInline private(set) var isOriginChecked = true

    struct Fields {
        let request: any Request
        var delivery: BodyDelivery
        var timeout: Duration
        var priority: RequestPriority
        var tags: Tags
        var activity: Activity
        /// The call's accessories, for work that is detached after the activity has released its accessories.
        let accessories: [any Accessory]
        let settings: PipelineSettings
        let built: HTTPRequest
        var shared: SharedExchange?
        var trust = OriginTrust()
        var reportsProgress = true
        var wireObserver: WireObserver?
        var users: UserMarks?
        var record: UserRecord?
        var transport: TransportReference?
    }

    init(
        _ request: some Request, built: RequestBuilder.Built, activity: Activity, settings: PipelineSettings
    ) {
        http = built.http
        fields = CopyOnWrite(
            Fields(
                request: activity.request ?? request, delivery: request.delivery,
                timeout: request.timeout ?? settings.timeout, priority: request.priority ?? .medium,
                tags: activity.tags, activity: activity, accessories: activity.accessories,
                settings: settings, built: built.http, trust: built.trust))
    }

    func with(_ change: (inout Fields) -> Void) -> Exchange {
        var copy = self
        change(&copy.fields.value)
        return copy
    }

    /// The request as the user wrote it. A plugin finds its requests with `exchange.request as? any CacheableRequest`.
    public var request: any Request { fields.value.request }
    /// How to deliver the response's body.
    public var delivery: BodyDelivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// The longest time without activity within one attempt.
    public var timeout: Duration {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue }
    }
    /// The request's priority, a hint for the transport.
    public var priority: RequestPriority {
        get { fields.value.priority }
        set { fields.value.priority = newValue }
    }
    /// The request's tags, merged with the call's tags, which take precedence.
    public var tags: Tags {
        get { fields.value.tags }
        set { fields.value.tags = newValue }
    }
    /// Whether the transport reports progress. Set it to false in a filter that reports the combined progress of
    /// several requests. Defaults to true.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }
    /// Observes the transport's events for this exchange, such as 1xx responses. The closure runs on any thread, before
    /// accessories are notified.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.observeTransport { event in
    ///     if case .informational(status: 104, let headers) = event { log(headers[.location]) }
    /// }
    /// ```
    ///
    /// Return quickly, because the transport waits for the closure. If ``reportsProgress`` is false, progress is
    /// omitted.
    public mutating func observeTransport(_ observer: @escaping @Sendable (TransportEvent) -> Void) {
        fields.value.wireObserver = WireObserver(observer, outer: fields.value.wireObserver)
    }

    var wireObserver: WireObserver? { fields.value.wireObserver }
    /// The activity of the call.
    public var activity: Activity { fields.value.activity }
    var shared: SharedExchange? { fields.value.shared }

    // MARK: Another origin

    var givenRequest: HTTPRequest { given ?? fields.value.built }

    mutating func markOriginChecked() {
        given = http
        isOriginChecked = true
    }

    var settings: PipelineSettings { fields.value.settings }
    var trust: OriginTrust {
        get { fields.value.trust }
        set { fields.value.trust = newValue }
    }
    var users: UserMarks? {
        get { fields.value.users }
        set { fields.value.users = newValue }
    }
    var record: (any UserRecording)? { recordOfFilter ?? shared }
    var recordOfFilter: UserRecord? { fields.value.record }
    var replacedTransport: TransportReference? { fields.value.transport }

    private func ledger<Value>(_ use: (borrowing CallLedger) -> Value) -> Value {
        guard let shared else { return use(activity.ledger) }
        return use(shared.ledger)
    }

    /// The agent's clock. Use it for every wait, so tests can control the time.
    public var time: any TimeSource { activity.time }

    /// When the call's deadline passes, by the clock ``time``. Nil without a deadline. If several calls share the
    /// exchange, this is the latest of their deadlines. Don't start a wait that ends later.
    public var deadline: ContinuousClock.Instant? {
        guard let shared else { return activity.deadline }
        return shared.deadline
    }

    /// How many failures of this call were declared final. See ``markFailureAsFinal()``.
    public var finalFailureCount: Int { ledger { $0.finalFailureCount } }

    /// Marks the failure that the filter passes on as final, because the request was repeated as often as allowed.
    ///
    /// If several filters that repeat requests are nested, such as a retry around a download, only the innermost filter
    /// should repeat a request. An outer filter compares ``finalFailureCount`` before and after `next`. If the number
    /// has grown, the outer filter doesn't repeat the request.
    public func markFailureAsFinal() { ledger { $0.markFailureAsFinal() } }

    /// How many of this call's requests a server may have received. Counts all requests passed to the transport,
    /// except:
    ///
    /// - requests that a ``PreSendFilter`` refused
    /// - requests that failed with ``ErrandError/Code/cannotConnect`` or ``ErrandError/Code/nameLookupFailed``
    ///
    /// Before you repeat a request that must not be received twice, compare the number before and after `next`. Don't
    /// rely on the error alone, because it concerns only the last request, not the request before a redirect.
    public var possiblyReceivedCount: Int { ledger { $0.possiblyReceivedCount } }

    /// How many requests of this call have been passed to the transport, including retries, redirects and hedges. When
    /// a wire filter receives the first request, the count is still 0.
    public var transferCount: Int { activity.ledger.transferCount }

    func addDeliveries(_ count: Int) { ledger { $0.addDeliveries(count) } }

    /// The checks to run on the final response.
    public var checks: ExchangeChecks { ExchangeChecks(activity: activity, shared: shared) }

    /// Stages work that depends on whether the response is accepted. Once all checks and decoding have succeeded,
    /// `commit` runs. Otherwise, `discard` runs.
    ///
    /// The closure runs before will-stop, so return quickly and detach long work.
    public func whenAccepted(
        _ commit: @escaping @Sendable () async -> Void, otherwise discard: @escaping @Sendable () async -> Void = {}
    ) {
        ledger { $0.stage(StagedWork(commit: commit, discard: discard)) }
    }

    /// How many pieces of work ``whenAccepted(_:otherwise:)`` has staged. Pass the number to
    /// ``discardStagedWork(after:)``.
    public var stagedWorkCount: Int { ledger { $0.stagedWorkCount } }

    /// Discards work that later filters staged for a response that won't be used.
    ///
    /// ```swift
    /// struct OnceMore: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let count = exchange.stagedWorkCount
    ///         let first = try await next(exchange)
    ///         if first.status != 503 { return first }
    ///         await exchange.discardStagedWork(after: count)
    ///         return try await next(exchange)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter count: The ``stagedWorkCount`` before `next`.
    public func discardStagedWork(after count: Int) async {
        if stagedWorkCount <= count { return }
        await ledger { $0.takeStagedWork(after: count) }.discard()
    }

    /// Runs work that outlives the call, as a separate activity. `cancelAll()` and the agent's deallocation cancel the
    /// work. In the body, use the exchange that the body receives.
    ///
    /// The body doesn't run if an accessory cancels the activity when it starts. If the body has to release something,
    /// release it when the handle's result arrives.
    @discardableResult
    public func detach(
        _ label: String, body: @escaping @Sendable (Exchange) async throws -> Void
    ) -> RequestHandle<Void> {
        let background = Activity(
            .background, request: request, label: label, tags: tags, parent: activity.id,
            accessories: fields.value.accessories, registry: activity.registry)
        background.ledger.adoptValues(of: activity.ledger)
        var detached = with { ($0.activity, $0.record, $0.shared) = (background, nil, nil) }
        detached.isAsBuilt = false
        let exchange = detached
        return RequestHandle(
            activity.registry.launch(background) { result in
                result.succeed(try await body(exchange))
                return nil
            })
    }

    /// Sends a note to the accessories: a message for logs, and optional details for programs. Ignored once the
    /// activity is over.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        activity.note(name, message(), details: details())
    }

    /// Sends a note to the accessories: details for programs, whose description is the message for logs. Ignored once
    /// the activity is over.
    public func note<Details: Sendable & CustomStringConvertible>(
        _ name: String, describing details: @autoclosure () -> Details
    ) {
        activity.note(name, describing: details())
    }

    /// Reports a network event to all calls that share the exchange. Call it in a filter that sends requests itself.
    /// See ``Activity/report(_:)``.
    public func report(_ event: TransportEvent) {
        if let shared { shared.report(event, isMeasured: true) } else { activity.report(event, isMeasured: true) }
    }
}
