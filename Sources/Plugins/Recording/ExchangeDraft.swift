import Errand
import ErrandEssentials

/// An exchange that is still running, with its secrets in the clear.
struct ExchangeDraft: Sendable {
    let request: HTTPRequest
    let attempt: Int
    let hop: Int
    let date: Date
    let start: ContinuousClock.Instant
    /// Without its body.
    private var response: HTTPResponse?
    /// The start of another exchange of the activity, if this one had no response then, and got none later.
    var supersededAt: ContinuousClock.Instant?
    private var responseLength: Int64?
    private var timeToHead: Duration?
    private var timings: TransferTimings?
    private var progress = TransferProgress()
    private var sent = Data()
    private var received = Data()

    init(_ request: HTTPRequest, attempt: Int, hop: Int, date: Date, start: ContinuousClock.Instant) {
        (self.request, self.attempt, self.hop) = (request, attempt, hop)
        (self.date, self.start) = (date, start)
    }

    /// Whether the response and its timings have been received; the timings follow the end of the body.
    var isComplete: Bool { response != nil && timings != nil }

    mutating func add(_ event: ActivityEvent, at now: ContinuousClock.Instant, limit: Int) {
        switch event {
        case .received(let response, _, _):
            timeToHead = start.duration(to: now)
            supersededAt = nil
            keep(response)
        case .transport(.timings(let timings)):
            self.timings = timings
            if supersededAt != nil { supersededAt = now }
        case .transport(.progress(let progress)): self.progress = progress
        case .requestBody(let data): sent.append(data.prefix(max(0, limit - sent.count)))
        case .responseBody(let data): received.append(data.prefix(max(0, limit - received.count)))
        default: break
        }
    }

    private mutating func keep(_ response: HTTPResponse) {
        responseLength = response.body.length
        self.response = response
        self.response?.body = .empty
    }

    /// Takes the head, and the beginning of the body, from the error of a transport that failed after the head.
    mutating func add(evidence outcome: ActivityOutcome, limit: Int) {
        guard response == nil, case .failure(let error as ErrandError) = outcome, let evidence = error.response,
            evidence.source == .network
        else { return }
        if received.isEmpty { received = evidence.data.prefix(limit) }
        keep(evidence)
    }

    /// The exchange at its end, secrets masked.
    ///
    /// - Parameter outcome: that of the activity, if this is its last exchange.
    func recorded(
        of activity: Activity, until end: ContinuousClock.Instant, since origin: ContinuousClock.Instant,
        _ outcome: ActivityOutcome?, _ redaction: Redaction
    ) -> RecordedExchange {
        // Events leave out a streamed body: the bytes that were transferred count.
        let passed = max(progress.received, Int64(received.count))
        let length = responseLength.flatMap { $0 > 0 ? $0 : nil } ?? passed
        var exchange = RecordedExchange(
            masking: request, sent: sent, response: response, received: received, receivedLength: length,
            label: activity.label, date: date, redaction: redaction)
        (exchange.activity, exchange.parent) = (activity.id, activity.parent)
        (exchange.attempt, exchange.hop) = (attempt, hop)
        (exchange.offset, exchange.duration) = (origin.duration(to: start), start.duration(to: end))
        (exchange.timeToHead, exchange.timings) = (timeToHead, timings)
        exchange.outcome = outcome.map(RecordedOutcome.init)
        return exchange
    }
}
