public import Errand
public import ErrandEssentials
import Synchronization

/// A response that a ``StubTransport`` returns: a status, headers, and a body, or an error.
///
/// ```swift
/// .json(#"{"id":7}"#)
/// .status(503).delayed(by: .seconds(2))
/// .chunks([first, second], every: .seconds(1))
/// .failure(ErrandError(.connectionLost, "the cable was pulled"))
/// ```
///
/// Delays are measured with the agent's `TimeSource`. If the request's timeout is earlier, the delay ends with the
/// timeout.
public struct StubResponse: ScriptedResponse {
    /// The status code.
    public var status: Int
    /// The header fields. The transport doesn't add other fields.
    public var headers: HTTPHeaders
    var body: Body
    var delay = Duration.zero
    var gate: Gate?
    var events: [TransportEvent] = []

    enum Body: Sendable {
        case data(HTTPBody)
        case chunks([Data], interval: Duration, failure: (any Error)?)
        case stream(length: Int64?, next: @Sendable () async throws -> Data?, cancel: @Sendable () -> Void)
        case failure(any Error)
        case socket(@Sendable (StubSocket) async throws -> Void)
    }

    /// Creates a response. By default, the status is 200, and the response has neither headers nor a body.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.init(status: status, headers: headers, body: .data(HTTPBody(body)))
    }

    init(_ headers: HTTPHeaders, _ conversation: @escaping @Sendable (StubSocket) async throws -> Void) {
        self.init(status: 101, headers: headers, body: .socket(conversation))
    }

    private init(status: Int, headers: HTTPHeaders, body: Body) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension StubResponse {
    /// Returns a redirect to a URL. The URL may be relative.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: [.location: location])
    }

    /// Returns a response that makes the request throw this error.
    public static func failure(_ error: any Error) -> StubResponse {
        StubResponse(status: 0, headers: [:], body: .failure(error))
    }

    /// Returns a response that streams a chunk each time the reader asks for bytes, with pauses between chunks. At the
    /// end, it throws `failure` if you pass an error.
    public static func chunks(
        _ chunks: [Data], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        StubResponse(status: 200, headers: [:], body: .chunks(chunks, interval: interval, failure: failure))
    }

    /// Returns a response that streams the chunks that `next` returns, until `next` returns `nil`. If the reader
    /// cancels, `onCancel` is called.
    public static func stream(
        length: Int64? = nil, onCancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws -> Data?
    ) -> StubResponse {
        StubResponse(status: 200, headers: [:], body: .stream(length: length, next: next, cancel: onCancel))
    }
}

extension StubResponse {
    /// Adds a header field. If you add `Content-Type`, it replaces the existing field.
    public func header(_ name: HTTPHeaderName, _ value: String) -> StubResponse {
        modified { if name == .contentType { $0.headers.set(name, value) } else { $0.headers.add(name, value) } }
    }

    /// Replaces the status code.
    public func status(_ status: Int) -> StubResponse { modified { $0.status = status } }

    /// Delays the response's head, according to the agent's clock. If the delay is longer than the request's timeout,
    /// the request throws `timedOut`.
    public func delayed(by delay: Duration) -> StubResponse { modified { $0.delay = delay } }

    /// Holds the response's head until the test opens a gate. If the request's timeout passes before, the request
    /// throws `timedOut`.
    public func waiting(for gate: Gate) -> StubResponse { modified { $0.gate = gate } }

    /// Reports these events before the response's head, such as progress, a 1xx response, or timings.
    public func reporting(_ events: TransportEvent...) -> StubResponse { modified { $0.events += events } }

    private func modified(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var copy = self
        change(&copy)
        return copy
    }
}

/// A stub response that is prepared once and shared by all requests.
final class StubReply: Sendable {
    private let stub: StubResponse
    let isLate: Bool

    init(_ stub: StubResponse) { (self.stub, isLate) = (stub, stub.gate != nil || stub.delay > .zero) }

    var conversation: (@Sendable (StubSocket) async throws -> Void)? {
        if case .socket(let conversation) = stub.body { conversation } else { nil }
    }

    func respond(to request: HTTPRequest, _ options: TransportOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        if isLate { try await waitBefore(options) }
        return try response(to: request, options)
    }

    func response(to request: HTTPRequest, _ options: TransportOptions) throws -> HTTPResponse {
        for event in stub.events { options.report(event) }
        var content: HTTPBody
        switch stub.body {
        case .data(let data): content = data
        case .chunks(let chunks, let interval, let failure):
            let body = StubBody(chunks, interval: interval, failure: failure) { try await Self.wait(for: $0, options) }
            content = HTTPBody(source: body)
        case .stream(let length, let next, let cancel):
            content = HTTPBody(length: length, source: StubStream(next: next, onCancel: cancel))
        case .socket: content = .empty
        case .failure(let error): throw error
        }
        if request.method == .head { content = .empty }
        return HTTPResponse(to: request, status: stub.status, headers: stub.headers, body: content)
    }

    private static let unlimited = Duration.seconds(Int64.max).bounded

    private func waitBefore(_ options: TransportOptions) async throws {
        if let gate = stub.gate {
            try await withThrowingTaskGroup { group in
                group.addTask { try await gate.wait(within: Self.unlimited) }
                group.addTask { try await Self.wait(for: Self.unlimited, options) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        if stub.delay > .zero { try await Self.wait(for: stub.delay, options) }
    }

    private static func wait(for duration: Duration, _ options: TransportOptions) async throws {
        let limit = min(duration, options.timeout)
        try await options.time.sleep(until: options.time.instant(after: limit))
        if duration > limit {
            throw ErrandError(.timedOut, "the server sent or received no bytes for \(duration: options.timeout)")
        }
    }
}

final class StubBody: HTTPBodySource {
    private let chunks: [Data]
    private let interval: Duration
    private let failure: (any Error)?
    private let wait: @Sendable (Duration) async throws -> Void
    private let position = Mutex(0)

    init(
        _ chunks: [Data], interval: Duration, failure: (any Error)?,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.chunks, self.interval, self.failure, self.wait) = (chunks, interval, failure, wait)
    }

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        let index = position.withLock { position in
            defer { position += 1 }
            return position
        }
        if index > 0, interval > .zero, index < chunks.count { try await wait(interval) }
        if index < chunks.count { return chunks[index] }
        if let failure { throw failure }
        return nil
    }

    func cancel() {}
}

final class StubStream: HTTPBodySource {
    private let next: @Sendable () async throws -> Data?
    private let onCancel: @Sendable () -> Void

    init(next: @escaping @Sendable () async throws -> Data?, onCancel: @escaping @Sendable () -> Void) {
        (self.next, self.onCancel) = (next, onCancel)
    }

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        return try await next()
    }

    func cancel() { onCancel() }
}
