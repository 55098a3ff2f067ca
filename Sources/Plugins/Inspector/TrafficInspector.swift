public import Errand
public import ErrandEssentials
import ErrandSupport
import Synchronization

/// Shows the traffic of agents in a browser, while it happens.
///
/// ```swift
/// let inspector = TrafficInspector()
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [inspector])
/// try inspector.start()      // prints http://127.0.0.1:52341/?token=…
/// ```
///
/// The page comes from a small server on the loopback interface of this device. It lists requests, batches, chains and
/// sockets with their timings, and shows headers, bodies, notes and errors of each. Secrets are masked before they leave
/// the process, and in memory a second after an activity has ended; see ``Errand/Redaction``. The inspector doesn't
/// write files.
///
/// The inspector keeps the newest finished activities, within limits for their number and size. Until it starts, it
/// doesn't listen and costs no time. Several agents can share it; see ``named(_:)``. It stops with ``stop()``, or when
/// its last owner releases it. Safe to use from any thread.
public final class TrafficInspector: Accessory {
    /// The maximum number of bytes to keep of each body and message; the rest is dropped. Defaults to 256 KiB.
    public let maximumBodyBytes: Int
    private let store: ActivityStore
    private let tools = ToolBox()
    private let explainers: ExplainerList
    private let time: any TimeSource
    private let server = Mutex<InspectorServer?>(nil)

    /// Creates an inspector that isn't started yet.
    ///
    /// - Parameters:
    ///   - maximumActivities: the number of finished activities to keep. Also the limit for running activities. Defaults to
    ///     10,000.
    ///   - maximumBodyBytes: the number of bytes to keep of each body and message. Defaults to 256 KiB.
    ///   - maximumBytes: the approximate memory limit in bytes. Defaults to 64 MiB.
    ///   - maximumMessages: the number of messages to keep of each WebSocket. Defaults to 1,000.
    ///   - redaction: the rules for masking secrets.
    ///   - time: the clock of the agents.
    public init(
        maximumActivities: Int = 10_000, maximumBodyBytes: Int = 256 << 10, maximumBytes: Int = 64 << 20,
        maximumMessages: Int = 1000, redaction: Redaction = Redaction(), time: some TimeSource = SystemTimeSource()
    ) {
        self.maximumBodyBytes = max(0, maximumBodyBytes)
        self.time = time
        let explainers = ExplainerList()
        self.explainers = explainers
        let limits = ActivityStore.Limits(
            activities: max(1, maximumActivities), bodyBytes: max(0, maximumBodyBytes), bytes: max(0, maximumBytes),
            messages: max(0, maximumMessages))
        store = ActivityStore(limits, redaction, time: time) { request, name in
            explainers.explanation(of: request, name)
        }
    }

    deinit { stop() }

    /// Whether the inspector receives events: true from ``start(port:inReleaseBuilds:announce:)`` to ``stop()``.
    public var isListening: Bool { store.isListening.load(ordering: .relaxed) }

    /// Whether the inspector receives WebSocket messages: `true` unless `maximumMessages` is 0.
    public var observesMessages: Bool { store.limits.messages > 0 }

    /// Filters for the page's tools: delays, failures and stubs. Until you turn a tool on in the page, they pass every
    /// request on.
    ///
    /// ```swift
    /// let agent = NetworkAgent(
    ///     baseURL: url, transport: .curl, filters: [.retry] + inspector.filters, accessories: [inspector])
    /// ```
    ///
    /// They run right before the transport. Put them last in the array, so caches and retries see the results.
    public var filters: [any Filter] { [ToolFilter(tools)] }

    /// Starts the server, and returns the address of the page.
    ///
    /// ```swift
    /// let address = try inspector.start(port: 8008)
    /// ```
    ///
    /// The address contains a random token, which only this start accepts. Whoever knows it can read the traffic. The
    /// browser exchanges it for a cookie at the first visit.
    ///
    /// - Parameters:
    ///   - port: the port on 127.0.0.1 and ::1. Defaults to 0, which chooses a free port.
    ///   - inReleaseBuilds: whether to start if the program is a release build. Defaults to false.
    ///   - announce: receives one line with the address. Defaults to `nil`, which writes it to standard error.
    /// - Throws: ``InspectorError``, for example if the port is in use.
    @discardableResult
    public func start(
        port: UInt16 = 0, inReleaseBuilds: Bool = false,
        announce: ((String) -> Void)? = nil
    ) throws(InspectorError) -> URL {
        guard Self.isDebugBuild || inReleaseBuilds else { throw .releaseBuild }
        let secrets = PageSecrets()
        let service = PageService(store: store, tools: tools, secrets: secrets)
        let new = try InspectorServer(port: port, service: service, time: time)
        let isFirst = server.withLock { server in
            if server != nil { return false }
            server = new
            return true
        }
        guard isFirst else {
            new.stop()
            throw .alreadyStarted
        }
        store.isListening.store(true, ordering: .relaxed)
        let address = "http://127.0.0.1:\(new.port)/?token=\(secrets.token)"
        let line = "Errand inspector: \(address)"
        if let announce { announce(line) } else { StandardError.write(line) }
        guard let url = URL(string: address) else { throw .listeningFailed("the address isn't a URL") }
        return url
    }

    /// Closes the page's connections and the port. The inspector keeps its activities, and you can start it again.
    public func stop() {
        store.isListening.store(false, ordering: .relaxed)
        let old = server.withLock { server in
            defer { server = nil }
            return server
        }
        old?.stop()
        // Tools must not stay on without the page that shows them.
        tools.turnOff()
    }

    /// Removes all finished activities from the inspector and its page.
    public func clear() { store.clear() }

    /// Returns an accessory that shows the activities of an agent under a name, if a process has several agents.
    ///
    /// ```swift
    /// let shop = NetworkAgent(baseURL: shopURL, transport: .curl, accessories: [inspector.named("shop")])
    /// let maps = NetworkAgent(baseURL: mapsURL, transport: .curl, accessories: [inspector.named("maps")])
    /// ```
    public func named(_ name: String) -> some Accessory { NamedInspector(inspector: self, name: name) }

    /// Lets the page show ``Errand/NetworkAgent/explain(_:options:)`` for an agent's requests. Doesn't keep the agent
    /// alive.
    ///
    /// - Parameters:
    ///   - agent: the agent. It previews a request within a second after it has ended, or when you open it in the page
    ///     before.
    ///   - name: the name given to ``named(_:)``. Defaults to nil, for an agent without one.
    public func explainRequests(of agent: NetworkAgent, named name: String? = nil) {
        explainers.add(agent, name)
    }

    /// Records an event. The agent calls it, so your app doesn't need to.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        store.record(event, of: activity, agent: nil)
    }

    /// The recorded activities, for tests.
    var recordedIDs: [UInt64] { store.all.map(\.id) }

    /// The recorded activities that aren't masked yet, for tests.
    var unmaskedIDs: [UInt64] { store.all.filter { $0.known.masked == nil }.map(\.id) }

    /// Everything that a page can receive, for tests.
    var everything: String {
        store.all.map { record in
            String(decoding: JSONText.details(of: store.masked(record)), as: UTF8.self)
        }.joined(separator: "\n")
    }

    fileprivate func activity(_ activity: Activity, did event: ActivityEvent, agent: String) {
        store.record(event, of: activity, agent: agent)
    }

    private static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }
}

private struct NamedInspector: Accessory {
    let inspector: TrafficInspector
    let name: String

    var maximumBodyBytes: Int { inspector.maximumBodyBytes }
    var observesMessages: Bool { inspector.observesMessages }
    func observesNotes(of kind: ActivityKind) -> Bool { inspector.observesNotes(of: kind) }
    var isListening: Bool { inspector.isListening }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        inspector.activity(activity, did: event, agent: name)
    }
}

/// The agents that explain their requests.
private final class ExplainerList: Sendable {
    private struct Explainer: Sendable {
        let name: String?
        weak let agent: NetworkAgent?
    }

    private let explainers = Mutex<[Explainer]>([])

    func add(_ agent: NetworkAgent, _ name: String?) {
        let old = explainers.withLock { explainers in
            let old = explainers
            explainers.removeAll { $0.name == name || $0.agent == nil }
            explainers.append(Explainer(name: name, agent: agent))
            return old
        }
        withExtendedLifetime(old) {}
    }

    func explanation(of request: any Request, _ name: String?) -> String? {
        let known = explainers.withLock { $0 }
        guard let agent = known.first(where: { $0.name == name })?.agent else { return nil }
        return Self.explanation(of: request, agent)
    }

    private static func explanation(of request: some Request, _ agent: NetworkAgent) -> String {
        agent.explain(request).description
    }
}
