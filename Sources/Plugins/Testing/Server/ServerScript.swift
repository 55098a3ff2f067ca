public import Errand
public import ErrandEssentials

/// The script of a server. A response comes from the queue, from the last added route that matches, or from the
/// fallback, in this order.
struct ServerScript: Sendable {
    struct Route: Sendable {
        let method: HTTPMethod?
        let path: PathPattern
        let reading: BodyReading
        let handler: TestServer.Handler

        init(_ method: HTTPMethod?, path: String, reading: BodyReading, _ handler: @escaping TestServer.Handler) {
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

    mutating func takeQueued() -> Plan? {
        if queue.isEmpty { return nil }
        let response = queue.removeFirst()
        return (.kept, { _ in response })
    }

    func plan(_ head: RequestHead) -> Plan {
        let path = head.target.prefix { $0 != "?" }
        if let route = routes.last(where: { $0.matches(head.method, path) }) { return (route.reading, route.handler) }
        return (
            .kept,
            fallback ?? { request in .text("no response scripted for \(request.method) \(request.path)", status: 404) }
        )
    }
}

/// Determines how a route handles the bodies of requests.
public enum BodyReading: Sendable {
    /// Reads and keeps the body, up to the configuration's `maximumBodyBytes`. This is the default.
    case kept
    /// Reads and counts a body of any length, but doesn't keep it.
    case discarded
    /// Doesn't read the body, and closes the connection after the response.
    case untouched
    /// Waits until the test opens the gate. Then reads and keeps the body. While the gate is closed, the client can
    /// send only as many bytes as the system buffers.
    case held(by: Gate)
    /// Passes the body to a closure as it arrives, and doesn't keep it.
    ///
    /// The closure is called with empty data when the head has arrived, and then with each piece. The request's
    /// `bodyLength` is the number of bytes so far. The server performs the actions that the closure returns, in order.
    ///
    /// ```swift
    /// server.on(.post, "/uploads", reading: .watched { request, piece in
    ///     piece.isEmpty ? [.inform(104, ["Location": "/uploads/7"])] : request.bodyLength > 100_000 ? [.reset] : []
    /// }) { _ in .status(201) }
    /// ```
    case watched(@Sendable (RecordedRequest, Data) -> [BodyAction])
}

/// An action that the server performs while it reads the body of a request. See ``BodyReading/watched(_:)``.
public enum BodyAction: Sendable {
    /// Sends a 1xx response with a status and header fields.
    case inform(Int, HTTPHeaders)
    /// Responds without reading the remaining body, and closes the connection.
    case respond
    /// Closes the connection without a response.
    case close
    /// Resets the connection without a response.
    case reset
    /// Stops reading and sending until the client closes the connection or the server stops.
    case stall
}

/// Determines how the server handles a new connection.
public enum ConnectionPlan: Sendable {
    /// Handles the connection's requests.
    case serve
    /// Closes the connection immediately.
    case close
    /// Resets the connection immediately.
    case reset
    /// Doesn't read or send until the client closes the connection or the server stops.
    case silence
    /// Sends these bytes, then closes the connection.
    case send([UInt8])
    /// Passes the connection to a closure, which can speak another protocol than HTTP/1.1. Then closes the connection.
    case converse(@Sendable (TestConversation) throws -> Void)
}

/// A path that can have a `*` wildcard at its start or end.
struct PathPattern: Sendable, CustomStringConvertible {
    let description: String
    private let fixed: String
    private let startsAnywhere: Bool
    private let endsAnywhere: Bool

    init(_ text: String) {
        startsAnywhere = text.hasPrefix("*")
        endsAnywhere = text.hasSuffix("*") && text.count > 1
        let fixed = String(text.dropFirst(startsAnywhere ? 1 : 0).dropLast(endsAnywhere ? 1 : 0))
        let isComplete = startsAnywhere || fixed.hasPrefix("/") || fixed.contains("://")
        self.fixed = isComplete ? fixed : "/" + fixed
        description = text
    }

    var isAbsolute: Bool { fixed.contains("://") }

    func matches(_ path: some StringProtocol) -> Bool {
        switch (startsAnywhere, endsAnywhere) {
        case (false, false): path == fixed
        case (false, true): path.hasPrefix(fixed)
        case (true, false): path.hasSuffix(fixed)
        case (true, true): fixed.isEmpty || path.contains(fixed)
        }
    }
}
