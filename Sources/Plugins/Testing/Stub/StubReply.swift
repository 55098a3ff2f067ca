import Errand
import ErrandEssentials
import Synchronization

/// A prepared stub response. A class, because requests share it.
final class StubReply: Sendable {
    private let stub: StubResponse
    let isLate: Bool

    init(_ stub: StubResponse) { (self.stub, isLate) = (stub, stub.gate != nil || stub.delay > .zero) }

    /// The server's end of a WebSocket.
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
            let body = StubBody(chunks, interval, failure) { try await Self.wait(for: $0, options) }
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

    /// Waits no longer than the request's timeout.
    private static func wait(for duration: Duration, _ options: TransportOptions) async throws {
        let limit = min(duration, options.timeout)
        try await options.time.sleep(until: options.time.instant(after: limit))
        if duration > limit { throw ErrandError(.timedOut, "the server was inactive for \(duration: options.timeout)") }
    }
}

/// A body that produces each chunk when it is pulled.
final class StubBody: HTTPBodySource {
    private let chunks: [Data]
    private let interval: Duration
    private let failure: (any Error)?
    private let wait: @Sendable (Duration) async throws -> Void
    private let position = Mutex(0)

    init(
        _ chunks: [Data], _ interval: Duration, _ failure: (any Error)?,
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

/// A body whose chunks come from the test's closure.
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
