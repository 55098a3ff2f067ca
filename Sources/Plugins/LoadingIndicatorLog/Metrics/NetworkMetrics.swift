public import Errand
import ErrandSupport
import Synchronization

/// Counts what happens, host by host: an accessory to read at any time.
///
/// ```swift
/// let metrics = NetworkMetrics()
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl, accessories: [metrics])
/// metrics.hosts["api.example.com"]?.percentile(99)
/// ```
///
/// A host is what the agent built the request for, before filters and redirects. At most a hundred are told apart; those
/// that come later count together under "other". Safe to use from anywhere.
public final class NetworkMetrics: Accessory {
    private struct Running: Sendable {
        var host: String?
        var progress = TransferProgress()
    }

    private struct State {
        var hosts: [String: HostMetrics] = [:]
        var running: [Activity.ID: Running] = [:]
    }

    private let limit: Int
    private let time: any TimeSource
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: hosts to tell apart; 100 by default.
    ///   - time: the clock of the agents.
    public init(hosts limit: Int = 100, time: some TimeSource = SystemTimeSource()) {
        (self.limit, self.time) = (max(1, limit), time)
    }

    /// What was counted so far, by host in lower case; "none" for what had no valid URL.
    public var hosts: [String: HostMetrics] { state.withLock { $0.hosts } }

    /// What was counted so far, and from zero on.
    public func reset() -> [String: HostMetrics] {
        state.withLock { state in
            defer { state.hosts = [:] }
            return state.hosts
        }
    }

    /// Counts.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart where activity.kind == .request:
            state.withLock { $0.running[activity.id] = Running() }
        case .built(let http):
            let host = http.url.host?.lowercased()
            state.withLock { $0.running[activity.id]?.host = host }
        case .transport(.progress(let progress)):
            state.withLock { $0.running[activity.id]?.progress = progress }
        case .willStop(let outcome):
            let duration = activity.start.duration(to: time.now)
            state.withLock { end(activity.id, outcome, duration, &$0) }
        default: break
        }
    }

    private func end(_ id: Activity.ID, _ outcome: ActivityOutcome, _ time: Duration, _ state: inout State) {
        guard let running = state.running.removeValue(forKey: id) else { return }
        var host = running.host ?? "none"
        if state.hosts[host] == nil, state.hosts.count >= limit { host = "other" }
        var metrics = state.hosts.removeValue(forKey: host) ?? HostMetrics()
        metrics.requests += 1
        metrics.bytesSent += running.progress.sent
        metrics.bytesReceived += running.progress.received
        switch outcome {
        case .success(let response):
            metrics.succeeded += 1
            if response?.source.isStored == true { metrics.cacheHits += 1 } else { metrics.count(time: time) }
        case .failure(let error):
            metrics.count(failure: error.kind)
            metrics.count(time: time)
        case .cancelled: metrics.cancelled += 1
        }
        state.hosts[host] = metrics
    }
}
