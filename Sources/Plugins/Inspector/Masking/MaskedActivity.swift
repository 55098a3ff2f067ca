import Errand
import ErrandEssentials
import ErrandRecording

/// An activity whose secrets are masked. If a secret is found in one part, it's masked in all parts.
struct MaskedActivity: Sendable {
    enum Bodies: Sendable {
        case all
        /// Leaves out bodies above this size. Lists don't show bodies.
        case upTo(Int)
    }

    struct Note: Sendable {
        let name: String
        let text: String
        let at: Duration
    }

    let record: ActivityRecord.Identity
    private(set) var state: ActivityRecord.State
    var label: String
    var method: String?
    var url: String?
    var exchanges: [RecordedExchange] = []
    var other: RecordedExchange.Response?
    var notes: [Note] = []
    var messages: [RecordedWebSocket.Message] = []
    var failure: ActivityRecord.Failure?
    var explanation: String?
    private var redactor: Redactor

    init(_ record: ActivityRecord, _ redaction: Redaction, bodies: Bodies = .all) {
        let state = record.known
        if let masked = state.masked {
            self = masked.activity
        } else {
            self.init(record.identity, state: state, redaction: redaction, bodies: bodies)
        }
    }

    private init(
        _ record: ActivityRecord.Identity, state: ActivityRecord.State, redaction: Redaction, bodies: Bodies
    ) {
        (self.record, self.state, redactor) = (record, state, Redactor(redaction))
        label = redactor.url(state.label)
        let isWhole = state.bytes <= bodies.limit
        if let built = state.built {
            _ = redactor.headers(built.headers)
            (method, url) = (built.method.rawValue, redactor.url(built.url))
        }
        exchanges = state.hops.map { Self.exchange($0, of: record, isWhole: isWhole, &redactor) }
        if isWhole {
            messages = state.messages.map {
                RecordedWebSocket.Message(
                    $0.message.direction, isText: $0.message.isText, date: $0.date,
                    body: RecordedBody(masking: $0.message, by: &redactor))
            }
        }
        if let (head, body, length) = state.other.map({ ($0.head, $0.body, $0.length) }) {
            other = Self.response(head, body: body, length: length, isWhole: isWhole, redactor: &redactor)
        }
        mask()
    }

    private mutating func mask() {
        label = redactor.masking(label)
        url = url.map { redactor.masking($0) }
        for index in exchanges.indices { exchanges[index].mask(redactor) }
        for index in messages.indices { messages[index].body.mask(redactor) }
        if let response = other {
            var carrier = RecordedExchange(
                request: RecordedExchange.Request(.get, ""), response: response, date: record.date)
            carrier.mask(redactor)
            other = carrier.response
        }
        notes = state.notes.map {
            Note(
                name: $0.note.name, text: redactor.masking(String($0.note.message.prefix(4096))), at: $0.at)
        }
        if case .failure(let known) = state.ending {
            failure = ActivityRecord.Failure(
                name: known.name, description: redactor.masking(known.description), sentence: known.sentence)
        }
    }

    private static func exchange(
        _ hop: ActivityRecord.Hop, of record: ActivityRecord.Identity, isWhole: Bool, _ redactor: inout Redactor
    ) -> RecordedExchange {
        let head = hop.request
        let headers = redactor.headers(head.headers)
        let url = redactor.url(head.url)
        let sent = RecordedBody(
            masking: isWhole ? hop.sent : Data(), contentType: head.headers[.contentType] ?? head.contentType,
            contentCoding: head.headers[.contentEncoding], length: head.length, by: &redactor)
        var exchange = RecordedExchange(
            request: RecordedExchange.Request(head.method, url, headers: headers, body: sent),
            attempt: hop.position.attempt,
            hop: hop.position.hop, date: hop.date, offset: hop.start,
            duration: hop.end.map { max(.zero, $0 - hop.start) } ?? .zero, timeToHead: hop.timeToHead)
        if case .timings(let timings)? = hop.timings {
            exchange.timings = timings
            if hop.end == nil { exchange.duration = timings.total ?? .zero }
        }
        if let response = hop.response {
            // A stream may report a length of 0 if the length is unknown.
            let length = [response.length ?? 0, hop.receivedCount, Int64(hop.received.count)].max { $0 < $1 }
            exchange.response = Self.response(
                response, body: hop.received, length: length ?? 0, isWhole: isWhole, redactor: &redactor)
        }
        return exchange
    }

    private static func response(
        _ head: ActivityRecord.ResponseHead, body: Data, length: Int64, isWhole: Bool, redactor: inout Redactor
    ) -> RecordedExchange.Response {
        let headers = redactor.headers(head.headers)
        let body = RecordedBody(
            masking: isWhole ? body : Data(), contentType: head.headers[.contentType],
            contentCoding: head.headers[.contentEncoding], length: length > 0 ? length : nil, by: &redactor)
        let location = head.headers[.location].map { redactor.url($0) }
        return RecordedExchange.Response(
            status: head.status, version: head.version, headers: headers, body: body, redirectURL: location)
    }
}

extension MaskedActivity.Bodies {
    fileprivate var limit: Int {
        switch self {
        case .all: .max
        case .upTo(let limit): limit
        }
    }
}

extension MaskedActivity {
    func kept(explaining explain: (any Request) -> String?) -> MaskedActivity {
        guard let request = state.request else { return withoutSecrets() }
        var kept = self
        kept.explanation = explain(request).map { redactor.masking($0) }
        return kept.withoutSecrets()
    }

    private func withoutSecrets() -> MaskedActivity {
        var kept = self
        kept.state = state.withoutSecrets(failure)
        kept.redactor = Redactor(redactor.redaction)
        return kept
    }

    var cost: Int {
        var cost = 800 + label.utf8.count + (url?.utf8.count ?? 0) + (explanation?.utf8.count ?? 0)
        for exchange in exchanges { cost += exchange.approximateByteCount }
        for note in notes { cost += ActivityRecord.State.overhead + note.text.utf8.count }
        for message in messages { cost += ActivityRecord.State.overhead + message.body.data.count }
        if let other { cost += other.body.data.count + 120 * other.headers.count }
        return cost
    }

    var recorded: [RecordedExchange] {
        exchanges.enumerated().map { index, exchange in
            var exchange = exchange
            exchange.label = label
            if index == exchanges.count - 1, let ending = state.ending {
                exchange.outcome =
                    switch ending {
                    case .success: .success
                    case .failure(let failure): .failure(failure.name)
                    case .cancelled: .cancelled
                    }
                if !messages.isEmpty {
                    exchange.webSocket = RecordedWebSocket(messages: messages, droppedMessages: state.droppedMessages)
                }
            }
            return exchange
        }
    }

    var isRunning: Bool { if case nil = state.ending { true } else { false } }

    var isIncomplete: Bool { if case .success = state.ending { false } else { true } }

    var shownURL: String? { exchanges.first?.request.url ?? url }
    var shownMethod: String? { exchanges.first?.request.method.rawValue ?? method }
    var shownStatus: Int? { state.status ?? exchanges.last?.response?.status ?? other?.status }
}
