import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// The transport of the laws. It answers a request with the replies of the call's exchange.
final class LawServer: ConnectingTransport {
    let running = Atomic(0)
    let peak = Atomic(0)
    /// The number of requests whose response is delayed by the clock.
    let delayed = Atomic(0)
    /// The number of requests that aren't a call's own, such as a filter's request for a token.
    let ownRequests = Atomic(0)
    /// Holds back the responses to these requests.
    let ownRequestGate = Mutex<Gate?>(nil)
    private let clock: LawClock

    init(_ clock: LawClock) { self.clock = clock }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        clock.noteActivity()
        let count = running.add(1, ordering: .acquiringAndReleasing).newValue
        peak.max(count, ordering: .acquiringAndReleasing)
        defer { running.subtract(1, ordering: .acquiringAndReleasing) }
        guard let tag = options.tags[LawCallTag.self] else {
            // The filter created this request, or removed the call's tags.
            return try await respondToOwn(request)
        }
        let (call, exchange) = (tag.call, tag.call.exchange)
        if let first = call.trace.sends.first, first.http.url.path != request.url.path { try await holdOwnRequest() }
        if tag.number > LawCall.most {
            call.note { $0.isEndless = true }
            call.cancel()
            try await Gate().wait(within: .seconds(3_600))
        }
        let body = try await received(request)
        call.noteSend(tag.number) { send in
            send.body = body
            send.http = request
            send.timeout = options.timeout
            send.priority = options.priority
            // The core receives a body that is saved as a stream.
            send.isStreamed = options.delivery == .stream && !send.isSaved
        }
        call.note { $0.isReached = true }
        let isCounted = !exchange.isStreamed
        options.report(
            .progress(TransferProgress(sent: Int64(body.count), totalToSend: isCounted ? Int64(body.count) : nil)))
        options.report(.informational(status: 103, headers: [.link: "</style>; rel=preload"] + call.notices))
        try await call.gate?.wait(within: .seconds(3_600))
        let reply = exchange.reply(to: tag.number).validating(request, of: exchange)
        if reply.delay > .zero {
            delayed.add(1, ordering: .relaxed)
            defer { delayed.subtract(1, ordering: .relaxed) }
            try await clock.sleep(until: clock.now.advanced(by: reply.delay))
        }
        if exchange.cancellation == .onTheWire { try await cancel(call) }
        var response = HTTPResponse(
            to: request, status: reply.status, headers: reply.headers, version: "HTTP/1.1")
        let isBodiless = request.method == .head || [204, 304].contains(reply.status)
        response.body =
            isBodiless
            ? .empty : self.body(of: reply, for: call, isCollected: options.collectsBody(ofStatus: reply.status))
        if let failure = reply.failure, response.body.data != nil { throw ErrandError(failure, "conformance") }
        options.report(
            .progress(
                TransferProgress(
                    sent: Int64(body.count), totalToSend: isCounted ? Int64(body.count) : nil,
                    received: Int64(reply.body.data.count),
                    totalToReceive: isCounted ? Int64(isBodiless ? 0 : reply.body.data.count) : nil)))
        options.report(.timings(Self.timings(of: exchange, number: tag.number)))
        options.report(.trailers(["X-Law-A": "trailer"] + call.notices))
        return response
    }

    /// Responds to a request that the filter created. The response is a token, because many of these requests ask for
    /// one.
    private func respondToOwn(_ request: HTTPRequest) async throws -> HTTPResponse {
        let number = try await holdOwnRequest()
        let text = "{\"access_token\":\"law-token-\(number)\",\"token_type\":\"Bearer\",\"expires_in\":3600}"
        return HTTPResponse(
            to: request, status: 200, headers: [.contentType: "application/json"], body: HTTPBody(Data(text.utf8)))
    }

    /// Counts a request that isn't a call's own, and holds it back if the law demands that.
    @discardableResult
    private func holdOwnRequest() async throws -> Int {
        let number = ownRequests.add(1, ordering: .relaxed).newValue
        try await ownRequestGate.withLock { $0 }?.wait(within: .seconds(3_600))
        return number
    }

    /// Streams the body if the caller does, or if the transport returns the head first because its status may decide.
    private func body(of reply: LawReply, for call: LawCall, isCollected: Bool) -> HTTPBody {
        let isStreamed = call.exchange.isStreamed
        switch reply.body {
        case .stream(let chunks, _, _) where isStreamed, .awaitedStream(let chunks) where isStreamed:
            let isAwaiting = if case .awaitedStream = reply.body { true } else { false }
            let source = LawSource(
                chunks, of: call, failure: reply.failure, isAwaiting: isAwaiting,
                cancelsAfterFirst: call.exchange.cancellation == .whileReading, arrival: call.arrival, clock: clock)
            let isCounted = if case .stream(_, _, true) = reply.body { true } else { false }
            return HTTPBody(length: isCounted ? Int64(reply.body.data.count) : nil, source: call.keep(source))
        default:
            let data = reply.body.data
            if reply.failure != nil || isStreamed || isCollected || call.arrival == .atOnce || data.isEmpty {
                return HTTPBody(data)
            }
            let source = LawSource([reply.body.text], of: call, arrival: call.arrival, clock: clock, bytes: data)
            return HTTPBody(length: Int64(data.count), source: call.keep(source))
        }
    }

    func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        throw ErrandError(.transportUnavailable, "conformance")
    }

    /// Returns times in every form in which transports report them: complete, all zero, for a reused connection, and
    /// partly unknown.
    private static func timings(of exchange: LawExchange, number: Int) -> TransferTimings {
        var timings = TransferTimings()
        switch exchange.url.utf8.count % 4 {
        case 0: return timings
        case 1:
            (timings.queued, timings.requestSent, timings.firstByte) = (.zero, .zero, .zero)
            timings.isReusedConnection = true
        case 2: (timings.firstByte, timings.bytesReceived) = (.milliseconds(2), 0)
        default:
            (timings.queued, timings.nameLookup, timings.connected) = (.zero, .milliseconds(1), .milliseconds(2))
            (timings.secured, timings.requestSent, timings.firstByte) = (.milliseconds(3), .zero, .milliseconds(4))
            (timings.httpVersion, timings.remoteAddress) = ("HTTP/1.1", "[::1]:443")
        }
        (timings.total, timings.position) = (.zero, TransferPosition(transfer: number, attempt: number))
        return timings
    }

    /// Cancels a call during its transfer. Returns only if other calls share the transfer.
    private func cancel(_ call: LawCall) async throws {
        if !call.isShared {
            call.cancel()
            return try await Gate().wait(within: .seconds(3_600))
        }
        // Other calls need time to join the transfer.
        for _ in 0..<5 { try await Task.sleep(for: .milliseconds(1)) }
        call.cancel()
        for _ in 0..<50 { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func received(_ request: HTTPRequest) async throws -> Data {
        if let data = request.body.data { return data }
        return request.body.isNone ? Data() : try await request.body.open().collect(upTo: 1 << 20)
    }
}

extension HTTPHeaders {
    fileprivate static func + (fields: HTTPHeaders, others: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(Array(fields) + Array(others))
    }
}
