import Errand

/// The script of a server: queued responses first, then routes, the last added first, then the fallback.
struct ServerScript: Sendable {
    struct Route: Sendable {
        let method: HTTPMethod?
        let path: PathPattern
        let reading: BodyReading
        let handler: TestServer.Handler

        init(_ method: HTTPMethod?, _ path: String, _ reading: BodyReading, _ handler: @escaping TestServer.Handler) {
            (self.method, self.path, self.reading, self.handler) = (method, PathPattern(path), reading, handler)
        }

        func matches(_ method: String, _ path: some StringProtocol) -> Bool {
            self.path.matches(path) && (self.method == nil || self.method?.rawValue == method)
        }
    }

    var queue: [TestResponse] = []
    var routes: [Route] = []
    var fallback: TestServer.Handler?
    var connections: [ConnectionPlan] = []

    typealias Plan = (reading: BodyReading, handler: TestServer.Handler)

    /// The next queued response.
    mutating func takeQueued() -> Plan? {
        if queue.isEmpty { return nil }
        let response = queue.removeFirst()
        return (.kept, { _ in response })
    }

    /// The plan for a request whose head has arrived.
    func plan(_ head: RequestHead) -> Plan {
        let path = head.target.prefix { $0 != "?" }
        if let route = routes.last(where: { $0.matches(head.method, path) }) { return (route.reading, route.handler) }
        return (
            .kept,
            fallback ?? { request in .text("nothing is scripted for \(request.method) \(request.path)", status: 404) }
        )
    }
}

/// How a route treats the body of a request.
public enum BodyReading: Sendable {
    /// Reads and keeps it, up to the configuration's `maximumBodyBytes`; the default.
    case kept
    /// Reads and counts it, however long it is.
    case discarded
    /// Responds without reading it, and closes.
    case untouched
    /// Reads none of it until a test opens the gate, then keeps it: the client is held back.
    case held(by: Gate)
}

/// How a connection is treated when it is accepted.
public enum ConnectionPlan: Sendable {
    /// It is served.
    case serve
    /// It is closed at once.
    case close
    /// It is reset at once.
    case reset
    /// Nothing is read or sent until the client goes or the server stops.
    case silence
    /// These bytes are sent before anything is read, then it is closed.
    case send([UInt8])
}
