import CoreMetrics
import Synchronization

/// Caches one metric per combination of dimensions, up to a maximum number.
final class MetricSeries: Sendable {
    /// The facts recorded when a request ends.
    struct Ended: Sendable {
        let duration: Timer
        let requestSize: Recorder
        let responseSize: Recorder
    }

    private struct Key: Hashable {
        var method: String
        var address: String
        var port: Int
        var template: String?
        var status: Int?
        var version: String?
        var errorType: String?

        /// The key for servers and templates beyond the maximum.
        var overflow: Key {
            var key = self
            (key.address, key.port, key.template) = (RequestFacts.other, 0, nil)
            return key
        }

        /// The dimensions known before the request ends.
        var begun: [(String, String)] {
            [("http.request.method", method), ("server.address", address), ("server.port", String(port))]
                + (template.map { [("url.template", $0)] } ?? [])
        }

        var dimensions: [(String, String)] {
            var all = begun
            if let status { all.append(("http.response.status_code", String(status))) }
            if let version { all.append(("network.protocol.version", version)) }
            if let errorType { all.append(("error.type", errorType)) }
            return all
        }
    }

    private struct State {
        var active: [Key: Meter] = [:]
        var ended: [Key: Ended] = [:]
        var cacheResults: [String: Counter] = [:]
    }

    private let factory: any MetricsFactory
    private let maximum: Int
    private let state = Mutex(State())
    let (retries, breakerOpened, breakerClosed): (Counter, Counter, Counter)
    let gateWait: Timer

    init(_ factory: any MetricsFactory, maximum: Int) {
        (self.factory, self.maximum) = (factory, maximum)
        let changes = "errand.client.breaker.changes"
        retries = Counter(label: "errand.client.retries", factory: factory)
        breakerOpened = Counter(label: changes, dimensions: [("errand.breaker.state", "open")], factory: factory)
        breakerClosed = Counter(label: changes, dimensions: [("errand.breaker.state", "closed")], factory: factory)
        gateWait = Timer(label: "errand.client.gate.wait", preferredDisplayUnit: .seconds, factory: factory)
    }

    func active(_ facts: RequestFacts) -> Meter {
        let key = Key(method: facts.method, address: facts.address, port: facts.port, template: facts.template)
        return made(\.active, key) { key in
            Meter(label: "http.client.active_requests", dimensions: key.begun, factory: factory)
        }
    }

    func ended(_ facts: RequestFacts, _ end: RequestEnd) -> Ended {
        let key = Key(
            method: facts.method, address: facts.address, port: facts.port, template: facts.template,
            status: end.status, version: end.version, errorType: end.errorType)
        return made(\.ended, key) { key in
            let (prefix, dimensions) = ("http.client.", key.dimensions)
            return Ended(
                duration: Timer(
                    label: prefix + "request.duration", dimensions: dimensions, preferredDisplayUnit: .seconds,
                    factory: factory),
                requestSize: Recorder(label: prefix + "request.body.size", dimensions: dimensions, factory: factory),
                responseSize: Recorder(label: prefix + "response.body.size", dimensions: dimensions, factory: factory))
        }
    }

    /// - Parameter result: one of the few words of RFC 9211.
    func cacheResult(_ result: String) -> Counter {
        if let known = state.withLock({ $0.cacheResults[result] }) { return known }
        let made = Counter(
            label: "errand.client.cache.requests", dimensions: [("errand.cache.result", result)], factory: factory)
        return state.withLock { $0.cacheResults.insert(made, for: result) }
    }

    /// Returns the metric for a key. Creates a missing metric outside of the lock, because that runs the backend's
    /// code.
    private func made<Made: Sendable>(
        _ table: WritableKeyPath<State, [Key: Made]>, _ key: Key, _ make: (Key) -> Made
    ) -> Made {
        let (known, isFull) = state.withLock { state in
            (state[keyPath: table][key], state[keyPath: table].count >= maximum)
        }
        if let known { return known }
        let key = isFull ? key.overflow : key
        if isFull, let known = state.withLock({ $0[keyPath: table][key] }) { return known }
        let made = make(key)
        return state.withLock { $0[keyPath: table].insert(made, for: key) }
    }
}

extension Dictionary {
    /// Adds a value, or returns the existing one.
    fileprivate mutating func insert(_ value: Value, for key: Key) -> Value {
        if let known = self[key] { return known }
        self[key] = value
        return value
    }
}
