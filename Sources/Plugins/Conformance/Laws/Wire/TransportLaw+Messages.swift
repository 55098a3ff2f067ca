import Errand
import ErrandEssentials
import ErrandTesting

extension TransportLaw {
    /// The law that a request reaches the server unchanged.
    public static let request = TransportLaw(
        "request", "law: a request reaches the server unchanged",
        advice: """
            Send method, target, fields and body byte by byte. Turn off what your client adds or changes by itself. \
            Send the length of a body if it's known, and chunks if not.
            """,
        exchanges: { WireExchange.upload(&$0) }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.hanging ?? trace.unexpectedFailure { return violation }
            guard let request = trace.requests.first, let sent = trace.sent else {
                return LawViolation(expected: "a request at the server", came: "none")
            }
            if let violation = request.difference(from: exchange, sent) { return violation }
        }
        return nil
    }

    /// The law that a response reaches the caller unchanged.
    public static let response = TransportLaw(
        "response", "law: a response reaches the caller unchanged",
        advice: """
            Return status, fields and body unchanged: redirects, challenges and errors too, each field by itself \
            and in its order. If you decode a body, remove Content-Encoding and Content-Length.
            """, share: 200,
        exchanges: { WireExchange.download(&$0) }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if let violation = trace.difference(from: exchange) ?? trace.repetition { return violation }
        }
        return nil
    }

    /// The law that the framing of a response doesn't change what its caller receives.
    public static let framing = TransportLaw(
        "framing", "law: a response is the same in every framing, and its Content-Length is that of its body",
        advice: """
            If you change a body, remove Content-Length, or set it to the new length. Read a body to its end, and \
            don't rely on a length or on the limits of chunks.
            """, share: 20,
        exchanges: { random in
            var exchange = WireExchange.download(&random)[0]
            if exchange.method == .head { exchange.method = .get }
            (exchange.reply.trailers, exchange.reply.informational) = ([:], [])
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges where WireImage(exchange).hasBody && exchange.reply.fault == nil {
            let run = try bench.run()
            var first: String?
            for framing in [WireReply.Framing.length, .chunked([]), .chunked([1, 7]), .untilClose] {
                for isStreamed in [false, true] {
                    var copy = exchange
                    (copy.reply.framing, copy.reply.trailers, copy.isStreamed) = (framing, [:], isStreamed)
                    let trace = try await run.play(copy)
                    if let violation = trace.hanging ?? trace.wrongLength { return violation }
                    let image = trace.image
                    guard let expected = first else {
                        first = image
                        continue
                    }
                    if image == expected { continue }
                    return LawViolation(
                        expected: "the same response as with a length: \(expected)",
                        came: "\(image), with the framing \(framing)\(isStreamed ? ", as a stream" : "")")
                }
            }
        }
        return nil
    }

    /// The law that the transport delivers a head or a part of a body without waiting for later bytes.
    public static let promptness = TransportLaw(
        "promptness", "law: the head and each part of a body are delivered before the server sends more",
        advice: """
            Return the head before the body, unless the options allow collecting it. Hand over each part of a stream. \
            Only count inactivity while the reader waits for a chunk. End a body at its Content-Length or last \
            chunk, and a response without a body at its head.
            """,
        exchanges: { random in
            var exchange = WireExchange.download(&random)[0]
            exchange.isStreamed = random.isTrue(0.8)
            exchange.isReadSlowly = exchange.isStreamed && random.isTrue(0.2)
            exchange.reply.isPaced = exchange.reply.body != .gzip && !exchange.isReadSlowly
            return [exchange]
        }
    ) { bench, exchanges in
        let run = try bench.run()
        for exchange in exchanges {
            let trace = try await run.play(exchange)
            if trace.isHanging {
                let came = trace.head == nil ? "no head" : "\(trace.body.count) bytes of the body and no end"
                return LawViolation(expected: "all bytes that the server has sent", came: came)
            }
            if let violation = trace.difference(from: exchange) { return violation }
        }
        return nil
    }
}

extension WireTrace {
    /// Excludes the framing.
    fileprivate var image: String {
        guard let head, failure == nil else { return failure.map { "the error \($0.description)" } ?? "no response" }
        let framing: Set<String> = ["content-length", "transfer-encoding", "connection", "keep-alive"]
        let fields = head.headers.filter { !framing.contains($0.name.rawName.lowercased()) }
            .map { "\($0.name.rawName): \($0.value)" }
        let sum = body.reduce(into: UInt64(14_695_981_039_346_656_037)) { $0 = ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "status \(head.status), \(body.count) bytes (\(String(sum, radix: 16))), \(fields.sorted())"
    }

    /// The fields must describe the body that the caller gets.
    fileprivate var wrongLength: LawViolation? {
        guard let head, failure == nil, isComplete, let text = head.headers[.contentLength],
            !head.headers.contains(.contentEncoding), Int(text) != body.count
        else { return nil }
        return LawViolation(
            expected: "the Content-Length of the body that the caller gets, or none",
            came: "Content-Length: \(text), with \(body.count) bytes")
    }

    var hanging: LawViolation? {
        isHanging ? LawViolation(expected: "the exchange to end", came: "an exchange that hangs") : nil
    }

    /// Only for exchanges on a new connection, which must not be repeated.
    var repetition: LawViolation? {
        if requests.count < 2 { return nil }
        return LawViolation(expected: "one request at the server", came: "a second request, for \(requests[1].target)")
    }

    var unexpectedFailure: LawViolation? {
        failure.map { LawViolation(expected: "a response", came: $0.description) }
    }

    func difference(from exchange: WireExchange) -> LawViolation? {
        if let violation = hanging ?? unexpectedFailure { return violation }
        let image = WireImage(exchange)
        guard case .response(let count) = image.outcome else { return nil }
        return headDifference(from: exchange) ?? bodyDifference(image, count)
    }

    func headDifference(from exchange: WireExchange) -> LawViolation? {
        guard let head else { return LawViolation(expected: "a response", came: "none") }
        if head.status != exchange.reply.status {
            return LawViolation(expected: "status \(exchange.reply.status)", came: "\(head.status)")
        }
        // Filters resolve relative redirects and links against the response's URL.
        if let sent, head.url != sent.url {
            return LawViolation(expected: "the URL of the request: \(sent.url)", came: "\(head.url)")
        }
        let isDecoded = exchange.reply.body == .gzip && !head.headers.contains(.contentEncoding)
        var optional: Set<String> = ["transfer-encoding", "connection"]
        if isDecoded { optional.formUnion(["content-encoding", "content-length"]) }
        return WireFields(WireImage(exchange).fields, optional: optional).difference(from: head.headers)
    }

    func bodyDifference(_ image: WireImage, _ count: Int) -> LawViolation? {
        guard let head else { return nil }
        let isCoded = head.headers.contains(.contentEncoding)
        let bodies = image.bodies(count)
        let expected = bodies.first { bodies.count == 1 || $0.isDecoded != isCoded }?.data ?? Data()
        if let length = head.length, length != Int64(expected.count) {
            return LawViolation(expected: "the length \(expected.count)", came: "\(length)")
        }
        if body == expected { return nil }
        let index = zip(body, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        return LawViolation(
            expected: "a body of \(expected.count) bytes",
            came: "\(body.count) bytes, different from byte \(index ?? min(body.count, expected.count))")
    }
}

/// Compares fields as RFC 9110 allows: values with the same name must be in order, separate or joined.
struct WireFields {
    private let fields: [HTTPHeaders.Field]
    private let optional: Set<String>
    private let additions: Set<String>

    init(_ fields: [HTTPHeaders.Field], optional: Set<String> = [], additions: Set<String> = []) {
        (self.fields, self.optional, self.additions) = (fields, optional, additions)
    }

    func difference(from came: HTTPHeaders) -> LawViolation? {
        let expected = HTTPHeaders(fields)
        for name in Set(expected.map(\.name)) {
            let (wanted, values) = (expected.values(of: name), came.values(of: name))
            if values.isEmpty, optional.contains(name.rawName.lowercased()) { continue }
            let isJoined = name != .setCookie && values.count == 1 && Self.parts(of: wanted) == Self.parts(of: values)
            if !isJoined, !Self.isSame(wanted, values) {
                return LawViolation(expected: "\(name): \(wanted)", came: "\(values)")
            }
        }
        for field in came where !expected.contains(field.name) && !additions.contains(field.name.rawName.lowercased()) {
            return LawViolation(expected: "no field \(field.name)", came: "\(came.values(of: field.name))")
        }
        return nil
    }

    /// Joining can add or remove spaces.
    private static func parts(of values: [String]) -> [[UInt8]] {
        values.joined(separator: ",").utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            Array($0.trimmingPrefix { $0 == 0x20 }.reversed().trimmingPrefix { $0 == 0x20 }.reversed())
        }
    }

    /// Compares bytes, because Swift's strings are equal regardless of Unicode normalization.
    private static func isSame(_ left: [String], _ right: [String]) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
    }
}

extension RecordedRequest {
    private static let additions: Set<String> = [
        "host", "accept", "accept-encoding", "accept-language", "user-agent", "connection", "keep-alive",
        "content-length", "transfer-encoding", "expect", "te", "trailer", "priority",
    ]

    func difference(from exchange: WireExchange, _ sent: WireTrace.Sent) -> LawViolation? {
        if method != exchange.method {
            return LawViolation(expected: "the method \(exchange.method)", came: "\(method)")
        }
        if Array(target.utf8) != Array(sent.target.utf8) {
            return LawViolation(expected: "the target \(sent.target)", came: target)
        }
        var additions = Self.additions
        // This type is equivalent to a missing type (RFC 9110, section 8.3).
        if exchange.body != .none, headers[.contentType] == "application/octet-stream" {
            additions.insert("content-type")
        }
        let fields = WireFields(Array(sent.headers), additions: additions)
        if let violation = fields.difference(from: headers) { return violation }
        if headers.values(of: .host).count != 1 {
            return LawViolation(expected: "one Host", came: "\(headers.values(of: .host))")
        }
        if !sent.headers.contains(.host), let host = headers[.host], host.lowercased() != sent.authority {
            return LawViolation(expected: "Host: \(sent.authority)", came: "Host: \(host)")
        }
        let expected = WireBytes.prefix(exchange.body.count)
        if body != expected {
            return LawViolation(
                expected: "a body of \(expected.count) bytes", came: "\(body.count) bytes, or different bytes")
        }
        return framingDifference(exchange, sent)
    }

    private func framingDifference(_ exchange: WireExchange, _ sent: WireTrace.Sent) -> LawViolation? {
        let lengths = headers.values(of: .contentLength)
        let framings = lengths.count + headers.values(of: .transferEncoding).count
        if exchange.body == .none, exchange.method == .get || exchange.method == .head {
            if framings == 0 { return nil }
            return LawViolation(
                expected: "a request without Content-Length and chunks, because it has no body",
                came: isChunked ? "chunks" : "\(lengths)")
        }
        if framings > 1 {
            return LawViolation(expected: "either Content-Length or chunks", came: "\(framings) framings")
        }
        // An empty body can be omitted unless the method expects a body (RFC 9110, section 8.6).
        let expectsBody = [.post, .put, .patch].contains(exchange.method)
        if exchange.body.count == 0, sent.length != nil, framings == 0, !expectsBody { return nil }
        if let length = sent.length, exchange.body != .none, lengths != ["\(length)"] {
            return LawViolation(expected: "Content-Length: \(length)", came: isChunked ? "chunks" : "\(lengths)")
        }
        return nil
    }
}
