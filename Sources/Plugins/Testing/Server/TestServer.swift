public import Errand
import ErrandEssentials
import Synchronization

/// A scripted HTTP/1.1 server on the loopback interface. It responds as your test specifies, misbehaves on demand, and
/// records requests.
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
/// Each server has its own port, so tests can run in parallel. Handlers run on their connection's thread and may block
/// it. The server stops when it is deallocated, or with ``stop()`` if a handler captures it. The first server of a
/// process raises the soft limit of open files to 8,192, if possible.
public final class TestServer: Sendable {
    /// Returns the response to a request. An error that it throws becomes a 500 that describes the error.
    public typealias Handler = @Sendable (RecordedRequest) throws -> TestResponse

    private let core: ServerCore

    /// Starts a server. `handler` responds to requests that no route matches, which otherwise get a 404. Throws
    /// ``TestServerError``.
    public init(
        _ configuration: Configuration = Configuration(), handler: Handler? = nil
    ) throws(TestServerError) {
        core = try ServerCore(configuration)
        core.edit { $0.fallback = handler }
        CreationObservers.notify(of: self)
    }

    deinit { core.stop() }

    /// Closes all connections and waits for all threads. The URL then refuses connections until the server is
    /// deallocated.
    public func stop() { core.stop() }

    /// The base URL, such as "http://127.0.0.1:4711".
    public var url: String { "http://\(core.configuration.usesIPv6 ? "[::1]" : "127.0.0.1"):\(core.port)" }

    /// Returns the URL of a path on this server.
    public func url(_ path: String) -> String { path.hasPrefix("/") ? url + path : url + "/" + path }

    /// The port that the system chose.
    public var port: Int { Int(core.port) }
}

extension TestServer {
    /// Adds a route: a handler for a method and an exact path, without the query. A `*` at the path's start or end is a
    /// wildcard. The last matching route you added responds.
    public func on(
        _ method: HTTPMethod, _ path: String, reading: BodyReading = .kept, handler: @escaping Handler
    ) {
        core.edit { $0.routes.append(.init(method, path, reading, handler)) }
    }

    /// Adds a route: a handler for a path and any method.
    public func on(_ path: String, reading: BodyReading = .kept, handler: @escaping Handler) {
        core.edit { $0.routes.append(.init(nil, path, reading, handler)) }
    }

    /// Adds a route: the same response to all requests with a method and a path.
    public func on(_ method: HTTPMethod, _ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(method, path, reading: reading) { _ in response }
    }

    /// Adds a route: the same response to all requests for a path.
    public func on(_ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(path, reading: reading) { _ in response }
    }

    /// Adds responses to a queue. Each request gets the next one, before any route is tried.
    public func enqueue(_ responses: TestResponse...) { core.edit { $0.queue += responses } }

    /// Adds plans to a queue. Each new connection follows the next one.
    public func enqueueConnections(_ plans: ConnectionPlan...) { core.edit { $0.connections += plans } }

    /// Closes all open connections without a response.
    public func closeConnections() { core.closeConnections() }
}

extension TestServer {
    /// The last `maximumRecordedRequests` requests, oldest first.
    public var received: [RecordedRequest] {
        core.state.read { $0.requests(limit: core.configuration.maximumRecordedRequests) }
    }

    /// The number of complete requests received so far.
    public var requestCount: Int { core.requestCount.load(ordering: .sequentiallyConsistent) }

    /// The number of bytes sent so far, including heads.
    public var sentBytes: Int64 { core.sentBytes.load(ordering: .sequentiallyConsistent) }

    /// The requests that weren't valid HTTP/1.1, up to 1,000.
    public var faults: [RequestFault] { core.state.read { $0.faults } }

    /// The number of connections accepted so far.
    public var connectionCount: Int { core.state.read { $0.accepted } }

    /// The number of connections that are open now.
    public var openConnections: Int { core.state.read { $0.open.count } }

    /// Returns the first request this method hasn't returned, once it arrives. Throws ``WaitTimeout`` after `limit`.
    public func nextRequest(within limit: Duration = .seconds(300)) async throws -> RecordedRequest {
        try await core.state.wait(for: "a request", within: limit) { $0.takeNext() }
    }

    /// Waits for `count` requests in total, and returns ``received``. Throws ``WaitTimeout`` after `limit`.
    @discardableResult
    public func wait(forRequests count: Int, within limit: Duration = .seconds(300)) async throws -> [RecordedRequest] {
        _ = try await core.state.wait(for: "\(count) requests", within: limit) { [core] _ in
            core.requestCount.load(ordering: .sequentiallyConsistent) >= count ? true : nil
        }
        return received
    }

    /// Waits until exactly this many connections are open. Throws ``WaitTimeout`` after `limit`.
    public func wait(forOpenConnections count: Int, within limit: Duration = .seconds(300)) async throws {
        _ = try await core.state.wait(for: "\(count) open connections", within: limit) {
            $0.open.count == count ? true : nil
        }
    }

    /// Waits until all connections are closed. Throws ``WaitTimeout`` after `limit`.
    public func waitUntilNoConnections(within limit: Duration = .seconds(300)) async throws {
        try await wait(forOpenConnections: 0, within: limit)
    }
}

extension TestServer {
    /// The settings of a ``TestServer``.
    public struct Configuration: Sendable {
        /// Whether to listen on ::1 instead of 127.0.0.1. Defaults to `false`.
        public var usesIPv6 = false
        /// The maximum bytes of a request's first line and headers. Larger heads get a 431. Defaults to 64 KiB.
        public var maximumHeadBytes = 64 << 10
        /// The maximum bytes of a request's body. Larger bodies get a 413. Defaults to 64 MiB.
        public var maximumBodyBytes = 64 << 20
        /// The number of requests to keep in ``TestServer/received``. Defaults to 10,000; 0 turns recording off.
        public var maximumRecordedRequests = 10_000
        /// The number of body bytes to keep in ``TestServer/received``. Drops the oldest requests first. Defaults to
        /// 256 MiB.
        public var maximumRecordedBytes = 256 << 20
        /// Whether to answer `Expect: 100-continue` with a 100 (RFC 9110, section 10.1.1). If not, the client must send
        /// its body without one after a while. Defaults to `true`.
        public var sendsContinue = true

        /// Creates settings in which every property has its default.
        public init() {}
    }
}

/// The error that a ``TestServer`` throws if it can't start.
public struct TestServerError: DescribedError, Sendable {
    /// The system's error message.
    public let reason: String
    /// The reason, in a sentence for test logs.
    public var description: String { "the test server can't start: \(reason)" }
    /// The code of the `NSError`, always 1, because there is only one kind of failure.
    public var errorCode: Int { 1 }
}
