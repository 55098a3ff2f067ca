import ErrandEssentials
import ErrandHTTP

/// Passes a request to the transport.
final class WireStep: CoreStep {
    private let carrier: TransportReference
    private let preSendFilters: [any PreSendFilter]

    init(_ transport: any Transport, after filters: [any Filter]) {
        carrier = TransportReference(transport)
        preSendFilters = filters.filter { $0.stages.contains(.wire) }.compactMap { $0 as? any PreSendFilter }
    }

    var stages: FilterStages { .hop }
    var explanation: String { "transport \(type(of: carrier.transport))" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // A separate method, because values that live across another suspension would enlarge the async frame of every
        // request.
        if Self.announcesNothing(exchange.http.body) { return try await sendProven(exchange) }
        return try await transfer(exchange)
    }

    @inline(__always) private func transfer(_ exchange: Exchange) async throws -> HTTPResponse {
        let (request, number) = try prepare(exchange)
        let arrived: HTTPResponse
        do {
            let carrier = exchange.replacedTransport ?? carrier
            let response = try await carrier.transport.send(request, options: options(exchange, number))
            arrived = try check(response, to: request, in: exchange, number)
        } catch { throw failed(error, exchange) }
        return arrived.body.data == nil && exchange.delivery == .data
            ? try await receive(arrived, exchange, number) : arrived
    }

    /// Returns the request to send, and its number among the requests that the call passed to the transport.
    @inline(never) private func prepare(_ exchange: Exchange) throws -> (HTTPRequest, transfer: Int) {
        let activity = exchange.activity
        var request = exchange.http
        if !request.body.isResolved {
            request.body = try request.body.resolved(by: exchange.settings.encoder)
        }
        try request.validate()
        exchange.reportUsers()
        let number = activity.ledger.countTransfer()
        activity.notify(.sending(request, exchange.position(number)))
        if activity.maximumBodyBytes > 0, let data = request.body.data, !data.isEmpty {
            activity.notify(.requestBody(Data(data.prefix(activity.maximumBodyBytes)), exchange.position(number)))
        }
        if !exchange.isAsBuilt || exchange.attempt > 1 { activity.ledger.willSend(request) }
        exchange.addDeliveries(1)
        return (request, number)
    }

    /// Returns whether a streamed body announces 0 bytes. Checked here, because transports don't read such a body.
    private static func announcesNothing(_ body: RequestBody) -> Bool {
        body.length == 0 && body.data == nil && !body.isNone
    }

    @inline(never) private func sendProven(_ exchange: Exchange) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.body = try await proven(exchange.http.body, exchange)
        return try await transfer(exchange)
    }

    @inline(never) private func proven(_ body: RequestBody, _ exchange: Exchange) async throws -> RequestBody {
        let (time, timeout) = (exchange.activity.time, exchange.timeout)
        do {
            let source = try body.open()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for try await chunk in source where !chunk.isEmpty {
                        throw ErrandError(
                            .invalidRequest, "the body was announced as empty, but its source produced bytes")
                    }
                }
                group.addTask {
                    try await time.sleep(until: time.instant(after: timeout))
                    source.cancel()
                    throw ErrandError(
                        .timedOut,
                        "the body was announced as empty, but its source didn't end within \(duration: timeout)")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            guard let known = error as? ErrandError, known.code == .invalidResponse else { throw error }
            throw ErrandError(.invalidRequest, "the body's length differs from the announced length", underlying: known)
        }
        return .data(Data(), contentType: body.contentType)
    }

    /// Returns the error to throw. A request that didn't reach a server no longer counts as delivered.
    @inline(never) private func failed(_ error: any Error, _ exchange: Exchange) -> any Error {
        if let refusal = (error as? ErrandError)?.underlying as? PreSendRefusal {
            exchange.addDeliveries(-1)
            return refusal.error
        }
        if error.reachedNoServer { exchange.addDeliveries(-1) }
        return error
    }

    @inline(never) private func options(_ exchange: Exchange, _ number: Int) -> TransportOptions {
        let activity = exchange.activity
        let call: any TransportObserver = exchange.shared ?? activity
        let options = TransportOptions(
            timeout: exchange.timeout, delivery: exchange.delivery == .data ? .data : .stream,
            maximumBodyBytes: exchange.settings.maximumBodyBytes, priority: exchange.priority,
            tags: exchange.tags, time: activity.time,
            origin: TransportOptions.Origin(
                observer: exchange.wireObserver.map { ObservedTransfer($0, call) } ?? call,
                reportsProgress: exchange.reportsProgress, position: exchange.position(number),
                preSendFilters: preSendFilters, isDecidedByHead: true))
        if activity.progress.isBegun { options.report(.progress(TransferProgress(sending: exchange.http.body))) }
        return options
    }

    @inline(never) private func check(
        _ response: HTTPResponse, to request: HTTPRequest, in exchange: Exchange, _ number: Int
    ) throws -> HTTPResponse {
        let (activity, settings) = (exchange.activity, exchange.settings)
        func evidence() -> BodyEvidence {
            BodyEvidence(request, response, limit: settings.maximumErrorBodyBytes).with(
                response.body.data)
        }
        do { try response.checkFraming(of: request.method) } catch { throw evidence().attached(to: error) }
        activity.notify(.received(response.withoutStream, exchange.position(number)))
        guard response.body.data == nil else {
            if exchange.delivery != .data { return response }
            if !TransportOptions.isCollected(status: response.status) { return copied(response, exchange, number) }
            do { try response.body.checkLength(upTo: settings.maximumBodyBytes) } catch {
                throw evidence().attached(to: error)
            }
            return copied(response, exchange, number)
        }
        var response = response
        if activity.maximumBodyBytes > 0, isStream(response, exchange) {
            let position = exchange.position(number)
            response.body = response.body.observed(upTo: activity.maximumBodyBytes) { start in
                if !activity.isOver { activity.notify(.responseBody(start, position)) }
            }
        }
        response.body.reader?.keepEvidence(evidence())
        if isStream(response, exchange) { activity.ledger.watch(response.body) }
        return response
    }

    /// Returns whether to deliver the body as a stream. For redirects, rejected credentials, retries and revalidation,
    /// the head may show that the body isn't needed.
    private func isStream(_ response: HTTPResponse, _ exchange: Exchange) -> Bool {
        exchange.delivery != .data || !TransportOptions.isCollected(status: response.status)
    }

    /// Receives a response's body. If the response may not be final, reads only a short body that arrives quickly, so
    /// its connection can be reused and filters can examine it.
    @inline(never) private func receive(
        _ response: HTTPResponse, _ exchange: Exchange, _ number: Int
    ) async throws -> HTTPResponse {
        if !isStream(response, exchange) { return try await collect(response, exchange, number) }
        var response = response
        response.body = await response.body.readAhead(
            within: BodyAllowance(
                bytes: Self.shortBody, timeout: exchange.timeout, time: exchange.time, longest: Self.shortWait))
        if Task.isCancelled {
            response.body.cancel()
            throw CancellationError()
        }
        return response
    }

    private static let shortBody = 64 << 10
    /// How long a response waits for the rest of a short body before it's passed on as a stream.
    private static let shortWait = Duration.milliseconds(250)

    /// Collects a response's body in memory. If that fails, the body's reader attaches the response to the error.
    private func collect(
        _ response: HTTPResponse, _ exchange: Exchange, _ number: Int
    ) async throws -> HTTPResponse {
        let data = try await response.body.collect(upTo: exchange.settings.maximumBodyBytes)
        var response = response
        response.body = HTTPBody(data)
        return copied(response, exchange, number)
    }

    private func copied(_ response: HTTPResponse, _ exchange: Exchange, _ number: Int) -> HTTPResponse {
        let activity = exchange.activity
        if activity.maximumBodyBytes > 0, let data = response.body.data {
            activity.notify(.responseBody(Data(data.prefix(activity.maximumBodyBytes)), exchange.position(number)))
        }
        return response
    }
}

extension Exchange {
    fileprivate func position(_ transfer: Int) -> TransferPosition {
        TransferPosition(transfer: transfer, attempt: attempt, hop: hop)
    }
}
