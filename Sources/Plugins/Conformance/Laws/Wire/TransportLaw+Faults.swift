import Errand
import ErrandEssentials
import ErrandTesting

extension TransportLaw {
    /// The law that a fault at any byte of a response is an error, never a truncated success.
    public static let faults = TransportLaw(
        "faults", "law: a fault at any byte is an error, never a truncated success",
        advice: """
            Throw an ErrandError whenever a message ends early or isn't HTTP: `timedOut` for silence, and other codes \
            for connections that end. Use `cannotConnect` only if no server has seen the request. Pass on the error of \
            a request body's source, and abort the request.
            """, share: 200,
        exchanges: { WireExchange.fault(&$0) }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging ?? trace.faultDifference(from: exchange) { return violation }
        }
        return nil
    }

    /// The law that a request is sent once, unless a reused connection closes and a repeat is safe.
    public static let count = TransportLaw(
        "count", "law: a request is sent once, unless a reused connection closes and a repeat is safe",
        advice: """
            Leave retries to filters, also after a timeout or an invalid response. Send a request again only if its \
            connection had served another one and closed before the head of a response, and the method is idempotent \
            with a body that can be read again.
            """,
        exchanges: { random in
            var exchange = WireExchange.upload(&random)[0]
            exchange.reply = WireReply()
            if random.isTrue(0.5) {
                exchange.reply.status = random.pick([
                    303, 307, 401, 405, 407, 408, 415, 425, 429, 500, 501, 502, 503, 504,
                ])
            }
            if random.isTrue(0.5) {
                exchange.reply.headers[.retryAfter] = "0"
                exchange.reply.headers[.location] = "/b"
                exchange.reply.headers[.wwwAuthenticate] = "Basic realm=\"law\""
            }
            if random.isTrue(0.7) {
                var position = random.isTrue(0.6) ? 0 : Int.random(in: 1...60, using: &random)
                if random.isTrue(0.4) {
                    exchange.reply.body = .bytes(random.pick([10, 5_000, 70_000]))
                    exchange.isStreamed = exchange.isStreamed || random.isTrue()
                    if random.isTrue() { exchange.makeResumable() }
                    let image = WireImage(exchange)
                    position = Int.random(
                        in: min(image.headEnd, image.bytes.count - 1)..<image.bytes.count, using: &random)
                }
                exchange.reply.fault = random.isTrue() ? .close(position) : .reset(position)
                if exchange.body.count > 0, random.isTrue(0.4) {
                    exchange.reply.fault = .resetUpload(Int.random(in: 0..<exchange.body.count, using: &random))
                }
            }
            exchange.tempt(random.branch)
            return random.isTrue() ? [exchange] : [WireExchange(), exchange]
        }
    ) { bench, exchanges in
        let run = try bench.run()
        var isFresh = true
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging { return violation }
            // On a reused connection, bytes that aren't HTTP may belong to the previous response.
            let isUnanswered = WireImage(exchange).mayHideHead || exchange.reply.fault == .malformed(.statusLine)
            var limit = !isFresh && exchange.method.isIdempotent && isUnanswered ? 2 : 1
            if bench.effects.contains(.continuesBodies), exchange.mayBeContinued { limit = maximumRequests }
            if trace.arrivals > limit {
                return LawViolation(expected: "at most \(limit) requests", came: "\(trace.arrivals)")
            }
            let body = WireBytes.prefix(exchange.body.count)
            if trace.requests.contains(where: { $0.body != body }) {
                return LawViolation(expected: "the same body each time", came: "a different body")
            }
            isFresh = false
        }
        return nil
    }

    /// The law that a cancellation at any byte ends the exchange and closes its connection.
    public static let cancellation = TransportLaw(
        "cancellation", "law: a cancellation at any byte ends the exchange and closes its connection",
        advice: "Pass the cancellation of the task on to your client at every stage, and close the connection.",
        share: 50,
        exchanges: { random in
            var exchange = WireExchange.withStop(&random)
            exchange.isCancelled = true
            return [exchange]
        }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging { return violation }
            guard exchange.isCancelled else { continue }
            guard let failure = trace.failure else {
                return LawViolation(expected: "a cancellation error", came: "a response")
            }
            if !failure.isCancelled { return LawViolation(expected: "cancelled", came: failure.description) }
            if !trace.isClosed {
                return LawViolation(expected: "a closed connection at the server", came: "an open connection")
            }
        }
        return nil
    }

    /// The law that connections, bodies, and tags are released, regardless of how an exchange ends.
    public static let release = TransportLaw(
        "release", "law: connections, bodies and tags are released after every exchange",
        advice: """
            Close a response's connection if its reader stops early. Release requests and options when the exchange \
            ends, and close idle connections when the transport is deallocated.
            """, share: 50,
        exchanges: { random in
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return WireExchange.fault(&random)
            case 1:
                var exchange = WireExchange.withStop(&random)
                exchange.isStreamed = true
                exchange.reply.fault = .stall(exchange.stopInBody(&random))
                exchange.isDropped = true
                return [exchange]
            default: return WireExchange.upload(&random)
            }
        }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging { return violation }
            if exchange.isDropped, !trace.isClosed {
                return LawViolation(
                    expected: "a closed connection after the reader stopped early", came: "an open connection")
            }
            if !trace.remains.isEmpty {
                return LawViolation(
                    expected: "the exchange's objects to be released", came: trace.remains.joined(separator: ", "))
            }
        }
        if await run.releaseTransport() { return nil }
        return LawViolation(expected: "no connection after the transport is released", came: "an open connection")
    }
}

extension WireExchange {
    /// Adds what a client could take for a reason to send the request again.
    fileprivate mutating func tempt(_ random: LawRandom) {
        var random = random
        if reply.status != 200 {
            if random.isTrue(0.6) { reply.fault = nil }
            if [401, 407].contains(reply.status), random.isTrue(0.7) {
                reply.headers[.wwwAuthenticate] = "Basic realm=\"law\""
            }
            return
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where body.count <= 16_384: reply.fault = .stall(random.pick([0, 5]))
        case 1 where body.count <= 16_384: reply.fault = .malformed(.statusLine)
        case 2:
            (reply.fault, reply.body) = (nil, .text(""))
            if random.isTrue() { (method, body) = (.get, .none) }
        default: break
        }
    }
}

extension WireBody {
    var isFailing: Bool { if case .failing = self { true } else { false } }
}

extension WireTrace {
    /// Codes that blame the request, the host name, or TLS, although the connection failed.
    private static let blame: Set<ErrandError.Code> = [
        .invalidURL, .invalidRequest, .encodingFailed, .decodingFailed, .bodyNotReplayable, .nameLookupFailed,
        .insecureConnection,
    ]

    func faultDifference(from exchange: WireExchange) -> LawViolation? {
        let image = WireImage(exchange)
        if exchange.body.isFailing {
            if !requests.isEmpty {
                return LawViolation(
                    expected: "no complete request, because its source failed", came: "a complete request")
            }
            return failureDifference(exchange, image, mayHaveHead: false)
        }
        switch image.outcome {
        // A truncated coded body may be an error, or be delivered without decoding.
        case .response(let count)
        where failure != nil && exchange.reply.body == .gzip && count < exchange.reply.body.data.count && image.hasBody:
            return failureDifference(exchange, image, mayHaveHead: true)
        case .response: return difference(from: exchange)
        case .failure(let isAfterHead): return failureDifference(exchange, image, mayHaveHead: isAfterHead)
        case .either where failure == nil: return headDifference(from: exchange) ?? wholeDifference(image)
        case .either: return failureDifference(exchange, image, mayHaveHead: true)
        }
    }

    private func wholeDifference(_ image: WireImage) -> LawViolation? {
        bodyDifference(image, image.parts.last?.delivered ?? 0)
    }

    private func failureDifference(
        _ exchange: WireExchange, _ image: WireImage, mayHaveHead: Bool
    ) -> LawViolation? {
        guard let failure else {
            return LawViolation(expected: "an error", came: "a response with \(body.count) bytes")
        }
        if head != nil, !mayHaveHead {
            return LawViolation(expected: "an error instead of a head", came: "status \(head?.status ?? 0)")
        }
        let data = exchange.reply.body.data
        if exchange.reply.body != .gzip, case .malformed = exchange.reply.fault {
        } else if exchange.reply.body != .gzip, !data.starts(with: body) {
            return LawViolation(expected: "the first bytes of the body", came: "\(body.count) other bytes")
        }
        guard let code = failure.code else {
            return LawViolation(expected: "an ErrandError", came: failure.description)
        }
        if failure.isCancelled {
            return LawViolation(expected: "an error of the connection", came: failure.description)
        }
        if exchange.isSilent, !exchange.body.isFailing {
            return code == .timedOut ? nil : LawViolation(expected: "timedOut", came: failure.description)
        }
        // Filters send a request again that no server has seen, with any method.
        if code == .cannotConnect, arrivals > 0 {
            return LawViolation(expected: "an error of a connection that was made", came: failure.description)
        }
        let isBlaming = !exchange.body.isFailing && Self.blame.contains(code)
        if code == .timedOut || isBlaming {
            return LawViolation(expected: "an error of the connection", came: failure.description)
        }
        // A transport that collects the body has received the head. A reset may have discarded it, so only a close is
        // checked.
        guard case .close(let position) = exchange.reply.fault, position > image.headEnd, mayCollect, head == nil,
            failure.evidence != exchange.reply.status
        else { return nil }
        return LawViolation(expected: "an error with the head as its response", came: "an error without a response")
    }
}
