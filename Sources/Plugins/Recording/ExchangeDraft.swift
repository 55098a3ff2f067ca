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
    /// When another exchange of the activity began, if this one had no response then, and got none later.
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

    /// Whether nothing more is to come: the response, and its timings, which come at the end of the body.
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

    /// Takes the head, and the beginning of the body, from an error of a transport that failed after the head.
    mutating func add(evidence outcome: ActivityOutcome, limit: Int) {
        guard response == nil, case .failure(let error as ErrandError) = outcome, let evidence = error.response,
            evidence.source == .network
        else { return }
        if received.isEmpty { received = evidence.data.prefix(limit) }
        keep(evidence)
    }

    /// The exchange at its end, secrets masked.
    ///
    /// - Parameters:
    ///   - activity: nil for a request that is recorded below an agent.
    ///   - outcome: of the activity, if this is its last exchange.
    func recorded(
        of activity: Activity?, until end: ContinuousClock.Instant, since origin: ContinuousClock.Instant,
        _ outcome: ActivityOutcome?, _ redaction: Redaction
    ) -> RecordedExchange {
        var redactor = Redactor(redaction)
        // Everything is searched for secrets first: what one part names is masked in all of them.
        var exchange = RecordedExchange(
            request: recordedRequest(&redactor), response: recordedResponse(&redactor), activity: activity?.id,
            parent: activity?.parent, label: activity.map { redactor.url($0.label) } ?? "", attempt: attempt, hop: hop,
            date: date,
            offset: origin.duration(to: start), duration: start.duration(to: end), timeToHead: timeToHead,
            timings: timings, outcome: outcome.map(RecordedOutcome.init))
        exchange.mask(redactor)
        return exchange
    }

    /// Has a redactor remember the secrets that have names here, and what authorizes the request; not the cookies, many of
    /// which are no secrets.
    func findSecrets(_ redactor: inout Redactor) {
        let authorizing = request.headers.filter { $0.name == .authorization || $0.name == .proxyAuthorization }
        _ = redactor.headers(HTTPHeaders(authorizing))
        _ = redactor.url(request.urlText)
        _ = RecordedBody(
            redacting: sent, request.headers[.contentType] ?? request.body.contentType,
            coding: request.headers[.contentEncoding], length: nil, &redactor)
        guard let response else { return }
        if let location = response.headers[.location] { _ = redactor.url(location) }
        _ = RecordedBody(
            redacting: received, response.headers[.contentType], coding: response.headers[.contentEncoding],
            length: nil, &redactor)
    }

    private func recordedRequest(_ redactor: inout Redactor) -> RecordedExchange.Request {
        let headers = redactor.headers(request.headers)
        let url = redactor.url(request.urlText)
        let body = RecordedBody(
            redacting: sent, request.headers[.contentType] ?? request.body.contentType,
            coding: request.headers[.contentEncoding], length: request.body.length, &redactor)
        return RecordedExchange.Request(request.method, url, headers: headers, body: body)
    }

    private func recordedResponse(_ redactor: inout Redactor) -> RecordedExchange.Response? {
        guard let response else { return nil }
        let headers = redactor.headers(response.headers)
        // An event has a streamed body left out: what has passed of it counts.
        let passed = max(progress.received, Int64(received.count))
        let length = responseLength.flatMap { $0 > 0 ? $0 : nil } ?? passed
        let redirectURL = response.headers[.location].map { redactor.url($0) }
        let body = RecordedBody(
            redacting: received, response.headers[.contentType], coding: response.headers[.contentEncoding],
            length: length, &redactor)
        return RecordedExchange.Response(
            status: response.status, version: response.version, headers: headers, body: body, redirectURL: redirectURL)
    }
}

extension RecordedExchange {
    /// Masks what a redactor remembers.
    mutating func mask(_ redactor: Redactor) {
        request.url = redactor.masking(request.url)
        request.headers = request.headers.masked(redactor)
        request.body.mask(redactor)
        label = redactor.masking(label)
        guard var response else { return }
        response.headers = response.headers.masked(redactor)
        response.redirectURL = response.redirectURL.map { redactor.masking($0) }
        response.body.mask(redactor)
        self.response = response
    }
}

extension HTTPHeaders {
    fileprivate func masked(_ redactor: Redactor) -> HTTPHeaders {
        HTTPHeaders(
            map { field in
                var field = field
                field.value = redactor.masking(field.value)
                return field
            })
    }
}
