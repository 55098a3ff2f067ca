public import ErrandHTTP
import ErrandSupport

/// One pass of a request through the filters: the request, what goes over the wire, how the body is to be delivered.
///
/// A value: a filter changes its copy and passes it to `next`. What concerns the whole call, `checks`, `whenAccepted`
/// and `detach`, is shared by all copies.
public struct Exchange: Sendable {
    private var fields: CopyOnWrite<Fields>
    /// The request that goes over the wire.
    public var http: HTTPRequest { didSet { (isAsBuilt, isSettled) = (false, false) } }
    /// The request that the sensitive fields and the trust belong to: the one that the filter was given. Nil for the
    /// request that was built.
    private var given: HTTPRequest?
    /// The stage in which the filter stands that sees this.
    public internal(set) var stage: FilterStages = .call
    /// Which attempt this is, from 1: each `next` below the call filters is one.
    public internal(set) var attempt = 1
    /// Which request on the wire within the attempt, from 1: redirects count.
    public internal(set) var hop = 1
    /// Whether the request on the wire is what was built for the activity, which then knows it.
    private(set) var isAsBuilt = true
    /// Whether the request is the one that the filter was given, so that it cannot have moved to another origin.
    @usableFromInline private(set) var isSettled = true

    struct Fields {
        let request: any Request
        var delivery: BodyDelivery
        var timeout: Duration
        var priority: RequestPriority
        var tags: Tags
        var activity: Activity
        /// The accessories of the activity, for work that is detached after its end.
        let accessories: [any Accessory]
        let settings: PipelineSettings
        /// The request as it was built.
        let built: HTTPRequest
        /// Set while several calls have this carried out for all of them.
        var shared: SharedExchange?
        var trust = OriginTrust()
        var reportsProgress = true
        /// What filters have asked for with `observeTransport`, the newest first.
        var wireObserver: WireObserver?
        /// The marks that filters have declared.
        var users: UserMarks?
        /// Where a filter records whose requests are sent.
        var record: UserRecord?
        /// Set where a filter has replaced the transport.
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

    /// Internal changes, in one step.
    func with(_ change: (inout Fields) -> Void) -> Exchange {
        var copy = self
        change(&copy.fields.value)
        return copy
    }

    /// The request as the user wrote it; a plugin finds its own by `exchange.request as? any CacheableRequest`.
    public var request: any Request { fields.value.request }
    /// How the body is to be delivered.
    public var delivery: BodyDelivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// The longest inactivity in one attempt.
    public var timeout: Duration {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue }
    }
    /// A hint for the transport.
    public var priority: RequestPriority {
        get { fields.value.priority }
        set { fields.value.priority = newValue }
    }
    /// The request's, with those of the call.
    public var tags: Tags {
        get { fields.value.tags }
        set { fields.value.tags = newValue }
    }
    /// Whether the transport reports progress; true by default. A filter that reports the progress of several requests
    /// itself sets it to false.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }
    /// Calls a closure with what the transport reports of each request on the wire that this exchange becomes: from any
    /// thread, before accessories receive it. For a filter whose protocol uses 1xx responses, which no response shows.
    ///
    /// ```swift
    /// var exchange = exchange
    /// exchange.observeTransport { event in
    ///     if case .informational(status: 104, let headers) = event { log(headers[.location]) }
    /// }
    /// ```
    ///
    /// Progress is left out where ``reportsProgress`` is false. Be brief: a transport waits for the closure.
    public mutating func observeTransport(_ observer: @escaping @Sendable (TransportEvent) -> Void) {
        fields.value.wireObserver = WireObserver(observer, outer: fields.value.wireObserver)
    }

    var wireObserver: WireObserver? { fields.value.wireObserver }
    /// The call that this is a part of.
    public var activity: Activity { fields.value.activity }
    var shared: SharedExchange? { fields.value.shared }

    // MARK: Another origin

    /// The request that the filter was given: with its sensitive fields, for its origin.
    var givenRequest: HTTPRequest { given ?? fields.value.built }

    /// Makes the request the given one for what follows.
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
    /// Where whose requests are sent is recorded: for a filter further out, or for the calls that share the exchange.
    var record: (any UserRecording)? { recordOfFilter ?? shared }
    var recordOfFilter: UserRecord? { fields.value.record }
    var replacedTransport: TransportReference? { fields.value.transport }

    /// The ledger of the call, or of the exchange that several calls share.
    private func ledger<Value>(_ use: (borrowing CallLedger) -> Value) -> Value {
        guard let shared else { return use(activity.ledger) }
        return use(shared.ledger)
    }

    /// The clock to wait by.
    public var time: any TimeSource { activity.time }

    /// When the deadline of the call passes, by ``time``; nil without one. A filter does not begin a wait that ends
    /// later. Where several calls share an exchange, this is the latest of their deadlines.
    public var deadline: ContinuousClock.Instant? {
        guard let shared else { return activity.deadline }
        return shared.deadline
    }

    /// How many failures of this call a filter has declared final; see ``declareFailureFinal()``.
    public var finalFailures: Int { ledger { $0.finalFailures } }

    /// Declares the failure that the filter passes on final: it was repeated as often as it may be.
    ///
    /// Filters that repeat requests may stand within one another, such as a retry around a download. Only the innermost
    /// filter that can repeat a request repeats it: one further out compares ``finalFailures`` before and after `next`,
    /// and passes a failure on if it has grown.
    public func declareFailureFinal() { ledger { $0.declareFailureFinal() } }

    /// How many requests of this call a server may have received so far: each that the transport took, but for those
    /// that failed with ``ErrandError/Code/cannotConnect`` or ``ErrandError/Code/nameLookupFailed``.
    ///
    /// Such a failure says of its own request alone that no server got it: behind a redirect, or where a filter further
    /// in has sent several, others were received. A filter that repeats what may not be received twice compares the
    /// number before and after `next`.
    public var possibleDeliveries: Int { ledger { $0.possibleDeliveries } }

    /// How many requests of this call have gone to the transport so far, for attempts, redirects and hedges. At the
    /// wire stage before `next` it is the ordinal number of the request as one that is sent again: 0 for the first.
    public var transferCount: Int { activity.ledger.transferCount }

    func addDeliveries(_ count: Int) { ledger { $0.addDeliveries(count) } }

    /// The checks that run on the final response.
    public var checks: ExchangeChecks { ExchangeChecks(activity: activity, shared: shared) }

    /// Keeps something if the response is accepted: `commit` runs once all checks and the decoding have passed,
    /// `otherwise` runs if not. Both before will-stop, so be brief; detach what takes long.
    public func whenAccepted(
        _ commit: @escaping @Sendable () async -> Void, otherwise discard: @escaping @Sendable () async -> Void = {}
    ) {
        ledger { $0.stage(StagedWork(commit: commit, discard: discard)) }
    }

    /// The number of pieces of work that wait for the response; see ``discardStagedWork(after:)``.
    public var stagedWorkCount: Int { ledger { $0.stagedWorkCount } }

    /// Discards the work that filters further on have staged for a response that is not used; for a filter that calls
    /// `next` again after it, or responds by itself.
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
    /// - Parameter count: ``stagedWorkCount`` before `next` was called.
    public func discardStagedWork(after count: Int) async {
        if stagedWorkCount <= count { return }
        await ledger { $0.takeStagedWork(after: count) }.discard()
    }

    /// Does work that outlives the call, as an activity of its own that `cancelAll()` and the end of the agent reach.
    /// Within the body use the exchange that it is given.
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

    /// Notifies accessories of something worth a line in a log. Does nothing once the activity is over.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        activity.note(name, message(), details: details())
    }

    /// Notifies the call of what happens on the wire, as ``Activity/report(_:)`` does; for a filter that sends
    /// exchanges of its own. Where several calls share the exchange, all of them are notified.
    public func report(_ event: TransportEvent) {
        if let shared { shared.report(event, isMeasured: true) } else { activity.report(event, isMeasured: true) }
    }
}

extension Exchange {
    /// Judges a response as Core will in the end: status, content type, checks; throws what is wrong. For a filter that
    /// has to know before, such as one that retries.
    ///
    /// If the request wants its body as data, a stream is collected for that first, as by ``gatherEvidence(of:)``. If it
    /// wants a file, the checks are left out, since they judge the file once that is written.
    public func judge(_ response: HTTPResponse) async throws {
        let judge = ResponseJudge(settings: settings)
        try await gatherEvidence(of: response)
        try judge.checkHead(of: response, for: request)
        if case .file = request.delivery, response.body.file == nil { return }
        let checks = judge.checks(of: request, and: checks.added)
        if !checks.isEmpty { try await judge.check(decodable(response), checks) }
    }

    /// Ends a response that is not used, for a filter that sends the request again or responds by itself: a short body is
    /// read, within a second, so that its connection can be reused; the transfer of any other is cancelled.
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
        // Of a body that is wanted as data the wire step has read what was short and there.
        if delivery == .data { return response.body.cancel() }
        await response.body.finish(within: timeout, time: time)
    }

    /// Reads the body of a response for a filter that has to look at it before the response is the last: every copy of
    /// the response then has the bytes in memory. Does nothing if the request wants its body as a stream or in a file.
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
    /// The body of a status below 300 is in memory anyway, and so is a short one of any status that has arrived with its
    /// head. Any other is read here: all of it if the request accepts the status, at most `maximumBodyBytes`; else as
    /// much as an error keeps of it, `maximumErrorBodyBytes` and what arrives within a second, and the rest is cancelled.
    /// Throws the error of reading an accepted body.
    public func gatherEvidence(of response: HTTPResponse) async throws {
        guard response.body.data == nil, request.delivery == .data else { return }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { return try await delivery.collect(response) }
        if request.acceptableStatuses.contains(response.status) { return }
        await response.body.gatherEvidence(
            within: BodyAllowance(bytes: settings.maximumErrorBodyBytes, timeout: timeout, time: time))
    }

    /// The error that the request's ``Request/outcomeCheck`` throws for a response; nil where it passes, and where the
    /// request has none. For a filter that stores responses, or that adds credentials: see
    /// ``RequestFailure/refusesCredential``.
    ///
    /// A response of a status that the request does not accept is not looked at, nor is one that the request wants as a
    /// stream or in a file. A body that comes as a stream, such as from a cache, is collected, at most
    /// `maximumBodyBytes` of it. Throws the error of doing that, and a cancellation.
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

    /// The response as Core gives it to checks, with the decoder of the request.
    private func decodable(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.decoder = settings.decoder(of: request)
        return response
    }
}

// Values that a filter keeps for a call.
extension Exchange {
    /// A value that is the same for the whole call, made when it is first asked for: in each attempt, on each hop, and
    /// in work that is detached from then on.
    public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        guard let known = activity.ledger.add(new, for: key.number) else { return new }
        return known as? Value ?? new
    }

    /// The value of a key in this call; nil where it has not been made.
    public func value<Value>(of key: CallKey<Value>) -> Value? {
        guard let value = activity.ledger.value(key.number) else { return nil }
        return value as? Value
    }
}
