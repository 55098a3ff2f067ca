/// One trip of a request through the filters: what was asked, what goes over the wire, how its body is to come back.
///
/// A value: a filter changes its copy and hands it to `next`. What concerns the whole call, `checks`, `whenAccepted`
/// and `detach`, is shared by all copies.
public struct Exchange: Sendable {
    /// The request as the user wrote it; a plugin finds its own by `exchange.request as? any CacheableRequest`.
    public let request: any Request
    /// What goes over the wire.
    public var http: HTTPRequest
    public var delivery: BodyDelivery
    /// The longest silence in one try.
    public var timeout: Duration
    public var priority: RequestPriority
    public var tags: Tags
    public private(set) var activity: Activity
    /// The stage in which the filter stands that sees this.
    public internal(set) var stage: FilterStages = .call
    /// Which try this is, from 1: `next` below the call filters counts them.
    public internal(set) var attempt = 1
    /// Which request on the wire within the try, from 1: redirects count.
    public internal(set) var hop = 1
    let settings: AgentSettings

    init(
        request: any Request, http: HTTPRequest, delivery: BodyDelivery, timeout: Duration, priority: RequestPriority,
        tags: Tags, activity: Activity, settings: AgentSettings
    ) {
        self.request = request
        self.http = http
        self.delivery = delivery
        self.timeout = timeout
        self.priority = priority
        self.tags = tags
        self.activity = activity
        self.settings = settings
    }

    /// The clock to wait by.
    public var time: any TimeSource { activity.registry.time }

    /// The judgements that Core will pass on the final answer.
    public var checks: ExchangeChecks { ExchangeChecks(activity: activity) }

    /// Keeps something if the answer is accepted: `commit` runs once all checks and the decoding have passed,
    /// `otherwise` runs if not. Both before will-stop, so be brief; detach what takes long.
    public func whenAccepted(
        _ commit: @escaping @Sendable () async -> Void, otherwise discard: @escaping @Sendable () async -> Void = {}
    ) {
        activity.stage(StagedWork(commit: commit, discard: discard))
    }

    /// Does work that outlives the call, as an activity of its own that `cancelAll()` and the end of the agent reach.
    /// Within the body use the exchange that it is given.
    @discardableResult
    public func detach(
        _ label: String, body: @escaping @Sendable (Exchange) async throws -> Void
    ) -> RequestHandle<Void> {
        let background = Activity(
            .background, request: request, label: label, tags: tags, parent: activity.id,
            accessories: activity.accessories, registry: activity.registry)
        var exchange = self
        exchange.activity = background
        let task = activity.registry.launch(background) { [exchange] _ in try await body(exchange) }
        return RequestHandle(activity: background, task: task)
    }

    /// Tells accessories something worth a line in a log.
    public func note(_ name: String, _ message: @autoclosure () -> String, details: (any Sendable)? = nil) {
        activity.tell(.note(ActivityNote(name, message(), details: details)))
    }

    /// Judges an answer as Core will in the end: status, content type, checks; throws what is wrong. For a filter that
    /// has to know before, such as one that retries.
    public func judge(_ response: HTTPResponse) async throws {
        try await settings.judge(response, request, checks: activity.checks)
    }
}

/// The checks of one call; see ``ResponseCheck``.
public struct ExchangeChecks: Sendable {
    let activity: Activity

    public func add(_ check: ResponseCheck) { activity.add(check) }

    public var names: [String] { activity.checks.map(\.name) }
}
