public import ErrandHTTP
import ErrandSupport

/// One pass of a request through the filters.
///
/// An exchange is a value: a filter changes its copy and passes it to `next`. Members that concern the whole call, such
/// as ``checks``, `whenAccepted` and `detach`, act on all copies.
public struct Exchange: Sendable {
    private var fields: CopyOnWrite<Fields>
    /// The HTTP request to send.
    public var http: HTTPRequest { didSet { (isAsBuilt, isSettled) = (false, false) } }
    /// The request passed to the filter, to which the sensitive fields and the trust belong. Nil for the request as
    /// built.
    private var given: HTTPRequest?
    /// The stage of the filter that receives this exchange.
    public internal(set) var stage: FilterStages = .call
    /// The number of the attempt, from 1. Each `next` below the call filters is one.
    public internal(set) var attempt = 1
    /// The number of the request on the wire within the attempt, from 1. Redirects count.
    public internal(set) var hop = 1
    /// Whether the request is unchanged since it was built. The activity then already knows it.
    private(set) var isAsBuilt = true
    /// Whether the request is unchanged since it was passed to the filter, so it can't have moved to another origin.
    @usableFromInline private(set) var isSettled = true

    struct Fields {
        let request: any Request
        var delivery: BodyDelivery
        var timeout: Duration
        var priority: RequestPriority
        var tags: Tags
        var activity: Activity
        /// For work that is detached after the activity's end.
        let accessories: [any Accessory]
        let settings: PipelineSettings
        let built: HTTPRequest
        /// Set while several calls share this exchange.
        var shared: SharedExchange?
        var trust = OriginTrust()
        var reportsProgress = true
        /// The filters' transport observers, newest first.
        var wireObserver: WireObserver?
        var users: UserMarks?
        var record: UserRecord?
        /// Set if a filter replaced the transport.
        var transport: TransportReference?
    }

    init(_ request: some Request, _ built: RequestBuilder.Built, _ activity: Activity, _ settings: PipelineSettings) {
        http = built.http
        fields = CopyOnWrite(
            Fields(
                // The activity has already boxed the request.
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

    /// The request as the user wrote it. A plugin finds its own with `exchange.request as? any CacheableRequest`.
    public var request: any Request { fields.value.request }
    /// How to deliver the body.
    public var delivery: BodyDelivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// The longest time without activity within one attempt.
    public var timeout: Duration {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue }
    }
    /// A hint for the transport.
    public var priority: RequestPriority {
        get { fields.value.priority }
        set { fields.value.priority = newValue }
    }
    /// The request's tags, merged with the tags of the call.
    public var tags: Tags {
        get { fields.value.tags }
        set { fields.value.tags = newValue }
    }
    /// Whether the transport reports progress. Defaults to true. Set it to false in a filter that reports the combined
    /// progress of several requests.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }
    /// Observes the transport's events for this exchange, for example 1xx responses. The closure runs on any thread,
    /// before accessories are notified.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.observeTransport { event in
    ///     if case .informational(status: 104, let headers) = event { log(headers[.location]) }
    /// }
    /// ```
    ///
    /// Return quickly, because the transport waits for the closure. Progress is omitted if ``reportsProgress`` is
    /// false.
    public mutating func observeTransport(_ observer: @escaping @Sendable (TransportEvent) -> Void) {
        fields.value.wireObserver = WireObserver(observer, outer: fields.value.wireObserver)
    }

    var wireObserver: WireObserver? { fields.value.wireObserver }
    /// The call that this exchange belongs to.
    public var activity: Activity { fields.value.activity }
    var shared: SharedExchange? { fields.value.shared }

    // MARK: Another origin

    var givenRequest: HTTPRequest { given ?? fields.value.built }

    mutating func markSettled() {
        given = http
        isSettled = true
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
    /// Belongs to a filter further out, or to the calls that share the exchange.
    var record: (any UserRecording)? { recordOfFilter ?? shared }
    var recordOfFilter: UserRecord? { fields.value.record }
    var replacedTransport: TransportReference? { fields.value.transport }

    private func ledger<Value>(_ use: (borrowing CallLedger) -> Value) -> Value {
        guard let shared else { return use(activity.ledger) }
        return use(shared.ledger)
    }

    /// The clock to use for waits.
    public var time: any TimeSource { activity.time }

    /// When the call's deadline passes, by the clock ``time``. Nil without a deadline.
    ///
    /// Don't start a wait that ends later. If several calls share the exchange, this is their latest deadline.
    public var deadline: ContinuousClock.Instant? {
        guard let shared else { return activity.deadline }
        return shared.deadline
    }

    /// The number of this call's failures declared final; see ``markFailureAsFinal()``.
    public var finalFailureCount: Int { ledger { $0.finalFailureCount } }

    /// Declares the failure that the filter passes on final, because the request was repeated as often as allowed.
    ///
    /// If filters that repeat requests are nested, such as a retry around a download, only the innermost should repeat
    /// a request. A filter further out compares ``finalFailureCount`` before and after `next`, and passes the failure on if
    /// the number has grown.
    public func markFailureAsFinal() { ledger { $0.markFailureAsFinal() } }

    /// The number of this call's requests that a server may have received so far: all passed to the transport, except
    /// requests that a ``PreSendFilter`` held back, or that failed with ``ErrandError/Code/cannotConnect`` or
    /// ``ErrandError/Code/nameLookupFailed``.
    ///
    /// These errors concern only the last request: after a redirect, or if a filter further in sent several, earlier
    /// requests were received. Before you repeat a request that must not be received twice, compare the number before
    /// and after `next`.
    public var possiblyReceivedCount: Int { ledger { $0.possiblyReceivedCount } }

    /// The number of this call's requests passed to the transport so far, for attempts, redirects and hedges. In a wire
    /// filter before `next`, it's 0 for the first request.
    public var transferCount: Int { activity.ledger.transferCount }

    func addDeliveries(_ count: Int) { ledger { $0.addDeliveries(count) } }

    /// The checks that run on the final response.
    public var checks: ExchangeChecks { ExchangeChecks(activity: activity, shared: shared) }

    /// Stages work that depends on the response: `commit` runs once all checks and decoding have succeeded, otherwise
    /// `discard` runs.
    ///
    /// Both run before will-stop, so return quickly and detach long work.
    public func whenAccepted(
        _ commit: @escaping @Sendable () async -> Void, otherwise discard: @escaping @Sendable () async -> Void = {}
    ) {
        ledger { $0.stage(StagedWork(commit: commit, discard: discard)) }
    }

    /// The amount of staged work; see ``discardStagedWork(after:)``.
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
    /// - Parameter count: the ``stagedWorkCount`` before `next`.
    public func discardStagedWork(after count: Int) async {
        if stagedWorkCount <= count { return }
        await ledger { $0.takeStagedWork(after: count) }.discard()
    }

    /// Runs work that outlives the call, as a separate activity. `cancelAll()` and the agent's deallocation cancel it.
    /// In the body, use the exchange that it receives.
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

    /// Sends accessories a message worth logging. Ignored once the activity is over.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        activity.note(name, message(), details: details())
    }

    /// Sends accessories details worth logging, whose description is the message. Ignored once the activity is over.
    public func note<Details: Sendable & CustomStringConvertible>(
        _ name: String, describing details: @autoclosure () -> Details
    ) {
        activity.note(name, describing: details())
    }

    /// Reports an event on the wire, like ``Activity/report(_:)``, to all calls that share the exchange. For filters
    /// that send their own exchanges.
    public func report(_ event: TransportEvent) {
        if let shared { shared.report(event, isMeasured: true) } else { activity.report(event, isMeasured: true) }
    }
}

extension Exchange {
    /// Checks a response early as Core does at the end, for example before a retry. Throws if its status, content type
    /// or a check fails.
    ///
    /// If the request wants data, a stream is collected first, as in ``gatherEvidence(of:)``. If it wants a file, the
    /// checks are skipped, because they need the finished file.
    public func judge(_ response: HTTPResponse) async throws {
        let judge = ResponseJudge(settings: settings)
        try await gatherEvidence(of: response)
        try judge.checkHead(of: response, for: request)
        if case .file = request.delivery, response.body.file == nil { return }
        let checks = judge.checks(of: request, and: checks.added)
        if !checks.isEmpty { try await judge.check(decodable(response), checks) }
    }

    /// Ends a response that won't be used, in a filter that sends the request again or responds itself.
    ///
    /// A short body is read for up to a second, so its connection can be reused. Otherwise the transfer is cancelled.
    ///
    /// ```swift
    /// struct TwiceAtMost: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let first = try await next(exchange)
    ///         if first.status != 503 { return first }
    ///         await exchange.discard(first)
    ///         return try await next(exchange)
    ///     }
    /// }
    /// ```
    public func discard(_ response: HTTPResponse) async {
        if response.body.data != nil { return }
        // If data is wanted, the wire step has already read a short body that was available.
        if delivery == .data { return response.body.cancel() }
        await response.body.finish(within: timeout, time: time)
    }

    /// Reads the body into memory for all copies of the response, in a filter that examines it before it's final.
    /// Ignored if the request wants a stream or a file.
    ///
    /// ```swift
    /// struct LockedAccounts: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let response = try await next(exchange)
    ///         if response.status != 403 { return response }
    ///         try await exchange.gatherEvidence(of: response)
    ///         if try response.text().contains("locked") { throw Closed() }
    ///         return response
    ///     }
    /// }
    /// ```
    ///
    /// The body is already in memory if the status is below 300, or if it's short and arrived with its head. Otherwise:
    ///
    /// - If the request accepts the status, the whole body is read, at most `maximumBodyBytes`. Throws if that fails.
    /// - If not, at most `maximumErrorBodyBytes` are read for up to a second, and the rest is cancelled.
    public func gatherEvidence(of response: HTTPResponse) async throws {
        guard response.body.data == nil, request.delivery == .data else { return }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { return try await delivery.collect(response) }
        if request.acceptableStatuses.contains(response.status) { return }
        await response.body.gatherEvidence(
            within: BodyAllowance(bytes: settings.maximumErrorBodyBytes, timeout: timeout, time: time))
    }

    /// Returns the error that ``Request/outcomeCheck`` throws for a response, or nil if it passes or isn't set. For
    /// filters that store responses or add credentials; see ``RequestFailure/refusesCredential``.
    ///
    /// Returns nil without checking if the request doesn't accept the status, or wants a stream or a file. A streamed
    /// body, for example from a cache, is collected first, at most `maximumBodyBytes`. Throws if that fails, or if it's
    /// cancelled.
    public func outcomeFailure(of response: HTTPResponse) async throws -> (any Error)? {
        guard let check = request.outcomeCheck, request.delivery == .data,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { try await delivery.collect(response) }
        do { try await check.judge(decodable(response)) } catch {
            if error.isCancellation { throw error }
            return error
        }
        return nil
    }

    private func decodable(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.decoder = settings.decoder(of: request)
        return response
    }
}

// Values that a filter keeps for a call.
extension Exchange {
    /// Returns a value that's created on first use and shared by all attempts and hops of the call, and work detached
    /// afterward.
    public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        // Casts in patterns avoid an optional of a generic type, whose metadata is looked up each time.
        if let any = activity.ledger.value(key.number), case let known as Value = any { return known }
        let new = make()
        if let any = activity.ledger.add(new, for: key.number), case let known as Value = any { return known }
        return new
    }

    /// Returns the value of a key in this call, or nil if it wasn't created.
    public func value<Value>(of key: CallKey<Value>) -> Value? {
        guard let value = activity.ledger.value(key.number) else { return nil }
        return value as? Value
    }
}

/// The checks of one call; see ``ResponseCheck``.
public struct ExchangeChecks: Sendable {
    let activity: Activity
    let shared: SharedExchange?

    /// Adds a check. It replaces a check of the same name.
    public func add(_ check: ResponseCheck) {
        if let shared { shared.ledger.add(check) } else { activity.ledger.add(check) }
    }

    /// The names of the checks that filters added.
    public var names: [String] { added.map(\.name) }

    var added: [ResponseCheck] { activity.ledger.checks + (shared?.ledger.checks ?? []) }
}
