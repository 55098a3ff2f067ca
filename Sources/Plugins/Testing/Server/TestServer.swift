public import Errand
import ErrandEssentials
import Synchronization

/// A scripted HTTP/1.1 server on the loopback interface: it responds as a test specifies, misbehaves on demand, and
/// records its requests.
///
/// ```swift
/// let server = try TestServer()
/// server.on(.get, "/users/7", .json(#"{"id":7,"name":"Ada"}"#))
/// server.on("/files/*") { request in .text(request.path).delayed(by: .milliseconds(5)) }
/// server.enqueue(.status(503), .text("ok"))                  // in turn, before the routes
/// let agent = NetworkAgent(baseURL: server.url, transport: .curl)
/// …
/// let request = try await server.nextRequest()               // method, path, headers, body as they came
/// ```
///
/// Each server has a port of its own, so tests run in parallel. Handlers run on the thread of their connection and may
/// block it. The server stops when it goes out of scope; a handler that holds the server keeps it, until `stop()`. The
/// first server of a process raises its soft limit of open files to 8,192 where that is allowed.
public final class TestServer: Sendable {
    /// Responds to a request; a thrown error becomes a 500 with its description.
    public typealias Handler = @Sendable (RecordedRequest) throws -> TestResponse

    private let core: ServerCore

    /// Starts a server; the handler responds to requests that no route matches, which get a 404 without one. Throws
    /// ``TestServerError``.
    public init(
        _ configuration: Configuration = Configuration(), handler: Handler? = nil
    ) throws(TestServerError) {
        core = try ServerCore(configuration)
        core.edit { $0.fallback = handler }
        CreationObservers.notify(of: self)
    }

    deinit { core.stop() }

    /// Closes every connection and waits for the threads; the URL refuses connections afterwards, for as long as the
    /// server is kept.
    public func stop() { core.stop() }

    /// The base URL: "http://127.0.0.1:4711".
    public var url: String { "http://\(core.configuration.usesIPv6 ? "[::1]" : "127.0.0.1"):\(core.port)" }

    /// The URL of a path on this server.
    public func url(_ path: String) -> String { path.hasPrefix("/") ? url + path : url + "/" + path }

    /// The port, which the system has chosen.
    public var port: Int { Int(core.port) }
}

extension TestServer {
    /// Responds to a method and a path, without the query: exact, or with a `*` at its start or end. Of several that
    /// match, the last added counts.
    public func on(
        _ method: HTTPMethod, _ path: String, reading: BodyReading = .kept, handler: @escaping Handler
    ) {
        core.edit { $0.routes.append(.init(method, path, reading, handler)) }
    }

    /// Responds to a path, with any method.
    public func on(_ path: String, reading: BodyReading = .kept, handler: @escaping Handler) {
        core.edit { $0.routes.append(.init(nil, path, reading, handler)) }
    }

    /// Always responds to a method and a path in the same way.
    public func on(_ method: HTTPMethod, _ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(method, path, reading: reading) { _ in response }
    }

    /// Always responds to a path in the same way.
    public func on(_ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(path, reading: reading) { _ in response }
    }

    /// Responds to the next requests, one each, before any route.
    public func enqueue(_ responses: TestResponse...) { core.edit { $0.queue += responses } }

    /// Determines the treatment of the next connections, one each.
    public func enqueueConnections(_ plans: ConnectionPlan...) { core.edit { $0.connections += plans } }

    /// Closes every open connection without a response; the server continues.
    public func closeConnections() { core.closeConnections() }
}

extension TestServer {
    /// The requests so far, the oldest first: at most the last `maximumRecordedRequests` of them.
    public var received: [RecordedRequest] {
        core.state.read { $0.requests(limit: core.configuration.maximumRecordedRequests) }
    }

    /// The number of complete requests.
    public var requestCount: Int { core.requestCount.load(ordering: .sequentiallyConsistent) }

    /// The number of bytes that were passed to the system for all clients so far, heads included.
    public var sentBytes: Int64 { core.sentBytes.load(ordering: .sequentiallyConsistent) }

    /// The rejected requests that were not valid HTTP/1.1; at most the first 1,000.
    public var faults: [RequestFault] { core.state.read { $0.faults } }

    /// The number of all connections so far.
    public var connectionCount: Int { core.state.read { $0.accepted } }

    /// The number of open connections.
    public var openConnections: Int { core.state.read { $0.open.count } }

    /// The next request that this did not return before, as soon as it has arrived. Throws ``WaitTimeout`` after
    /// `limit`.
    public func nextRequest(within limit: Duration = .seconds(300)) async throws -> RecordedRequest {
        try await core.state.wait(for: "a request", within: limit) { $0.takeNext() }
    }

    /// Waits until this many requests have arrived in all, and returns ``received``. Throws ``WaitTimeout`` after
    /// `limit`.
    @discardableResult
    public func wait(forRequests count: Int, within limit: Duration = .seconds(300)) async throws -> [RecordedRequest] {
        _ = try await core.state.wait(for: "\(count) requests", within: limit) { [core] _ in
            core.requestCount.load(ordering: .sequentiallyConsistent) >= count ? true : nil
        }
        return received
    }

    /// Waits until this many connections are open. Throws ``WaitTimeout`` after `limit`.
    public func wait(forOpenConnections count: Int, within limit: Duration = .seconds(300)) async throws {
        _ = try await core.state.wait(for: "\(count) open connections", within: limit) {
            $0.open.count == count ? true : nil
        }
    }

    /// Waits until the clients have closed all connections. Throws ``WaitTimeout`` after `limit`.
    public func waitUntilNoConnections(within limit: Duration = .seconds(300)) async throws {
        try await wait(forOpenConnections: 0, within: limit)
    }
}

extension TestServer {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// Listens on ::1 instead of 127.0.0.1.
        public var usesIPv6 = false
        /// The maximum number of bytes of a request's first line and headers; more are rejected with 431. 64 KiB by
        /// default.
        public var maximumHeadBytes = 64 << 10
        /// The maximum number of bytes of a request's body; more are rejected with 413. 64 MiB by default.
        public var maximumBodyBytes = 64 << 20
        /// The number of requests that ``TestServer/received`` keeps; 10,000 by default, 0 records nothing.
        public var maximumRecordedRequests = 10_000
        /// The number of bytes of bodies that ``TestServer/received`` keeps; the oldest requests are dropped first. 256
        /// MiB by default.
        public var maximumRecordedBytes = 256 << 20
        /// Whether `Expect: 100-continue` gets its interim response (RFC 9110, section 10.1.1); if not, a client has to
        /// send its body without one after a while.
        public var sendsContinue = true

        /// The defaults.
        public init() {}
    }
}

/// Thrown when a server cannot start.
public struct TestServerError: DescribedError, Sendable {
    /// The message of the system.
    public let reason: String
    /// A sentence for a test's log.
    public var description: String { "the test server cannot start: \(reason)" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
