public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Sends requests over the network, with a base URL, a transport, filters and accessories. Tracks running requests.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// let user = try await agent.send(GetUser(id: 7)).value
/// ```
///
/// Keep one agent per backend, because it owns the transport and its connections. Use it from any thread or actor. A
/// running request keeps its agent alive. When the agent is deallocated, it cancels detached work and releases the
/// transport.
public final class NetworkAgent: Agent {
    private let registry: ActivityRegistry
    private let transport: any Transport
    private let settings: Mutex<Settings>

    private struct Settings {
        let configuration: AgentConfiguration
        let pipeline: PipelineSettings
        let accessories: [any Accessory]

        init(_ configuration: AgentConfiguration, _ transport: any Transport) {
            (self.configuration, pipeline) = (configuration, configuration.settings(for: transport))
            accessories = configuration.accessories.withoutRepetitions
        }
    }

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - baseURL: See ``AgentConfiguration/baseURL``.
    ///   - transport: Sends the requests.
    ///   - filters: Filters for every request. Defaults to empty.
    ///   - accessories: Accessories for every request. Defaults to empty.
    ///   - time: The clock. Defaults to the system's.
    public convenience init(
        baseURL: String, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        var configuration = AgentConfiguration(baseURL: baseURL)
        configuration.filters = filters
        configuration.accessories = accessories
        self.init(configuration: configuration, transport: transport, time: time)
    }

    /// Creates an agent with a `URL` as its base URL.
    public convenience init(
        baseURL: URL, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(
            baseURL: baseURL.absoluteString, transport: transport, filters: filters, accessories: accessories,
            time: time)
    }

    /// Creates an agent with a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The settings for its requests.
    ///   - transport: Sends the requests.
    ///   - time: The clock. Defaults to the system's.
    public init(configuration: AgentConfiguration, transport: any Transport, time: some TimeSource = SystemTimeSource())
    {
        registry = ActivityRegistry(time: time)
        self.transport = transport
        settings = Mutex(Settings(configuration, transport))
    }

    deinit { registry.cancelAll { _ in true } }

    /// The settings for requests that start now. Running requests keep their settings.
    public var configuration: AgentConfiguration { settings.withLock { $0.configuration } }

    /// Changes the configuration atomically, for requests that start afterward.
    ///
    /// ```swift
    /// agent.configure { $0.baseURL = agent.configuration.baseURL + "/v2" }
    /// ```
    ///
    /// The closure changes a copy outside the lock, so it can use the agent. If another change is stored meanwhile, the
    /// closure runs again on the newer configuration. A change that the closure itself makes with `configure` runs
    /// once, and is stored before the outer change.
    public func configure(_ change: (inout AgentConfiguration) throws -> Void) rethrows {
        if ConfigurationChange.isRepeated(on: self) {
            // The first run of the enclosing change has already stored this change.
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

    /// The running activities, including background work.
    public var activities: [Activity] { registry.activities }

    /// Cancels all running activities, or only the ones that match. Returns how many.
    ///
    /// ```swift
    /// agent.cancelAll { $0.request is GetFeed || $0.tags[Screen.self] == "profile" }
    /// ```
    @discardableResult
    public func cancelAll(where matches: (Activity) -> Bool = { _ in true }) -> Int {
        registry.cancelAll(where: matches)
    }

    /// Builds the HTTP request for a request, without filters. Doesn't send it. Throws ``ErrandError`` if the request
    /// can't be built.
    public func httpRequest(for request: some Request) throws -> HTTPRequest {
        try RequestBuilder(settings.withLock { $0.pipeline }).validRequest(request, request.tags)
    }

    /// Returns the request that the transport would receive now. Doesn't send it.
    ///
    /// ```swift
    /// let url = try await agent.filteredRequest(for: GetUser(id: 7)).url
    /// ```
    ///
    /// Runs the filters that change or sign requests, according to their ``FilterTraits``, off the caller's actor.
    /// Skips caches, retries, cookies and sessions, and doesn't notify accessories. Throws the errors of
    /// ``httpRequest(for:)`` and the filters.
    @concurrent
    public func filteredRequest(
        for request: some Request, options: CallOptions = CallOptions()
    ) async throws -> HTTPRequest {
        var silent = options
        (silent.accessories, silent.progress) = ([], nil)
        let activity = activity(.request, accessories: [], options: silent, request: request, tags: request.tags)
        return try await FilteredRequest(settings: settings.withLock { $0.pipeline }, activity: activity).make(
            of: request, options.allFilters)
    }

    /// Returns the users for whom a request would be sent now, without sending it. See
    /// ``Agent/userMarks(for:options:)``. Throws the errors of filters.
    @concurrent
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? {
        var silent = options
        (silent.accessories, silent.progress) = ([], nil)
        let activity = activity(.request, accessories: [], options: silent, request: request, tags: request.tags)
        return try await FilteredRequest(settings: settings.withLock { $0.pipeline }, activity: activity)
            .userMarks(of: request, options.allFilters)
    }

    /// Explains how a request would be processed now. Doesn't send it.
    ///
    /// ```swift
    /// print(agent.explain(GetUser(id: 7)))
    /// ```
    public func explain(_ request: some Request, options: CallOptions = CallOptions()) -> RequestExplanation {
        RequestExplanation(
            request, settings.withLock { $0.pipeline }, callFilters: options.allFilters,
            tags: request.tags.merging(options.tags))
    }

    /// Sends a request and returns its response. See ``Agent/send(_:options:)``.
    @inlinable @discardableResult
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        let actor = #isolation
        let running = begin(request, options, inPlace: actor == nil)
        if !running.isDone { await running.joined() }
        return try running.result.response()
    }

    /// Starts a request and returns its handle. Accessories receive will-start before this method returns.
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
            ($0.pipeline, $0.accessories, $0.configuration.deadline)
        }
        let boxed: any Request = request
        let activity = activity(
            .request, accessories: accessories, options: options, request: boxed, tags: request.tags,
            own: request.accessories,
            deadline: request.deadline ?? deadline)
        let (filters, priority) = (options.allFilters, request.priority?.task)
        let (completion, pipeline) = (completion(activity), RequestPipeline(settings: settings, activity: activity))
        return registry.launch(activity, keeping: self, inPlace: inPlace) { result in
            if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(priority: priority) { @concurrent in
                    await pipeline.run(boxed, filters: filters, result: result, completion: completion)
                }
            }
            return Task(priority: priority) { @concurrent in
                await pipeline.run(boxed, filters: filters, result: result, completion: completion)
            }
        }
    }

    /// Starts a plugin's kind of activity, such as a batch, and returns its handle. See
    /// ``Agent/start(_:options:completion:body:)``.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        let filters = options.allFilters
        let tags = filters.isEmpty ? Tags() : Tags().with(InheritedFilters.self, filters)
        let activity = activity(
            kind, accessories: settings.withLock { $0.accessories }, options: options, tags: tags)
        return RequestHandle(
            registry.launch(activity, keeping: self, completion: completion?.delivery(to: activity)) { result in
                result.succeed(try await body(activity))
                return nil
            })
    }

    private func activity(
        _ kind: ActivityKind, accessories: [any Accessory], options: CallOptions,
        request: consuming (any Request)? = nil, tags: Tags = Tags(), own: [any Accessory] = [],
        deadline: Duration? = nil
    ) -> Activity {
        var all = accessories
        if !own.isEmpty || !options.accessories.isEmpty { all = (all + own + options.accessories).withoutRepetitions }
        return Activity(
            kind, request: request, label: options.label, tags: tags.merging(options.tags), parent: options.parent?.id,
            deadline: deadline, accessories: all, registry: registry, progress: options.progress)
    }
}

extension NetworkAgent: CustomStringConvertible {
    /// The base URL with masked secrets, and the number of running activities.
    public var description: String {
        let baseURL = configuration.baseURL
        return "\(baseURL.isEmpty ? "no base URL" : URLSyntax.redacted(baseURL)), \(activities.count) running"
    }
}

/// Detects configuration changes that are made inside the closure of another change. If the outer closure runs again,
/// the inner changes must not be stored again, because each stored change makes the outer closure run again.
final class ConfigurationChange: Sendable {
    @TaskLocal private static var current: ConfigurationChange?

    private let owner: ObjectIdentifier
    private let isRepeated: Bool
    private let outer: ConfigurationChange?
    private let isOver = Atomic(false)

    private init(_ owner: AnyObject, isRepeated: Bool) {
        self.owner = ObjectIdentifier(owner)
        self.isRepeated = isRepeated
        outer = Self.current
    }

    static func run(on owner: AnyObject, isRepeated: Bool, _ change: () throws -> Void) rethrows {
        let run = ConfigurationChange(owner, isRepeated: isRepeated)
        // A task that the change started inherits the task-local value and can outlive the change.
        defer { run.isOver.store(true, ordering: .releasing) }
        try $current.withValue(run) { try change() }
    }

    static func isRepeated(on owner: AnyObject) -> Bool {
        var run = current
        while let change = run {
            if change.owner == ObjectIdentifier(owner), change.isRepeated, !change.isOver.load(ordering: .acquiring) {
                return true
            }
            run = change.outer
        }
        return false
    }
}
