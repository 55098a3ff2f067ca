import AsyncHTTPClient
import Errand
import ErrandEssentials
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its response. Watches for inactivity, and reports progress and timings.
final class ClientExchange: Sendable {
    private struct State {
        var lastActivity: ContinuousClock.Instant
        var progress = TransferProgress()
        var firstByte: Duration?
        var isReported = false
        /// The error of the body's source, as opposed to the connection's.
        var uploadFailure: (any Error)?
    }

    private let client: ClientReference
    private let request: Errand.HTTPRequest
    private let options: TransportOptions
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    init(_ client: ClientReference, _ request: Errand.HTTPRequest, _ options: TransportOptions) {
        (self.client, self.request, self.options) = (client, request, options)
        state = Mutex(State(lastActivity: options.time.now))
    }

    func response() async throws -> Errand.HTTPResponse {
        let outgoing = try prepared()
        let head = try await watching { try await self.client.client.execute(outgoing, deadline: .distantFuture) }
        let hasBody =
            request.method != .head && head.status.code >= 200 && head.status != .noContent
            && head.status != .notModified
        let headers = Self.headers(head.headers)
        if let coding = headers[.transferEncoding], coding.lowercased() != "chunked" {
            throw ErrandError(.invalidResponse, "the response has a transfer coding that wasn't requested")
        }
        let length = headers.contains(.transferEncoding) ? nil : headers[.contentLength].flatMap { Int64($0) }
        state.withLock { state in
            state.firstByte = start.duration(to: .now)
            // The client reports no progress for a body in memory.
            state.progress.sent = max(state.progress.sent, request.body.data.map { Int64($0.count) } ?? 0)
            state.progress.totalToReceive = hasBody ? length : 0
        }
        report()
        let source = ResponseSourceBody(head.body, self)
        let version = head.version.major >= 2 ? "\(head.version.major)" : "\(head.version.major).\(head.version.minor)"
        var response = Errand.HTTPResponse(
            to: request, status: Int(head.status.code), headers: headers, version: version)
        if hasBody {
            response.body = Errand.HTTPBody(length: length, source: source)
        } else {
            while try await source.nextChunk() != nil {}
        }
        return response
    }

    /// Converts header fields. The client keeps trailing whitespace, which isn't part of a value (RFC 9110, section
    /// 5.5).
    private static func headers(_ fields: NIOHTTP1.HTTPHeaders) -> Errand.HTTPHeaders {
        Errand.HTTPHeaders(
            fields.map { name, value in
                var value = value[...]
                while let last = value.utf8.last, last == 0x20 || last == 0x09 { value.removeLast() }
                return Errand.HTTPHeaders.Field(HTTPHeaderName(name), String(value))
            })
    }

    private func prepared() throws -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: request.urlText)
        outgoing.method = NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers where field.name != .contentLength {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        if request.body.isNone { return outgoing }
        state.withLock { $0.progress.totalToSend = request.body.length }
        if let data = request.body.data {
            outgoing.body = .bytes(ByteBuffer(bytes: data))
        } else {
            let length: HTTPClientRequest.Body.Length = request.body.length.map { .known($0) } ?? .unknown
            outgoing.body = .stream(UploadChunks(body: try request.body.open(), exchange: self), length: length)
        }
        return outgoing
    }

    // MARK: Silence

    /// Runs one step, and cancels it if no bytes are sent or received for the duration of the timeout.
    func watching<Value: Sendable>(_ step: @escaping @Sendable () async throws -> Value) async throws -> Value {
        touch()
        do {
            return try await withThrowingTaskGroup(of: Value?.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await step() }
                group.addTask {
                    try await self.silence()
                    return nil
                }
                guard let value = try await group.next() ?? nil else {
                    throw ErrandError(.timedOut, "nothing was sent or received for \(duration: self.options.timeout)")
                }
                return value
            }
        } catch {
            let failure = state.withLock { $0.uploadFailure }
            throw ClientFailure.translated(Task.isCancelled ? CancellationError() : failure ?? error)
        }
    }

    private func silence() async throws {
        while true {
            let last = state.withLock { $0.lastActivity }
            try await options.time.sleep(until: last.advanced(by: options.timeout))
            if state.withLock({ $0.lastActivity == last }) { return }
        }
    }

    private func touch() {
        let now = options.time.now
        state.withLock { $0.lastActivity = now }
    }

    // MARK: Events

    func didSend(_ count: Int) {
        touch()
        state.withLock { $0.progress.sent += Int64(count) }
        report()
    }

    func didFail(_ error: any Error) { state.withLock { $0.uploadFailure = $0.uploadFailure ?? error } }

    func didReceive(_ count: Int) {
        state.withLock { $0.progress.received += Int64(count) }
        report()
    }

    /// Called once, when the exchange is over on the wire.
    func didEnd() {
        var timings = TransferTimings()
        let isFirst = state.withLock { state in
            timings.firstByte = state.firstByte
            (timings.bytesSent, timings.bytesReceived) = (state.progress.sent, state.progress.received)
            defer { state.isReported = true }
            return !state.isReported
        }
        timings.total = start.duration(to: .now)
        if isFirst { options.report(.timings(timings)) }
    }

    private func report() { options.report(.progress(state.withLock { $0.progress })) }
}

/// The chunks of a request's body, read as the client asks for them.
private struct UploadChunks: AsyncSequence, Sendable {
    let body: Errand.HTTPBody
    let exchange: ClientExchange

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), exchange: exchange) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: Errand.HTTPBody.Iterator
        let exchange: ClientExchange

        mutating func next() async throws -> ByteBuffer? {
            do {
                guard let chunk = try await chunks.next() else { return nil }
                exchange.didSend(chunk.count)
                return ByteBuffer(bytes: chunk)
            } catch {
                exchange.didFail(error)
                throw error
            }
        }
    }
}
