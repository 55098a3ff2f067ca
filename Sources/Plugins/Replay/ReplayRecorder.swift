import Errand
import ErrandContentCodings
import ErrandEssentials
import ErrandRecording
import Synchronization

final class ReplayRecorder: Sendable {
    private struct State {
        var count = 0
        var exchanges: [(order: Int, exchange: RecordedExchange)] = []
        var cost = 0
        var omitted: [String] = []
        var secrets: Redactor
    }

    /// The maximum size of a body in bytes.
    static let bodyLimit = 64 << 20
    /// The maximum size of all unsaved exchanges in bytes.
    static let costLimit = 512 << 20

    private let redaction: Redaction
    private let state: Mutex<State>

    init(_ redaction: Redaction) {
        self.redaction = redaction
        // Names with many meanings, such as `code`, don't make a value secret in all exchanges.
        var shared = redaction
        shared.secretWords = []
        state = Mutex(State(secrets: Redactor(shared)))
    }

    var summary: (count: Int, omitted: [String]) { state.withLock { ($0.exchanges.count, $0.omitted) } }

    var exchanges: [RecordedExchange] {
        let (exchanges, secrets) = state.withLock { ($0.exchanges, $0.secrets) }
        return exchanges.sorted { $0.order < $1.order }.map { recorded in
            var exchange = recorded.exchange
            exchange.mask(secrets)
            return exchange
        }
    }

    func send(
        _ request: HTTPRequest, _ options: TransportOptions, over transport: (any Transport)?
    ) async throws -> HTTPResponse {
        guard let transport else {
            throw ErrandError(.transportUnavailable, "there's no transport to forward requests to")
        }
        let order = state.withLock { state in
            state.count += 1
            return state.count
        }
        var draft = Draft(order: order, request: request, date: options.time.date, start: options.time.now)
        let response: HTTPResponse
        do { response = try await transport.send(watched(request, draft.upload), options: options) } catch {
            if !error.isCancellation { record(draft, received: Data(), outcome: .failure(error), at: options.time.now) }
            throw error
        }
        draft.receive(response, at: options.time.now)
        guard response.body.data == nil else {
            record(draft, received: response.data, outcome: .success(nil), at: options.time.now)
            return response
        }
        var copied = response
        copied.body = HTTPBody(
            length: response.body.length,
            source: RecordingBody(response.body) { [self, draft] data in
                guard let data else { return omit(request, "its body was not read to the end, or is too long") }
                record(draft, received: data, outcome: .success(nil), at: options.time.now)
            })
        return copied
    }

    private final class SentCopy: Sendable {
        let data = Mutex(Data())
    }

    private struct Draft: Sendable {
        let order: Int
        let request: HTTPRequest
        let date: Date
        let start: ContinuousClock.Instant
        let upload = SentCopy()
        private(set) var response: HTTPResponse?
        private(set) var timeToHead: Duration?

        mutating func receive(_ response: HTTPResponse, at now: ContinuousClock.Instant) {
            self.response = response
            self.response?.body = .empty
            timeToHead = start.duration(to: now)
        }
    }

    private func watched(_ request: HTTPRequest, _ upload: SentCopy) -> HTTPRequest {
        let body = request.body
        if let data = body.data {
            if data.count <= Self.bodyLimit { upload.data.withLock { $0 = data } }
            return request
        }
        var request = request
        request.body = .stream(length: body.length, contentType: body.contentType) {
            let opened = try body.open()
            // The copy ends at the announced length, because a transport may not read further.
            let source = RecordingBody(opened, upTo: opened.length) { data in
                upload.data.withLock { $0 = data ?? Data() }
            }
            return HTTPBody(length: opened.length, source: source)
        }
        return request
    }

    private func record(
        _ draft: Draft, received: Data, outcome: ActivityOutcome, at now: ContinuousClock.Instant
    ) {
        if received.count > Self.bodyLimit { return omit(draft.request, "its body is too long") }
        var (request, sent) = (draft.request, draft.upload.data.withLock { $0 })
        // A request body with a content coding is decoded, because coded bytes can't be masked. Besides, the same
        // content may have different coded bytes.
        if let coding = request.headers[.contentEncoding],
            let plain = ContentCodings.decoded(Array(sent), coding, upTo: Self.bodyLimit)
        {
            let type = request.body.contentType
            sent = Data(plain)
            request.body = .data(sent, contentType: type)
            request.headers.remove(.contentEncoding)
        }
        var exchange = RecordedExchange(
            masking: request, sent: sent, response: draft.response, received: received, date: draft.date,
            redaction: redaction)
        (exchange.duration, exchange.timeToHead) = (draft.start.duration(to: now), draft.timeToHead)
        exchange.outcome = RecordedOutcome(outcome)
        let cost = exchange.approximateByteCount
        let isKept = state.withLock { state in
            guard state.cost + cost <= Self.costLimit else { return false }
            state.cost += cost
            state.exchanges.append((draft.order, exchange))
            state.secrets.find(in: request, sent: sent)
            if let response = draft.response { state.secrets.find(in: response, received: received) }
            return true
        }
        if !isKept { omit(draft.request, "the recording has reached \(Self.costLimit) bytes") }
    }

    func omit(_ request: HTTPRequest, _ reason: String) {
        let text = "\(request.line(redaction)): \(reason)"
        state.withLock { if $0.omitted.count < 100 { $0.omitted.append(text) } }
    }
}

extension Redactor {
    /// Collects the secrets in a request. Skips cookies, because many cookies aren't secrets.
    fileprivate mutating func find(in request: HTTPRequest, sent: Data) {
        let authorizing = request.headers.filter { $0.name == .authorization || $0.name == .proxyAuthorization }
        _ = headers(HTTPHeaders(authorizing))
        _ = url(request.urlText)
        _ = body(
            sent, contentType: request.headers[.contentType] ?? request.body.contentType,
            contentCoding: request.headers[.contentEncoding])
    }

    fileprivate mutating func find(in response: HTTPResponse, received: Data) {
        if let location = response.headers[.location] { _ = url(location) }
        _ = body(
            received, contentType: response.headers[.contentType],
            contentCoding: response.headers[.contentEncoding])
    }
}

final class RecordingBody: HTTPBodySource {
    private let chunks: BodyChunks
    private let copy = Mutex<Data?>(Data())
    private let hasEnded = Atomic(false)
    /// The number of bytes after which the body counts as complete, even if it isn't read to the end. It's nil if the
    /// body is complete only at its end.
    private let left: Mutex<Int64?>
    /// Called at the end of the body with all bytes. Called with nil if the body wasn't read to the end or exceeds the
    /// limit.
    private let end: @Sendable (Data?) -> Void

    init(_ body: HTTPBody, upTo length: Int64? = nil, _ end: @escaping @Sendable (Data?) -> Void) {
        (chunks, self.end) = (BodyChunks(body), end)
        left = Mutex(length)
    }

    deinit { finish(nil) }

    func nextChunk() async throws -> Data? {
        do {
            let chunk = try await chunks.next()
            if let chunk {
                copy.withLock { copy in
                    if let kept = copy?.count, kept + chunk.count > ReplayRecorder.bodyLimit { copy = nil }
                    copy?.append(chunk)
                }
                let isComplete = left.withLock { left in
                    left = left.map { $0 - Int64(chunk.count) }
                    return left == 0
                }
                if isComplete { finish(copy.withLock { $0 }) }
            } else {
                finish(copy.withLock { $0 })
            }
            return chunk
        } catch {
            finish(nil)
            throw error
        }
    }

    func cancel() {
        chunks.cancel()
        finish(nil)
    }

    private func finish(_ data: Data?) {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { end(data) }
    }
}
