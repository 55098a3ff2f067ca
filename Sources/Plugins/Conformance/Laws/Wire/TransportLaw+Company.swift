import Errand
import ErrandEssentials
import ErrandTesting

extension TransportLaw {
    /// The law that 1xx responses, trailers, progress, and timings are reported correctly.
    public static let events = TransportLaw(
        "events", "law: 1xx responses and trailers are reported unchanged, and progress ends at the totals",
        advice: """
            Pass the options on to your client's callbacks, not to new options. Report each 1xx response once, all \
            trailers together, bytes sent and received so far, and timings once.
            """,
        exchanges: { random in
            var exchange = random.isTrue(0.3) ? WireExchange.upload(&random)[0] : WireExchange.download(&random)[0]
            exchange.reply.informational = random.pick([[], [103], [103, 103], [102, 103]])
            if exchange.reply.body != .gzip, random.isTrue(0.4) {
                exchange.reply.framing = .chunked([3])
                exchange.reply.trailers = random.pick([["X-Law-T": "a, b"], ["X-Law-T": "1", "X-Law-U": ""]])
            }
            return [exchange]
        }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging ?? trace.unexpectedFailure ?? trace.eventDifference(from: exchange) {
                return violation
            }
        }
        return nil
    }

    /// The law that an exchange's values and bytes don't appear in the next one.
    public static let separation = TransportLaw(
        "separation", "law: values and bytes of an exchange don't appear in the next one",
        advice: """
            Don't keep cookies, credentials, responses or validators. Use a connection again only if its last response \
            was read to its end.
            """, share: 150, needsTwo: true,
        exchanges: { WireExchange.story(&$0) }
    ) { bench, exchanges in
        // If a connection ends or stalls after a complete response, the next request on it may be lost.
        let looksIdle = exchanges.contains { $0.reply.fault?.position != nil && !WireImage($0).outcome.isFailure }
        if looksIdle { return nil }
        let run = try bench.run()
        for (index, exchange) in exchanges.enumerated() {
            let trace = try await run.play(exchange)
            if index < exchanges.count - 1 { continue }
            // Excess bytes may fail the next exchange, but must not become its response.
            let isSpoiled = exchanges.dropLast().contains { $0.reply.fault == .malformed(.excess) }
            if isSpoiled, let failure = trace.failure, failure.code != nil, !failure.isCancelled { continue }
            if let violation = trace.companyDifference(from: exchange) { return violation }
        }
        return nil
    }

    /// The law that concurrent exchanges have the same results as each one alone.
    public static let concurrency = TransportLaw(
        "concurrency", "law: concurrent exchanges don't wait for each other and get their own responses",
        advice: """
            Keep the state of an exchange separate from the transport's, also its options, and let exchanges run \
            concurrently.
            """,
        share: 50, needsTwo: true,
        exchanges: { random in
            (0..<Int.random(in: 2...6, using: &random)).map { index in
                var exchange = WireExchange.download(&random)[0]
                exchange.headers = ["X-Law-A": "\(index)"]
                if random.isTrue(0.3) { exchange.headers[.authorization] = "Bearer law-\(index)" }
                return exchange
            }
        }
    ) { bench, exchanges in
        let run = try bench.run()
        // The server identifies an exchange by its target.
        let exchanges = exchanges.enumerated().map { index, exchange in
            var copy = exchange
            copy.target = "/\(index)\(exchange.target)"
            return copy
        }
        var silent = WireExchange(.get, "/silent")
        silent.reply.fault = .stall(0)
        silent.isCancelled = true
        for (exchange, trace) in zip(exchanges, try await run.play(together: exchanges, beside: silent)) {
            if let violation = trace.companyDifference(from: exchange) ?? trace.eventDifference(from: exchange) {
                return violation
            }
        }
        return nil
    }
}

extension WireTrace {
    fileprivate func companyDifference(from exchange: WireExchange) -> LawViolation? {
        if let violation = difference(from: exchange) { return violation }
        guard let request = requests.first, let sent else {
            return LawViolation(expected: "a request at the server", came: "none")
        }
        return request.difference(from: exchange, sent)
    }

    fileprivate func eventDifference(from exchange: WireExchange) -> LawViolation? {
        informationalDifference(from: exchange) ?? trailerDifference(from: exchange)
            ?? progressDifference(from: exchange)
    }

    private func informationalDifference(from exchange: WireExchange) -> LawViolation? {
        let expected = exchange.reply.informational
        let expects100 = requests.contains { $0.headers.contains(.expect) }
        var came: [(Int, HTTPHeaders)] = []
        for case .informational(let status, let headers) in events where status != 100 || !expects100 {
            came.append((status, headers))
        }
        if came.map(\.0) != expected {
            return LawViolation(expected: "responses with the statuses \(expected)", came: "\(came.map(\.0))")
        }
        for (status, headers) in came {
            let fields = WireFields(Array(WireImage.hints(of: status)))
            if let violation = fields.difference(from: headers) { return violation }
        }
        return nil
    }

    private func trailerDifference(from exchange: WireExchange) -> LawViolation? {
        var isChunked = false
        if case .chunked = exchange.reply.framing { isChunked = WireImage(exchange).hasBody }
        let expected = isChunked ? exchange.reply.trailers : [:]
        var came = HTTPHeaders()
        for case .trailers(let fields) in events {
            for field in fields { came.add(field.name, field.value) }
        }
        return WireFields(Array(expected)).difference(from: came).map { violation in
            LawViolation(expected: "among the trailers \(violation.expected)", came: violation.came)
        }
    }

    private func progressDifference(from exchange: WireExchange) -> LawViolation? {
        let image = WireImage(exchange)
        let timings = events.count { if case .timings = $0 { true } else { false } }
        if timings > 1 { return LawViolation(expected: "one report of timings", came: "\(timings)") }
        var steps: [TransferProgress] = []
        for case .progress(let progress) in events { steps.append(progress) }
        let (sent, received) = (steps.map(\.sent).max() ?? 0, steps.map(\.received).max() ?? 0)
        if sent != 0, sent != Int64(exchange.body.count) {
            return LawViolation(
                expected: "\(exchange.body.count) bytes sent, in the last progress report", came: "\(sent)")
        }
        if let total = steps.compactMap(\.totalToSend).first(where: { $0 != Int64(exchange.body.count) }) {
            return LawViolation(expected: "a total of \(exchange.body.count) bytes to send", came: "\(total)")
        }
        guard exchange.reply.body != .gzip, image.hasBody || received > 0 else { return nil }
        let wrong = steps.compactMap(\.totalToReceive).first { $0 != Int64(exchange.reply.body.data.count) }
        if let wrong, image.hasBody {
            return LawViolation(
                expected: "a total of \(exchange.reply.body.data.count) bytes to receive", came: "\(wrong)")
        }
        let total = image.hasBody ? Int64(exchange.reply.body.data.count) : 0
        let isShort = mayCollect && received != 0 && received < total
        if received > total || isShort {
            return LawViolation(expected: "\(total) bytes received, in the last progress report", came: "\(received)")
        }
        return nil
    }
}
