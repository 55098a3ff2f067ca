public import ErrandEssentials
public import ErrandHTTP
import ErrandSupport
import Synchronization

/// The agent that goes to the network: a base URL, a transport, filters, accessories and what is running.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// let user = try await agent.send(GetUser(id: 7)).value
/// ```
///
/// Make one for each backend and keep it: it owns the transport with its connections. Safe to use from anywhere. A
/// running request keeps its agent alive; when the agent goes, detached work is cancelled and the transport released.
public final class NetworkAgent: Agent {
    private let registry: ActivityRegistry
    private let transport: any Transport
    private let settings: Mutex<Settings>

    /// A configuration, and what is made of it.
    private struct Settings {
        let configuration: AgentConfiguration
        let pipeline: PipelineSettings

        init(_ configuration: AgentConfiguration, _ transport: any Transport) {
            (self.configuration, pipeline) = (configuration, configuration.settings(for: transport))
        }
    }

    /// - Parameters:
    ///   - baseURL: absolute, `http` or `https`. May be empty for an agent whose requests have absolute URLs; a
    ///     relative path then throws ``ErrandError/Code/invalidURL``.
    ///   - transport: sends the requests.
    ///   - filters: those of every request, in their order; none by default.
    ///   - accessories: those that observe every request; none by default.
    ///   - time: the clock; the system's by default.
    public convenience init(
        baseURL: String, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        var configuration = AgentConfiguration(baseURL: baseURL)
        configuration.filters = filters
        configuration.accessories = accessories
        self.init(configuration: configuration, transport: transport, time: time)
    }

    /// The same with a base that is a `URL` already.
    public convenience init(
        baseURL: URL, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(
            baseURL: baseURL.absoluteString, transport: transport, filters: filters, accessories: accessories,
            time: time)
    }

    /// Makes an agent of a complete configuration.
    public init(configuration: AgentConfiguration, transport: any Transport, time: some TimeSource = SystemTimeSource())
    {
        registry = ActivityRegistry(time: time)
        self.transport = transport
        settings = Mutex(Settings(configuration, transport))
    }

    deinit { registry.cancelAll { _ in true } }

    /// The configuration of the next start; a running request keeps the one that it started with.
    public var configuration: AgentConfiguration { settings.withLock { $0.configuration } }

    /// Changes the configuration in one step, from the next start on.
    ///
    /// ```swift
    /// agent.configure { $0.baseURL = agent.configuration.baseURL + "/v2" }
    /// ```
    ///
    /// The closure runs on a copy and under no lock, so it may use the agent. No change is lost: if another one is
    /// stored while it runs, it runs again, on the newer configuration. A change within a change counts once, and
    /// before it.
    public func configure(_ change: (inout AgentConfiguration) throws -> Void) rethrows {
        if ConfigurationChange.isRepeated(on: self) {
            // The first run of the change around this one has stored it.
            var configuration = configuration
            return try change(&configuration)
        }
        var isRepeated = false
        while true {
            let before = settings.withLock { $0 }
            var configuration = before.configuration
            try ConfigurationChange.run(on: self, isRepeated: isRepeated) { try change(&configuration) }
            let after = Settings(configuration, transport)
            let isStored = settings.withLock { settings in
                if settings.pipeline === before.pipeline { settings = after }
                return settings.pipeline === after.pipeline
            }
            withExtendedLifetime(before) {}
            if isStored { return }
            isRepeated = true
        }
    }

    /// The activities that run at this moment, background work included.
    public var activities: [Activity] { registry.activities }

    /// Cancels all running activities, or those that match, and returns their number.
    ///
    /// ```swift
    /// agent.cancelAll { $0.request is GetFeed || $0.tags[Screen.self] == "profile" }
    /// ```
    @discardableResult
    public func cancelAll(where matches: (Activity) -> Bool = { _ in true }) -> Int {
        registry.cancelAll(where: matches)
    }

    /// The request as it would be built now, before filters; nothing is sent.
    public func httpRequest(for request: some Request) throws -> HTTPRequest {
        try RequestBuilder(settings.withLock { $0.pipeline }).validRequest(request, request.tags)
    }

    /// The request as the filters make it: with the URL, the headers and the body that would go to the transport now.
    ///
    /// ```swift
    /// let url = try await agent.filteredRequest(for: GetUser(id: 7)).url
    /// ```
    ///
    /// Nothing is sent. The filters that change or sign requests run, by their ``FilterTraits``, of every stage and off
    /// the caller's actor; caches, retries, cookies and sessions are left out, and accessories receive nothing. Throws
    /// what ``httpRequest(for:)`` throws, and the errors of the filters.
    @concurrent
    public func filteredRequest(
        for request: some Request, options: CallOptions = CallOptions()
    ) async throws -> HTTPRequest {
        var silent = options
        (silent.accessories, silent.progress) = ([], nil)
        let activity = activity(.request, [], silent, request: request, tags: request.tags)
        return try await FilteredRequest(settings: settings.withLock { $0.pipeline }, activity: activity).make(
            of: request, options.allFilters)
    }

    /// Finds out for whom a request would be sent now, without sending it; see ``Agent/userMarks(for:options:)``. Throws
    /// what filters throw.
    @concurrent
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? {
        var silent = options
        (silent.accessories, silent.progress) = ([], nil)
        let activity = activity(.request, [], silent, request: request, tags: request.tags)
        return try await FilteredRequest(settings: settings.withLock { $0.pipeline }, activity: activity)
            .userMarks(of: request, options.allFilters)
    }

    /// The way that a request would take now: URL, filters in their order, transport, checks, and what is wrong with
    /// the order. Nothing is sent.
    ///
    /// ```swift
    /// print(agent.explain(GetUser(id: 7)))
    /// ```
    public func explain(_ request: some Request, options: CallOptions = CallOptions()) -> RequestExplanation {
        RequestExplanation(
            request, settings.withLock { $0.pipeline }, callFilters: options.allFilters,
            tags: request.tags.merging(options.tags))
    }

    /// Sends a request and returns its response. Cancelling the calling task cancels the request.
    ///
    /// Throws ``ErrandError``, and what filters, checks and `decode` throw, each after the `mapError` of the
    /// configuration and then the request's; neither changes a cancellation or a passed deadline.
    @inlinable @discardableResult
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        let actor = #isolation
        let running = begin(request, options, inPlace: actor == nil)
        if !running.isDone { await running.joined() }
        return try running.result.response()
    }

    /// Starts a request and returns at once; the accessories have received will-start by then.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        let read: @Sendable (ActivityResult) throws -> Response<R.Output> = { try $0.response() }
        let running = begin(request, options, inPlace: false) { completion?.delivery(to: $0, read: read) }
        return RequestHandle(running, read: read)
    }

    @usableFromInline func begin(
        _ request: some Request, _ options: CallOptions, inPlace: Bool,
        completion: (Activity) -> (@Sendable (ActivityResult) async -> Void)? = { _ in nil }
    ) -> RunningActivity {
        let (settings, accessories, deadline) = settings.withLock {
            ($0.pipeline, $0.configuration.accessories, $0.configuration.deadline)
        }
        let activity = activity(
            .request, accessories, options, request: request, tags: request.tags, own: request.accessories,
            deadline: request.deadline ?? deadline)
        let (filters, priority) = (options.allFilters, request.priority?.task)
        let (completion, pipeline) = (completion(activity), RequestPipeline(settings: settings, activity: activity))
        return registry.launch(activity, keeping: self, inPlace: inPlace) { result in
            if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(priority: priority) { @concurrent in
                    await pipeline.run(request, filters, result, completion)
                }
            }
            return Task(priority: priority) { @concurrent in await pipeline.run(request, filters, result, completion) }
        }
    }

    /// Runs an activity of another kind around a body.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        let filters = options.allFilters
        let tags = filters.isEmpty ? Tags() : Tags().with(InheritedFilters.self, filters)
        let activity = activity(kind, configuration.accessories, options, tags: tags)
        return RequestHandle(
            registry.launch(activity, keeping: self, completion: completion?.delivery(to: activity)) { result in
                result.succeed(try await body(activity))
                return nil
            })
    }

    private func activity(
        _ kind: ActivityKind, _ accessories: [any Accessory], _ options: CallOptions,
        request: consuming (any Request)? = nil, tags: Tags = Tags(), own: [any Accessory] = [],
        deadline: Duration? = nil
    ) -> Activity {
        var all = accessories
        if !own.isEmpty || !options.accessories.isEmpty { all += own + options.accessories }
        return Activity(
            kind, request: request, label: options.label, tags: tags.merging(options.tags), parent: options.parent?.id,
            deadline: deadline, accessories: all, registry: registry, progress: options.progress)
    }
}
