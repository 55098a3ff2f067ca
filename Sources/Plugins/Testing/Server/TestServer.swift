public import Errand
import ErrandEssentials
import Synchronization

/// An HTTP/1.1 server for tests. It listens on the loopback interface, responds as your test specifies, and records
/// requests. It can also send invalid responses and break connections.
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
/// Each server has its own port, so tests can run in parallel. A handler runs on its connection's thread, and may block
/// this thread. The server stops when it's deallocated. If a handler captures the server, call ``stop()``. When a
/// process starts its first server, the server raises the soft limit of open files to 8,192 if possible.
public final class TestServer: Sendable {
    /// A closure that returns the response to a request. If it throws, the client gets a response with the status 500
    /// that describes the error.
    public typealias Handler = @Sendable (RecordedRequest) throws -> TestResponse

    private let core: ServerCore

    /// Starts a server. `handler` responds to requests that don't match a route. By default, such requests get a 404.
    /// Throws ``TestServerError``.
    public init(
        _ configuration: Configuration = Configuration(), handler: Handler? = nil
    ) throws(TestServerError) {
        core = try ServerCore(configuration)
        core.edit { $0.fallback = handler }
        CreationObservers.notify(of: self)
    }

    deinit { core.stop() }

    /// Closes all connections, and waits until all threads have ended. After that, the server's URL refuses connections
    /// until the server is deallocated.
    public func stop() { core.stop() }

    /// The base URL, such as "http://127.0.0.1:4711".
    public var url: String { "http://\(core.configuration.usesIPv6 ? "[::1]" : "127.0.0.1"):\(core.port)" }

    /// Returns the URL of a path on this server.
    public func url(_ path: String) -> String { path.hasPrefix("/") ? url + path : url + "/" + path }

    /// The server's port. The system chooses it.
    public var port: Int { Int(core.port) }
}

extension TestServer {
    /// Adds a handler for a method and a path without a query. A `*` at the start or end of the path is a wildcard. If
    /// several routes match a request, the route that was added last responds.
    public func on(
        _ method: HTTPMethod, _ path: String, reading: BodyReading = .kept, handler: @escaping Handler
    ) {
        core.edit { $0.routes.append(.init(method, path: path, reading: reading, handler)) }
    }

    /// Adds a handler for a path. It responds to requests with any method.
    public func on(_ path: String, reading: BodyReading = .kept, handler: @escaping Handler) {
        core.edit { $0.routes.append(.init(nil, path: path, reading: reading, handler)) }
    }

    /// Adds a response that all requests with this method and this path get.
    public func on(_ method: HTTPMethod, _ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(method, path, reading: reading) { _ in response }
    }

    /// Adds a response that all requests with this path get.
    public func on(_ path: String, _ response: TestResponse, reading: BodyReading = .kept) {
        on(path, reading: reading) { _ in response }
    }

    /// Adds responses to a queue. Each request gets the next response in the queue. Routes are used only if the queue
    /// is empty.
    public func enqueue(_ responses: TestResponse...) { core.edit { $0.queue += responses } }

    /// Adds plans to a queue. The server handles each new connection according to the next plan in the queue.
    public func enqueueConnections(_ plans: ConnectionPlan...) { core.edit { $0.connections += plans } }

    /// Closes all open connections without a response.
    public func closeConnections() { core.closeConnections() }
}

extension TestServer {
    /// The last requests, up to `maximumRecordedRequests`. The oldest request is first.
    public var received: [RecordedRequest] {
        core.state.read { $0.requests(limit: core.configuration.maximumRecordedRequests) }
    }

    /// The number of complete requests that the server has received so far.
    public var requestCount: Int { core.requestCount.load(ordering: .sequentiallyConsistent) }

    /// The number of bytes that the server has sent so far, including heads.
    public var sentBytes: Int64 { core.sentBytes.load(ordering: .sequentiallyConsistent) }

    /// The errors of the requests that weren't valid HTTP/1.1. The array has at most 1,000 elements.
    public var faults: [RequestFault] { core.state.read { $0.faults } }

    /// The number of connections that the server has accepted so far.
    public var connectionCount: Int { core.state.read { $0.accepted } }

    /// The number of open connections.
    public var openConnections: Int { core.state.read { $0.open.count } }

    /// Waits for the next request that this method hasn't returned yet. Throws ``WaitTimeout`` after `limit`.
    public func nextRequest(within limit: Duration = .seconds(300)) async throws -> RecordedRequest {
        try await core.state.wait(for: "a request", within: limit) { $0.takeNext() }
    }

    /// Waits until the server has received `count` requests in total, and returns ``received``. Throws ``WaitTimeout``
    /// after `limit`.
    @discardableResult
    public func wait(forRequests count: Int, within limit: Duration = .seconds(300)) async throws -> [RecordedRequest] {
        _ = try await core.state.wait(for: "\(count) requests", within: limit) { [core] _ in
            core.requestCount.load(ordering: .sequentiallyConsistent) >= count ? true : nil
        }
        return received
    }

    /// Waits until exactly `count` connections are open. Throws ``WaitTimeout`` after `limit`.
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
        /// The maximum size of a request's first line and headers in bytes. If they are larger, the client gets a 431.
        /// Defaults to 64 KiB.
        public var maximumHeadBytes = 64 << 10
        /// The maximum size of a request's body in bytes. If it's larger, the client gets a 413. Defaults to 64 MiB.
        public var maximumBodyBytes = 64 << 20
        /// The maximum number of requests to keep in ``TestServer/received``. 0 turns recording off. Defaults to
        /// 10,000.
        public var maximumRecordedRequests = 10_000
        /// The maximum number of body bytes to keep in ``TestServer/received``. If there are more, the oldest requests
        /// are dropped. Defaults to 256 MiB.
        public var maximumRecordedBytes = 256 << 20
        /// Whether to respond to `Expect: 100-continue` with a 100 (RFC 9110, section 10.1.1). Without this response,
        /// the client waits for a while and then sends its body. Defaults to `true`.
        public var sendsContinue = true

        /// Creates the default settings.
        public init() {}
    }
}

/// The error of a ``TestServer`` that can't start.
public struct TestServerError: DescribedError, Sendable {
    /// The reason that the system gives.
    public let reason: String
    /// A sentence with the reason, for test logs.
    public var description: String { "the test server can't start: \(reason)" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}
