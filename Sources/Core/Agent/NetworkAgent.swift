import ErrandSupport

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import Synchronization

/// The agent that goes to the network: a base URL, a transport, filters, accessories and what is running.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
/// let user = try await agent.send(GetUser(id: 7)).value
/// ```
///
/// Make one for each backend and keep it: it owns the transport with its connections. Safe to use from anywhere. A
/// running request keeps its agent alive; when the agent goes, detached work is cancelled and the transport let go.
public final class NetworkAgent: Agent {
    private let registry: ActivityRegistry
    private let transport: any Transport
    private let settings: Mutex<AgentSettings>

    /// - Parameter baseURL: absolute, `http` or `https`. May be empty for an agent whose requests have absolute URLs;
    ///   a relative path then throws ``ErrandError/Code/invalidURL``.
    public convenience init(
        baseURL: String, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        var configuration = Configuration(baseURL: baseURL)
        configuration.filters = filters
        configuration.accessories = accessories
        self.init(configuration: configuration, transport: transport, time: time)
    }

    public convenience init(
        baseURL: URL, transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(
            baseURL: baseURL.absoluteString, transport: transport, filters: filters, accessories: accessories,
            time: time)
    }

    public init(configuration: Configuration, transport: any Transport, time: some TimeSource = SystemTimeSource()) {
        registry = ActivityRegistry(time: time)
        self.transport = transport
        settings = Mutex(AgentSettings(configuration, transport: transport))
    }

    deinit { registry.cancelAll { _ in true } }

    /// What the next start will use; what is running keeps what it started with.
    public var configuration: Configuration { settings.withLock { $0 }.configuration }

    /// Changes the configuration in one step, from the next start on.
    ///
    /// ```swift
    /// agent.configure { $0.baseURL = agent.configuration.baseURL + "/v2" }
    /// ```
    ///
    /// The closure runs on a copy and under no lock, so it may use the agent. No change is lost: if another one is stored
    /// while it runs, it runs again, on the newer configuration. A change within a change counts once, and before it.
    public func configure(_ change: (inout Configuration) throws -> Void) rethrows {
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
            let after = AgentSettings(configuration, transport: transport)
            let isStored = settings.withLock { settings in
                if settings === before { settings = after }
                return settings === after
            }
            if isStored { return }
            isRepeated = true
        }
    }

    /// What runs at this moment, background work included.
    public var activities: [Activity] { registry.activities }

    /// Cancels what runs, or those that match, and returns how many that were.
    ///
    /// ```swift
    /// agent.cancelAll { $0.request is GetFeed || $0.tags[Screen.self] == "profile" }
    /// ```
    @discardableResult
    public func cancelAll(where matches: (Activity) -> Bool = { _ in true }) -> Int {
        registry.cancelAll(where: matches)
    }

    /// The request as it would be built now, before filters; nothing is sent (Y50).
    public func httpRequest(for request: some Request) throws -> HTTPRequest {
        let http = try settings.withLock { $0 }.build(request).http
        try http.validate()
        return http
    }

    @discardableResult
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        let actor = #isolation
        return try await start(request, options, completion: nil, inPlace: actor == nil).joined()
    }

    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        start(request, options, completion: completion, inPlace: false)
    }

    private func start<R: Request>(
        _ request: R, _ options: CallOptions, completion: Completion<Response<R.Output>>?, inPlace: Bool
    ) -> RequestHandle<Response<R.Output>> {
        let settings = settings.withLock { $0 }
        let activity = activity(
            .request, settings, options, request: request, tags: request.tags, accessories: request.accessories,
            deadline: request.deadline ?? settings.configuration.deadline)
        let task = registry.launch(
            activity, priority: request.priority?.task, completion: completion, inPlace: inPlace, http: { $0.http }
        ) { activity in
            // The agent lives as long as what it runs.
            defer { withExtendedLifetime(self) {} }
            return try await settings.carryOut(request, activity, callFilters: options.allFilters)
        }
        return RequestHandle(activity: activity, task: task)
    }

    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        let activity = activity(kind, settings.withLock { $0 }, options, filters: options.allFilters)
        let task = registry.launch(activity, completion: completion) { activity in
            defer { withExtendedLifetime(self) {} }
            return try await body(activity)
        }
        return RequestHandle(activity: activity, task: task)
    }

    private func activity(
        _ kind: ActivityKind, _ settings: AgentSettings, _ options: CallOptions, request: (any Request)? = nil,
        tags: Tags = Tags(), filters: [any Filter] = [], accessories: [any Accessory] = [], deadline: Duration? = nil
    ) -> Activity {
        var all = settings.configuration.accessories
        if !accessories.isEmpty || !options.accessories.isEmpty { all += accessories + options.accessories }
        return Activity(
            kind, request: request, label: options.label, tags: tags.merging(options.tags), parent: options.parent?.id,
            deadline: deadline, filters: filters, accessories: all, registry: registry, progress: options.progress)
    }
}

extension NetworkAgent {
    /// What an agent does for every request.
    public struct Configuration: Sendable {
        /// What relative paths are appended to; the path of the URL is kept, with or without a slash at its end. A query
        /// or a fragment throws ``ErrandError/Code/invalidURL``. Empty for an agent whose requests have absolute URLs:
        /// it has no origin of its own then, so that only `trustedOrigins` see its secrets.
        public var baseURL: String
        /// The base for requests that choose `.cdn`; none by default.
        public var cdnURL: String?
        /// For every request; a request's own replace them by name. `User-Agent` and `Accept-Language` by default.
        public var headers = standardHeaders
        /// For every request that has none of its own; none by default. Like the sensitive ones among `headers` it is
        /// sent to the origins of `baseURL` and `cdnURL` and to `trustedOrigins`, and to no other.
        public var authorization: Authorization?
        /// The origins that may see the agent's secrets beside those of its base URLs; none by default.
        public var trustedOrigins: TrustedOrigins = []
        /// The longest silence in one try; 60 seconds by default.
        public var timeout: Duration = .seconds(60)
        /// The time for a whole call; none by default.
        public var deadline: Duration?
        /// 20 hops, never from https to http, by default.
        public var redirects = RedirectPolicy.standard
        /// In the order of the array within each stage, before the request's own.
        public var filters: [any Filter] = []
        /// Told in the order of the array, before the request's own.
        public var accessories: [any Accessory] = []
        /// Decodes the outputs of requests that have no decoder of their own; a `JSONDecoder` by default.
        public var decoder: any BodyDecoder = JSONDecoder()
        /// Encodes the bodies of requests that have no encoder of their own; a `JSONEncoder` by default.
        public var encoder: any BodyEncoder = JSONEncoder()
        /// The most bytes of a body in memory; more throw ``ErrandError/Code/bodyTooLarge``. 64 MiB by default.
        public var maximumBodyBytes = 64 << 20
        /// The most bytes of a body that an error keeps; 64 KiB by default.
        public var maximumErrorBodyBytes = 64 << 10
        /// Replaces or passes on any failure that the filters could not see, before the request's `mapError`; passes on
        /// by default. Not asked about a cancellation.
        public var mapError: @Sendable (any Error) -> any Error = { $0 }

        public init(baseURL: String = "") { self.baseURL = baseURL }

        private static let standardHeaders: HTTPHeaders = {
            let client = "\(SystemInfo.program) (\(SystemInfo.system)) Errand/\(ErrandInfo.version)"
            let languages = SystemInfo.acceptLanguage(SystemInfo.languages)
            return languages.isEmpty ? [.userAgent: client] : [.userAgent: client, .acceptLanguage: languages]
        }()
    }
}
