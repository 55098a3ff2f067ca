public import ErrandHTTP
import ErrandSupport

/// A request's pass through the filters: the request, its HTTP form, and how to deliver the body.
///
/// An exchange is a value. A filter changes its copy and passes it to `next`. Members that concern the whole call, such
/// as ``checks``, `whenAccepted` and `detach`, act on all copies.
public struct Exchange: Sendable {
    private var fields: CopyOnWrite<Fields>
    /// The HTTP request to send.
    public var http: HTTPRequest { didSet { (isAsBuilt, isSettled) = (false, false) } }
    /// The request that the filter was given, to which the sensitive fields and the trust belong. Nil for the request
    /// as it was built.
    private var given: HTTPRequest?
    /// The stage of the filter that receives this exchange.
    public internal(set) var stage: FilterStages = .call
    /// The number of the attempt, from 1. Each `next` below the call filters is an attempt.
    public internal(set) var attempt = 1
    /// The number of the request on the wire within the attempt, from 1. Redirects count.
    public internal(set) var hop = 1
    /// Whether the HTTP request is the one built for the activity, which then knows it already.
    private(set) var isAsBuilt = true
    /// Whether the request is the one that the filter was given, so it can't have moved to another origin.
    @usableFromInline private(set) var isSettled = true

    struct Fields {
        let request: any Request
        var delivery: BodyDelivery
        var timeout: Duration
        var priority: RequestPriority
        var tags: Tags
        var activity: Activity
        /// The activity's accessories, for work that is detached after its end.
        let accessories: [any Accessory]
        let settings: PipelineSettings
        /// The request as it was built.
        let built: HTTPRequest
        /// Set while several calls share this exchange.
        var shared: SharedExchange?
        var trust = OriginTrust()
        var reportsProgress = true
        /// The closures that filters passed to `observeTransport`, newest first.
        var wireObserver: WireObserver?
        /// The marks that filters declared.
        var users: UserMarks?
        /// The record in which a filter collects whose requests are sent.
        var record: UserRecord?
        /// Set if a filter replaced the transport.
        var transport: TransportReference?
    }

    init(_ request: some Request, _ built: RequestBuilder.Built, _ activity: Activity, _ settings: PipelineSettings) {
        http = built.http
        fields = CopyOnWrite(
            Fields(
                request: request, delivery: request.delivery,
                timeout: request.timeout ?? settings.timeout, priority: request.priority ?? .medium,
                tags: activity.tags, activity: activity, accessories: activity.accessories,
                settings: settings, built: built.http, trust: built.trust))
    }

    /// Returns a copy with several internal fields changed in one step.
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
    /// Whether the transport reports progress. Defaults to true. Set it to false in a filter that itself reports the
    /// combined progress of several requests.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }
    /// Calls a closure with everything the transport reports about requests sent for this exchange. The closure runs on
    /// any thread, before accessories are notified. For filters whose protocol uses 1xx responses, which aren't part of
    /// the final response.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.observeTransport { event in
    ///     if case .informational(status: 104, let headers) = event { log(headers[.location]) }
    /// }
    /// ```
    ///
    /// Progress is omitted if ``reportsProgress`` is false. Return quickly, because the transport waits for the
    /// closure.
    public mutating func observeTransport(_ observer: @escaping @Sendable (TransportEvent) -> Void) {
        fields.value.wireObserver = WireObserver(observer, outer: fields.value.wireObserver)
    }

    var wireObserver: WireObserver? { fields.value.wireObserver }
    /// The call that this exchange is a part of.
    public var activity: Activity { fields.value.activity }
    var shared: SharedExchange? { fields.value.shared }

    // MARK: Another origin

    /// The request that the filter was given, including the sensitive fields for its origin.
    var givenRequest: HTTPRequest { given ?? fields.value.built }

    /// Makes the current request the given one for the next steps.
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
    /// The record of whose requests are sent, kept for a filter further out or for the calls that share the exchange.
    var record: (any UserRecording)? { recordOfFilter ?? shared }
    var recordOfFilter: UserRecord? { fields.value.record }
    var replacedTransport: TransportReference? { fields.value.transport }

    /// Accesses the ledger of the call, or of the exchange that several calls share.
    private func ledger<Value>(_ use: (borrowing CallLedger) -> Value) -> Value {
        guard let shared else { return use(activity.ledger) }
        return use(shared.ledger)
    }

    /// The clock to use for waits.
    public var time: any TimeSource { activity.time }

    /// The time at which the call's deadline passes, by the clock ``time``. Nil if there's no deadline.
    ///
    /// Don't start a wait that ends later. If several calls share the exchange, this is the latest of their deadlines.
    public var deadline: ContinuousClock.Instant? {
        guard let shared else { return activity.deadline }
        return shared.deadline
    }

    /// The number of this call's failures that filters declared final; see ``declareFailureFinal()``.
    public var finalFailures: Int { ledger { $0.finalFailures } }

    /// Declares that the failure passed on by the filter is final, because the request was repeated as often as
    /// allowed.
    ///
    /// Filters that repeat requests can be nested, such as a retry around a download. Only the innermost filter that
    /// can repeat a request should do so: a filter further out compares ``finalFailures`` before and after `next`, and
    /// passes the failure on if the number has grown.
    public func declareFailureFinal() { ledger { $0.declareFailureFinal() } }

    /// The number of this call's requests that a server may have received so far. Counts each request that the
    /// transport accepted, except those that failed with ``ErrandError/Code/cannotConnect`` or
    /// ``ErrandError/Code/nameLookupFailed``.
    ///
    /// These errors tell you only that the last request didn't reach a server. Earlier ones did, if there was a
    /// redirect or if a filter further in sent several. A filter that repeats requests which must not be received twice
    /// should compare this number before and after `next`.
    public var possibleDeliveries: Int { ledger { $0.possibleDeliveries } }

    /// The number of this call's requests passed to the transport so far, including attempts, redirects and hedges.
    ///
    /// In a wire filter, before it calls `next`, this is 0 for the first request, 1 for the first repetition, and so
    /// on.
    public var transferCount: Int { activity.ledger.transferCount }

    func addDeliveries(_ count: Int) { ledger { $0.addDeliveries(count) } }

    /// The checks that run on the final response.
    public var checks: ExchangeChecks { ExchangeChecks(activity: activity, shared: shared) }

    /// Schedules work that depends on whether the response is accepted: `commit` runs once all checks and decoding have
    /// succeeded, otherwise `discard` runs.
    ///
    /// Both run before will-stop, so return quickly and detach long work.
    public func whenAccepted(
        _ commit: @escaping @Sendable () async -> Void, otherwise discard: @escaping @Sendable () async -> Void = {}
    ) {
        ledger { $0.stage(StagedWork(commit: commit, discard: discard)) }
    }

    /// The number of scheduled pieces of work; see ``discardStagedWork(after:)``.
    public var stagedWorkCount: Int { ledger { $0.stagedWorkCount } }

    /// Discards work that later filters have scheduled for a response that won't be used. For filters that call `next`
    /// again, or respond themselves.
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
    /// - Parameter count: the value of ``stagedWorkCount`` before `next` was called.
    public func discardStagedWork(after count: Int) async {
        if stagedWorkCount <= count { return }
        await ledger { $0.takeStagedWork(after: count) }.discard()
    }

    /// Runs work that outlives the call, as a separate activity. It's cancelled by `cancelAll()` and when the agent is
    /// deallocated.
    ///
    /// In the body, use the exchange that is passed to it.
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

    /// Sends accessories a message worth logging. Has no effect once the activity is over.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        activity.note(name, message(), details: details())
    }

    /// Notifies the call of an event on the wire, like ``Activity/report(_:)``. For filters that send their own
    /// exchanges. If several calls share the exchange, all of them are notified.
    public func report(_ event: TransportEvent) {
        if let shared { shared.report(event, isMeasured: true) } else { activity.report(event, isMeasured: true) }
    }
}

extension Exchange {
    /// Checks a response as Core will do at the end: status, content type and checks. Throws if one fails. For filters
    /// that need the result earlier, such as a retry.
    ///
    /// If the request wants its body as data, a stream is collected first, as in ``gatherEvidence(of:)``. If it wants a
    /// file, the checks are skipped, because they check the finished file.
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
    /// A short body is read for up to a second, so the connection can be reused. Otherwise the transfer is cancelled.
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
        // If the body is wanted as data, the wire step has already read it if it was short and available.
        if delivery == .data { return response.body.cancel() }
        await response.body.finish(within: timeout, time: time)
    }

    /// Reads the body into memory, in a filter that has to examine it before the response is final. Every copy of the
    /// response then has the bytes. Has no effect if the request wants its body as a stream or in a file.
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
    /// The body is already in memory if the status is below 300, or if it's short and arrived with its head. Otherwise
    /// this method reads it:
    ///
    /// - If the request accepts the status, it reads the whole body, at most `maximumBodyBytes`, and throws errors that
    ///   occur.
    /// - If not, it reads what an error keeps: up to `maximumErrorBodyBytes` and for up to a second. The rest is
    ///   cancelled.
    public func gatherEvidence(of response: HTTPResponse) async throws {
        guard response.body.data == nil, request.delivery == .data else { return }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { return try await delivery.collect(response) }
        if request.acceptableStatuses.contains(response.status) { return }
        await response.body.gatherEvidence(
            within: BodyAllowance(bytes: settings.maximumErrorBodyBytes, timeout: timeout, time: time))
    }

    /// Returns the error that the request's ``Request/outcomeCheck`` throws for a response, or nil if the check passes
    /// or there is none. For filters that store responses or add credentials; see ``RequestFailure/refusesCredential``.
    ///
    /// Returns nil without a check if the request doesn't accept the status, or wants its body as a stream or in a
    /// file. A streamed body, for example from a cache, is collected first, at most `maximumBodyBytes`. Throws errors
    /// from collecting, and cancellations.
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

    /// Returns the response with the request's decoder, as Core passes it to checks.
    private func decodable(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.decoder = settings.decoder(of: request)
        return response
    }
}

// Values that a filter keeps for a call.
extension Exchange {
    /// Returns a value that is created on first use and shared by the whole call: all attempts, hops, and work detached
    /// afterward.
    public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        guard let known = activity.ledger.add(new, for: key.number) else { return new }
        return known as? Value ?? new
    }

    /// Returns the value of a key in this call, or nil if it hasn't been created.
    public func value<Value>(of key: CallKey<Value>) -> Value? {
        guard let value = activity.ledger.value(key.number) else { return nil }
        return value as? Value
    }
}
