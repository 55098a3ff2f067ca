public import Errand
public import ErrandEssentials

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
    /// Passes it to a closure as it arrives, and keeps none of it: first no bytes, when the head is there, then each piece,
    /// also of a body that its client breaks off. The request counts the bytes up to here in `bodyLength`. What the closure
    /// returns is done in its order.
    ///
    /// ```swift
    /// server.on(.post, "/uploads", reading: .watched { request, piece in
    ///     piece.isEmpty ? [.inform(104, ["Location": "/uploads/7"])] : request.bodyLength > 100_000 ? [.reset] : []
    /// }) { _ in .status(201) }
    /// ```
    case watched(@Sendable (RecordedRequest, Data) -> [BodyAction])
}

/// An action of the server while it reads the body of a request; see ``BodyReading/watched(_:)``.
public enum BodyAction: Sendable {
    /// Sends a 1xx response.
    case inform(Int, HTTPHeaders)
    /// Responds without reading the rest, and closes.
    case respond
    /// Closes the connection without a response.
    case close
    /// Resets the connection.
    case reset
    /// Reads and sends nothing more until the client goes or the server stops.
    case stall
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
