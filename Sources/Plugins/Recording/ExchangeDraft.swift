import Errand
import ErrandEssentials
import ErrandRedaction
import Synchronization

/// An exchange (a sent request and its response) that isn't masked yet, so it contains secrets.
final class ExchangeDraft: Sendable {
    private struct State {
        var response: RecordedExchange.ClearResponse?
        var messages: SocketMessages?
        /// The time when the activity's next exchange began. It's nil if this exchange has received a response.
        var supersededAt: Duration?
        var timeToHead: Duration?
        /// The transport's event with the timings. Keeping the event is cheaper than copying its many fields.
        var timings: TransportEvent?
        var progress = TransferProgress()
        var sent = Data()
        var received = Data()
    }

    private let request: RecordedExchange.ClearRequest
    let position: TransferPosition
    private let date: Date
    /// The time from the start of the recording to the start of this exchange. It's a duration, because a duration is
    /// copied without calling the runtime, unlike an instant.
    let start: Duration
    private let state = Mutex(State())

    init(_ request: HTTPRequest, _ position: TransferPosition, date: Date, start: Duration) {
        (self.request, self.position) = (RecordedExchange.ClearRequest(request), position)
        (self.date, self.start) = (date, start)
    }

    /// Whether the exchange is complete. The timings arrive after the end of the body.
    var isComplete: Bool { state.withLock { $0.response != nil && $0.timings != nil } }

    var opensSocket: Bool { state.withLock { $0.response?.status == 101 } && request.headers.requestsWebSocket }

    func supersede(at now: Duration) { state.withLock { $0.supersededAt = now } }

    func add(_ event: ActivityEvent, at now: Duration, limit: Int) {
        switch event {
        case .received(let response, _):
            let response = RecordedExchange.ClearResponse(response)
            state.withLock { state in
                state.timeToHead = now - start
                state.supersededAt = nil
                state.response = response
            }
        case .transport(let timings) where timings.isTimings:
            state.withLock { state in
                state.timings = timings
                if state.supersededAt != nil { state.supersededAt = now }
            }
        case .transport(.progress(let progress)): state.withLock { $0.progress = progress }
        case .requestBody(let data, _): state.withLock { Self.append(data, to: &$0.sent, limit) }
        case .responseBody(let data, _): state.withLock { Self.append(data, to: &$0.received, limit) }
        default: break
        }
    }

    /// Adds the response that an error contains. The transport may have failed after it received the response's head.
    func add(evidence outcome: ActivityOutcome, limit: Int) {
        guard case .failure(let error as ErrandError) = outcome, let evidence = error.response,
            evidence.source == .network
        else { return }
        let response = RecordedExchange.ClearResponse(evidence)
        state.withLock { state in
            if state.response != nil { return }
            if state.received.isEmpty { state.received = evidence.data.prefix(limit) }
            state.response = response
        }
    }

    private static func append(_ data: Data, to copy: inout Data, _ limit: Int) {
        if copy.isEmpty, data.count <= limit { return copy = data }
        copy.append(data.prefix(max(0, limit - copy.count)))
    }

    // MARK: WebSocket messages

    func keepMessages(upTo count: Int, maximumBytes: Int) {
        let messages = SocketMessages(limit: count, maximumBytes: maximumBytes)
        state.withLock { $0.messages = messages }
    }

    func add(_ message: StreamMessage, at date: Date, limit: Int) {
        state.withLock { $0.messages?.add(message, at: date, limit: limit) }
    }

    // MARK: Masking

    var approximateByteCount: Int {
        let (fields, bytes) = state.withLock { state in
            let messages = state.messages?.approximateByteCount ?? 0
            return (state.response?.headers.count ?? 0, state.sent.count + state.received.count + messages)
        }
        return 600 + request.url.utf8.count + 120 * (request.headers.count + fields) + bytes
    }

    func masked(_ ending: EndedExchange.Ending, _ secrets: inout HeaderSecrets) -> RecordedExchange {
        // The exchange is masked after unlocking, because masking searches the whole exchange.
        let state = state.withLock { $0 }
        // Events don't contain streamed bodies, so the number of transferred bytes is used too.
        let passed = max(state.progress.received, Int64(state.received.count))
        let length = state.response?.length.flatMap { $0 > 0 ? $0 : nil } ?? passed
        let parts = RecordedExchange.maskedParts(
            request, sent: state.sent, response: state.response, received: state.received, receivedLength: length,
            messages: state.messages, label: ending.label,
            redactor: secrets.redactor(knowing: request.headers, state.response?.headers))
        let timings: TransferTimings? = if case .timings(let timings)? = state.timings { timings } else { nil }
        return RecordedExchange(
            parts, activity: ending.activity, parent: ending.parent, attempt: position.attempt,
            hop: position.hop, date: date, offset: start,
            duration: (state.supersededAt ?? ending.end) - start, timeToHead: state.timeToHead, timings: timings,
            outcome: ending.outcome)
    }
}

extension TransportEvent {
    fileprivate var isTimings: Bool { if case .timings = self { true } else { false } }
}

/// A finished exchange. It contains secrets until the recorder masks it on its own queue, within seconds.
final class EndedExchange: Sendable {
    struct Ending: Sendable {
        let activity: Activity.ID
        let parent: Activity.ID?
        let label: String
        let end: Duration
        let outcome: RecordedOutcome?
    }

    private enum State {
        case clear(ExchangeDraft)
        // This case is indirect to keep values small, because most exchanges are dropped before they're masked.
        indirect case masked(RecordedExchange)
    }

    private let state: Mutex<State>
    private let ending: Ending

    init(_ draft: ExchangeDraft, _ ending: Ending) {
        state = Mutex(.clear(draft))
        self.ending = ending
    }

    func mask(_ secrets: inout HeaderSecrets) -> Int {
        let known = state.withLock { $0 }
        switch known {
        case .masked(let exchange): return exchange.approximateByteCount
        case .clear(let draft):
            let exchange = draft.masked(ending, &secrets)
            let cost = exchange.approximateByteCount
            state.withLock { $0 = .masked(exchange) }
            return withExtendedLifetime(known) { cost }
        }
    }

    /// Returns the exchange with its secrets masked.
    ///
    /// - Parameters:
    ///   - secrets: The secrets in the headers of the exchange that was masked last. Most exchanges share their
    ///     secrets.
    ///   - isKept: Whether to keep the result, because the exchange may be read again.
    func masked(_ secrets: inout HeaderSecrets, isKept: Bool = true) -> RecordedExchange {
        let known = state.withLock { $0 }
        switch known {
        case .masked(let exchange): return exchange
        case .clear(let draft):
            let exchange = draft.masked(ending, &secrets)
            if isKept { state.withLock { $0 = .masked(exchange) } }
            return withExtendedLifetime(known) { exchange }
        }
    }
}

final class ActivityDraft: Sendable {
    struct State {
        var host: String?
        var progress = TransferProgress()
        var stream: StreamCount?
        var socket: SocketDraft?
        var exchange: ExchangeDraft?
        /// The activity's earlier exchanges that have failed or are still running.
        var pending: [ExchangeDraft] = []
    }

    let date: Date
    private let state = Mutex(State())

    init(date: Date) { self.date = date }

    var known: State { state.withLock { $0 } }

    func take() -> State {
        var taken = State()
        state.withLock { swap(&$0, &taken) }
        return taken
    }

    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    func begin(_ draft: ExchangeDraft, at now: Duration) -> ExchangeDraft? {
        state.withLock { state in
            let last = state.exchange
            state.exchange = draft
            guard let last, !last.isComplete else { return last }
            last.supersede(at: now)
            state.pending.append(last)
            // The number of exchanges is limited, because a request may be retried forever.
            return state.pending.count > 64 ? state.pending.removeFirst() : nil
        }
    }

    func add(_ event: ActivityEvent, at now: Duration, limit: Int) -> ExchangeDraft? {
        let (exchange, isPending) = exchange(of: event)
        exchange?.add(event, at: now, limit: limit)
        guard isPending, let exchange, exchange.isComplete else { return nil }
        state.withLock { $0.pending.removeAll { $0 === exchange } }
        return exchange
    }

    private func exchange(of event: ActivityEvent) -> (ExchangeDraft?, isPending: Bool) {
        let transfer: Int? =
            switch event {
            case .received(_, let position), .requestBody(_, let position), .responseBody(_, let position):
                position.transfer
            case .transport(.timings(let timings)): timings.position?.transfer
            case .transport(.progress(let progress)): progress.transfer
            default: nil
            }
        return state.withLock { state in
            if case .transport(.progress(let progress)) = event { state.progress = progress }
            guard let transfer, state.exchange?.position.transfer != transfer else { return (state.exchange, false) }
            return (state.pending.first { $0.position.transfer == transfer }, true)
        }
    }
}
