import Errand
import ErrandEssentials
import Synchronization

/// Sends requests over another transport and keeps the exchanges, secrets masked.
final class ReplayRecorder: Sendable {
    private struct State {
        var count = 0
        var exchanges: [(order: Int, exchange: RecordedExchange)] = []
        var cost = 0
        var omitted: [String] = []
        /// Finds the secrets of all exchanges, to mask them in each other.
        var secrets: Redactor
    }

    /// Bytes of one body that is recorded.
    static let bodyLimit = 64 << 20
    /// Bytes of all exchanges that wait to be saved.
    static let costLimit = 512 << 20

    private let redaction: Redaction
    private let state: Mutex<State>

    init(_ redaction: Redaction) {
        self.redaction = redaction
        // What one exchange calls a secret is masked in the others, unless that is a short word that may mean anything.
        var shared = redaction
        shared.secretWords = []
        state = Mutex(State(secrets: Redactor(shared)))
    }

    /// How many exchanges were recorded, and which were not.
    var summary: (count: Int, omitted: [String]) { state.withLock { ($0.exchanges.count, $0.omitted) } }

    /// The exchanges in the order in which their requests were sent.
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
            throw ErrandError(.transportUnavailable, "there is no transport to pass requests on to")
        }
        let order = state.withLock { state in
            state.count += 1
            return state.count
        }
        var draft = ExchangeDraft(request, attempt: 1, hop: 1, date: options.time.date, start: options.time.now)
        let upload = Upload()
        let response: HTTPResponse
        do { response = try await transport.send(watched(request, upload), options: options) } catch {
            if !error.isCancellation { record(draft, order, upload, Data(), .failure(error), options.time.now) }
            throw error
        }
        var head = response
        head.body = response.body.data == nil ? .empty : response.body
        draft.add(.received(head, attempt: 1, hop: 1), at: options.time.now, limit: .max)
        guard response.body.data == nil else {
            record(draft, order, upload, response.data, .success(nil), options.time.now)
            return response
        }
        var copied = response
        copied.body = HTTPBody(
            length: response.body.length,
            source: RecordingBody(response.body) { [self, draft] data in
                guard let data else { return omit(request, "its body was not read to the end, or is too long") }
                record(draft, order, upload, data, .success(nil), options.time.now)
            })
        return copied
    }

    /// The bytes of a body that was sent.
    private final class Upload: Sendable {
        let data = Mutex(Data())
    }

    /// The request, whose body is copied while it is sent.
    private func watched(_ request: HTTPRequest, _ upload: Upload) -> HTTPRequest {
        let body = request.body
        if let data = body.data {
            if data.count <= Self.bodyLimit { upload.data.withLock { $0 = data } }
            return request
        }
        var request = request
        request.body = .stream(length: body.length, contentType: body.contentType) {
            let opened = try body.open()
            let source = RecordingBody(opened) { data in upload.data.withLock { $0 = data ?? Data() } }
            return HTTPBody(length: opened.length, source: source)
        }
        return request
    }

    private func record(
        _ draft: ExchangeDraft, _ order: Int, _ upload: Upload, _ body: Data, _ outcome: ActivityOutcome,
        _ now: ContinuousClock.Instant
    ) {
        if body.count > Self.bodyLimit { return omit(draft.request, "its body is too long") }
        var draft = draft
        draft.add(.requestBody(upload.data.withLock { $0 }), at: now, limit: .max)
        draft.add(.responseBody(body), at: now, limit: .max)
        let exchange = draft.recorded(of: nil, until: now, since: draft.start, outcome, redaction)
        let cost = exchange.cost
        let isKept = state.withLock { state in
            guard state.cost + cost <= Self.costLimit else { return false }
            state.cost += cost
            state.exchanges.append((order, exchange))
            draft.findSecrets(&state.secrets)
            return true
        }
        if !isKept { omit(draft.request, "the recording has reached \(Self.costLimit) bytes") }
    }

    private func omit(_ request: HTTPRequest, _ reason: String) {
        var redactor = Redactor(redaction)
        let text = "\(request.method) \(redactor.url(request.urlText).prefix(500)): \(reason)"
        state.withLock { if $0.omitted.count < 100 { $0.omitted.append(text) } }
    }
}

/// A body that keeps a copy of what is read.
private final class RecordingBody: HTTPBodySource {
    private let body: HTTPBody
    // Proof: HTTPBody admits one reader, which requests one chunk after the other.
    private nonisolated(unsafe) var iterator: HTTPBody.Iterator
    private nonisolated(unsafe) var copy: Data? = Data()
    private let hasEnded = Atomic(false)
    /// Receives all bytes at the end; nil if there was none, or if they are too many.
    private let end: @Sendable (Data?) -> Void

    init(_ body: HTTPBody, _ end: @escaping @Sendable (Data?) -> Void) {
        (self.body, self.end) = (body, end)
        iterator = body.makeAsyncIterator()
    }

    deinit { finish(nil) }

    func nextChunk() async throws -> Data? {
        do {
            let chunk = try await iterator.next()
            if let chunk {
                if let kept = copy?.count, kept + chunk.count > ReplayRecorder.bodyLimit { copy = nil }
                copy?.append(chunk)
            } else {
                finish(copy)
            }
            return chunk
        } catch {
            finish(nil)
            throw error
        }
    }

    func cancel() {
        body.cancel()
        finish(nil)
    }

    private func finish(_ data: Data?) {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { end(data) }
    }
}
