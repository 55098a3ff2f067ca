public import Errand
public import ErrandEssentials
import ErrandSupport
import Synchronization

/// An accessory that shows the traffic of agents in a browser, while it happens.
///
/// ```swift
/// let inspector = TrafficInspector()
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [inspector])
/// try inspector.start()      // prints http://127.0.0.1:52341/?token=…
/// ```
///
/// A small server on this device's loopback interface provides a page. The page lists requests, batches, chains and
/// sockets with their timings, headers, bodies, notes and errors.
///
/// Secrets are masked before they leave the process. In memory, they are masked one second after an activity has ended.
/// See ``Errand/Redaction``. The inspector doesn't write files.
///
/// The inspector keeps the newest finished activities, up to a number and a size. Before you start the inspector, it
/// doesn't receive events and costs no time. It stops when you call ``stop()``, or when its last owner releases it.
/// Several agents can share an inspector. See ``named(_:)``. You can use an inspector from any thread.
public final class TrafficInspector: Accessory {
    /// The maximum number of bytes to keep of each body and message. Defaults to 256 KiB.
    public let maximumBodyBytes: Int
    private let store: ActivityStore
    private let tools = ToolBox()
    private let explainers: ExplainerList
    private let time: any TimeSource
    private let server = Mutex<InspectorServer?>(nil)

    /// Creates an inspector. Call ``start(port:inReleaseBuilds:announce:)`` to start it.
    ///
    /// - Parameters:
    ///   - maximumActivities: The maximum number of finished activities to keep. It also limits the number of running
    ///     activities. Defaults to 10,000.
    ///   - maximumBodyBytes: The maximum number of bytes to keep of each body and message. Defaults to 256 KiB.
    ///   - maximumBytes: The approximate memory limit in bytes. Defaults to 64 MiB.
    ///   - maximumMessages: The maximum number of messages to keep of each WebSocket. Defaults to 1,000.
    ///   - redaction: The rules for masking secrets.
    ///   - time: The time source of the agents that use the inspector.
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

    /// Whether the inspector receives events. It does from ``start(port:inReleaseBuilds:announce:)`` until ``stop()``.
    public var isListening: Bool { store.isListening.load(ordering: .relaxed) }

    /// Whether the inspector receives WebSocket messages. It does unless `maximumMessages` is 0.
    public var observesMessages: Bool { store.limits.messages > 0 }

    /// The filters that carry out the page's tools: delays, failures and stubs. They have no effect until you turn on a
    /// tool in the page.
    ///
    /// ```swift
    /// let agent = NetworkAgent(
    ///     baseURL: url, transport: .curl, filters: [.retry] + inspector.filters, accessories: [inspector])
    /// ```
    ///
    /// These filters must run right before the transport. List them last, so caches and retries see their results.
    public var filters: [any Filter] { [ToolFilter(tools)] }

    /// Starts the server, and returns the page's address.
    ///
    /// ```swift
    /// let address = try inspector.start(port: 8008)
    /// ```
    ///
    /// The address contains a random token, which is valid until the inspector stops. Anyone who knows the token can
    /// read the traffic. On the first visit, the browser exchanges the token for a cookie.
    ///
    /// - Parameters:
    ///   - port: The port on 127.0.0.1 and ::1. Defaults to 0, which chooses a free port.
    ///   - inReleaseBuilds: Whether the inspector may start in a release build. Defaults to false.
    ///   - announce: Receives a line with the address. Defaults to nil, which writes the line to standard error.
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
        // The tools are turned off, because only the page shows whether they are on.
        tools.turnOff()
    }

    /// Removes all finished activities from the inspector and its page.
    public func clear() { store.clear() }

    /// Returns an accessory that shows an agent's activities under a name. Use it if a process has several agents.
    ///
    /// ```swift
    /// let shop = NetworkAgent(baseURL: shopURL, transport: .curl, accessories: [inspector.named("shop")])
    /// let maps = NetworkAgent(baseURL: mapsURL, transport: .curl, accessories: [inspector.named("maps")])
    /// ```
    public func named(_ name: String) -> some Accessory { NamedInspector(inspector: self, name: name) }

    /// Makes the page show ``Errand/NetworkAgent/explain(_:options:)`` for an agent's requests. The inspector doesn't
    /// keep the agent alive.
    ///
    /// - Parameters:
    ///   - agent: The agent. It explains a request within one second after the request has ended, or earlier if you
    ///     open the request in the page.
    ///   - name: The name that you passed to ``named(_:)``. Defaults to nil, for an agent without a name.
    ///   - name: The name given to ``named(_:)``. Defaults to nil, for an agent without a name.
    public func explainRequests(of agent: NetworkAgent, named name: String? = nil) {
        explainers.add(agent, name)
    }

    /// Records an event. The agent calls this method.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        store.record(event, of: activity, agent: nil)
    }

    /// The IDs of all recorded activities, for tests.
    var recordedIDs: [UInt64] { store.all.map(\.id) }

    /// The IDs of the activities that aren't masked yet, for tests.
    var unmaskedIDs: [UInt64] { store.all.filter { $0.known.masked == nil }.map(\.id) }

    /// Everything that the inspector knows, as text, for tests.
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
