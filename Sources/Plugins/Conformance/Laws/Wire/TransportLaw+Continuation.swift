import Errand
import ErrandEssentials
import ErrandTesting

extension TransportLaw {
    /// The law that a transport with ``TransportEffect/continuesBodies`` continues a body only with the same version
    /// of the resource. It isn't part of ``all``.
    public static let continuation = TransportLaw(
        "continuation", "law: a body that breaks off is continued only with the same version, without a gap or overlap",
        advice: """
            Continue only a GET whose 200 has a strong ETag. Send Range with the number of received bytes, and \
            If-Range with the ETag. Append a body only if its status is 206, its Content-Range begins at that byte, \
            and its ETag is the same. Otherwise, throw the first error. You may start over as long as your caller has \
            received neither the head nor bytes. Limit the number of attempts.
            """, share: 200,
        exchanges: { WireExchange.broken(&$0) }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging ?? trace.furtherRequests(of: exchange)
                ?? trace.continuedDifference(from: exchange)
            {
                return violation
            }
        }
        return nil
    }

    /// The most requests of a transport that continues a body.
    static let maximumRequests = 20
}

extension WireExchange {
    /// A response that breaks off, and the server's responses to further requests.
    static func broken(_ random: inout LawRandom) -> [WireExchange] {
        var exchange = WireExchange()
        exchange.method = random.isTrue(0.9) ? .get : .post
        if exchange.method == .post { exchange.body = .data(3) }
        exchange.isStreamed = random.isTrue(0.7)
        exchange.reply.body = random.isTrue(0.9) ? .bytes(random.pick([10, 5_000, 70_000])) : .gzip
        exchange.reply.framing = random.isTrue(0.8) ? .length : .chunked([3])
        exchange.reply.headers = [.acceptRanges: "bytes"]
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<7: exchange.reply.headers[.entityTag] = "\"law\""
        case 7: exchange.reply.headers[.entityTag] = "W/\"law\""
        default: break
        }
        let image = WireImage(exchange)
        let isInHead = random.isTrue(0.1)
        let range = isInHead ? 0..<image.headEnd : image.headEnd..<(image.completion ?? image.bytes.count)
        let position = Int.random(in: range, using: &random)
        exchange.reply.fault = random.isTrue(0.8) ? .close(position) : .reset(position)
        exchange.furtherReplies = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            random.isTrue(0.3) ? .part : random.pick(WireFurtherReply.allCases)
        }
        return [exchange]
    }

    /// Whether a transport with ``TransportEffect/continuesBodies`` may send further requests after the fault.
    var mayBeContinued: Bool {
        let image = WireImage(self)
        guard method == .get, reply.status == 200, image.hasBody, !isCancelled, !isDropped,
            let position = reply.fault?.position, position >= image.headEnd
        else { return false }
        return hasStrongTag || !isStreamed
    }
}

extension WireTrace {
    fileprivate func furtherRequests(of exchange: WireExchange) -> LawViolation? {
        if arrivals > TransportLaw.maximumRequests {
            return LawViolation(expected: "at most \(TransportLaw.maximumRequests) requests", came: "\(arrivals)")
        }
        guard let first = requests.first else { return nil }
        for request in requests.dropFirst() {
            // A reset can discard the head, or arrive before it.
            if !exchange.mayBeContinued {
                return LawViolation(
                    expected: "one request, because this response must not be continued",
                    came: "another request\(request.headers[.range].map { " with the range \($0)" } ?? "")")
            }
            if request.headers.contains(.range), !exchange.hasStrongTag {
                return LawViolation(
                    expected: "no request for a part, because the response has no strong ETag",
                    came: "the range \(request.headers[.range] ?? "")")
            }
            if request.method != first.method || request.target != first.target {
                return LawViolation(
                    expected: "the same method and target", came: "\(request.method) \(request.target)")
            }
            let isConditional = request.headers[.ifRange].map { $0 == exchange.version.tag } ?? true
            if !isConditional {
                return LawViolation(
                    expected: "If-Range: \(exchange.version.tag ?? "")", came: request.headers[.ifRange] ?? "")
            }
        }
        return nil
    }

    fileprivate func continuedDifference(from exchange: WireExchange) -> LawViolation? {
        if let failure {
            if failure.code == nil || failure.isCancelled || failure.code == .timedOut {
                return LawViolation(expected: "an error of the connection", came: failure.description)
            }
            if head == nil || exchange.reply.body == .gzip || exchange.version.data.starts(with: body) { return nil }
            return LawViolation(expected: "the first bytes of the body", came: "\(body.count) other bytes")
        }
        guard let head, isComplete else { return LawViolation(expected: "a response or an error", came: "neither") }
        // Before the caller has received a head, a transport may start over, and return what it then receives.
        if head.status == 503, mayCollect, exchange.furtherReplies.contains(.unavailable) { return nil }
        if head.status != 200 || head.headers.contains(.contentRange) {
            return LawViolation(
                expected: "status 200 without Content-Range, because the request has no Range", came: "\(head.status)")
        }
        if let length = head.length, length != Int64(body.count) {
            return LawViolation(expected: "a body of its length \(length)", came: "\(body.count) bytes")
        }
        let versions = [exchange.version, exchange.otherVersion].filter { $0.tag == head.headers[.entityTag] }
        let isDecoded = exchange.reply.body == .gzip && !head.headers.contains(.contentEncoding)
        if isDecoded, body == Data(CodingCases.text.utf8) { return nil }
        if versions.contains(where: { $0.data == body }), !isDecoded { return nil }
        return LawViolation(
            expected: "the \(exchange.version.data.count) bytes of one version, and its ETag",
            came: "\(body.count) bytes, with the ETag \(head.headers[.entityTag] ?? "none")")
    }
}
