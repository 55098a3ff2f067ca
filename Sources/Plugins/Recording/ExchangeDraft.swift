import Errand
import ErrandEssentials

/// An exchange that is still running, with its secrets in the clear.
struct ExchangeDraft: Sendable {
    private let request: RecordedExchange.ClearRequest
    let attempt: Int
    let hop: Int
    let date: Date
    let start: ContinuousClock.Instant
    private var response: RecordedExchange.ClearResponse?
    /// Those of the socket that it opens.
    var messages: SocketMessages?
    /// The start of another exchange of the activity, if this one had no response then, and got none later.
    var supersededAt: ContinuousClock.Instant?
    private var timeToHead: Duration?
    private var timings: TransferTimings?
    private var progress = TransferProgress()
    private var sent = Data()
    private var received = Data()

    init(_ request: HTTPRequest, attempt: Int, hop: Int, date: Date, start: ContinuousClock.Instant) {
        (self.request, self.attempt, self.hop) = (RecordedExchange.ClearRequest(request), attempt, hop)
        (self.date, self.start) = (date, start)
    }

    /// Whether the response and its timings have been received; the timings follow the end of the body.
    var isComplete: Bool { response != nil && timings != nil }

    /// Whether a WebSocket follows the response.
    var opensSocket: Bool { response?.status == 101 && request.headers.requestsWebSocket }

    mutating func add(_ event: ActivityEvent, at now: ContinuousClock.Instant, limit: Int) {
        switch event {
        case .received(let response, _, _):
            timeToHead = start.duration(to: now)
            supersededAt = nil
            self.response = RecordedExchange.ClearResponse(response)
        case .transport(.timings(let timings)):
            self.timings = timings
            if supersededAt != nil { supersededAt = now }
        case .transport(.progress(let progress)): self.progress = progress
        case .requestBody(let data): Self.append(data, to: &sent, limit)
        case .responseBody(let data): Self.append(data, to: &received, limit)
        default: break
        }
    }

    /// Takes the head, and the beginning of the body, from the error of a transport that failed after the head.
    mutating func add(evidence outcome: ActivityOutcome, limit: Int) {
        guard response == nil, case .failure(let error as ErrandError) = outcome, let evidence = error.response,
            evidence.source == .network
        else { return }
        if received.isEmpty { received = evidence.data.prefix(limit) }
        response = RecordedExchange.ClearResponse(evidence)
    }

    private static func append(_ data: Data, to copy: inout Data, _ limit: Int) {
        // The first piece is kept without another copy.
        if copy.isEmpty, data.count <= limit { return copy = data }
        copy.append(data.prefix(max(0, limit - copy.count)))
    }

    /// The approximate number of bytes that it takes in memory, until that of the masked exchange is known.
    var approximateByteCount: Int {
        let fields = request.headers.count + (response?.headers.count ?? 0)
        return 600 + request.url.utf8.count + 120 * fields + sent.count + received.count
            + (messages?.approximateByteCount ?? 0)
    }

    /// The exchange with its secrets masked, without the activity, the end and the outcome.
    func masked(_ label: String, since origin: ContinuousClock.Instant, _ redaction: Redaction) -> RecordedExchange {
        // Events leave out a streamed body: the bytes that were transferred count.
        let passed = max(progress.received, Int64(received.count))
        let length = response?.length.flatMap { $0 > 0 ? $0 : nil } ?? passed
        var exchange = RecordedExchange(
            masking: request, sent: sent, response, received: received, receivedLength: length, messages, label, date,
            redaction)
        (exchange.attempt, exchange.hop) = (attempt, hop)
        exchange.offset = origin.duration(to: start)
        (exchange.timeToHead, exchange.timings) = (timeToHead, timings)
        return exchange
    }
}
