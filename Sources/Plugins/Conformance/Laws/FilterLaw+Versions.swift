import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension FilterLaw {
    /// The law that a filter that requests parts of a resource doesn't join parts of two versions.
    public static let versions = FilterLaw(
        "versions", "law: a body is complete and from one version, even if the filter requests or stores parts of it",
        advice: """
            Send `If-Range` with a strong ETag, or with Last-Modified. Append a body only if its status is 206, its \
            Content-Range begins at the next byte and has the same total length, and its ETag and Last-Modified are \
            those of the first response. Otherwise, start over or fail.
            """,
        share: 1,
        exchanges: { random in
            let url = LawExchange.randomURL(&random)
            let validators: [HTTPHeaders] = [
                [.entityTag: "\"law\""], [.lastModified: date], [:], [.entityTag: "\"law\"", .lastModified: date],
            ]
            return [false, true].flatMap { isStreamed in
                validators.map { LawExchange(.get, url, isStreamed: isStreamed, replies: [LawReply(headers: $0)]) }
            }
        }
    ) { bench, exchanges in
        let isResponder = try bench.subject().permissions.isResponder
        func isOwn(_ end: End?, _ server: PartServer) -> Bool {
            isResponder && end.map { server.first.common($0.body) + server.second.common($0.body) == 0 } ?? false
        }
        for exchange in exchanges where exchange.method == .get && exchange.body == .none {
            var isConcerned = false
            for isBroken in [true, false] {
                let server = PartServer(exchange, isBroken: isBroken)
                let end = try await end(bench, server, exchange)
                if !server.isContinued || isOwn(end, server) { continue }
                isConcerned = true
                let moment = isBroken ? "a body that breaks off" : "a body that doesn't break off"
                if let violation = violation(end, server, moment) { return violation }
            }
            if isConcerned {
                for change in PartServer.Change.allCases {
                    for (isBroken, honorsConditions) in [(true, false), (true, true), (false, false), (false, true)] {
                        let server = PartServer(exchange, isBroken: isBroken, change, honorsConditions)
                        let end = try await end(bench, server, exchange)
                        if isOwn(end, server) { continue }
                        if let violation = violation(end, server, change.rawValue) { return violation }
                    }
                }
            }
            if let violation = try await joinedStore(bench, exchange) { return violation }
        }
        return nil
    }

    private static let date = "Mon, 01 Jan 2001 00:00:00 GMT"

    private struct End {
        var status: Int
        var headers: HTTPHeaders
        var body: Data
    }

    /// Returns `nil` if the call fails.
    private static func end(
        _ bench: LawBench, _ server: PartServer, _ exchange: LawExchange
    ) async throws -> End? {
        let time = BenchTime(horizon: .seconds(3_600), pace: .zero)
        let agent = bench.filters.agent(server, filter: try bench.filters.make(), time: time)
        return await end(agent, exchange, range: nil)
    }

    private static func end(_ agent: NetworkAgent, _ exchange: LawExchange, range: String?) async -> End? {
        var headers = exchange.headers
        if let range { headers.set(.range, range) }
        var request = BenchRequest(path: exchange.url, headers: headers)
        request.delivery = exchange.isStreamed ? .stream : .data
        guard let response = try? await agent.send(request, options: CallOptions()).value,
            let body = try? await response.body.collect(upTo: 1 << 20)
        else { return nil }
        return End(status: response.status, headers: response.headers, body: body)
    }

    private static func violation(
        _ end: End?, _ server: PartServer, _ moment: String, part: Range<Int>? = nil
    ) -> LawViolation? {
        guard let end, end.status < 300 else { return nil }
        if part == nil, end.status == 206 {
            return LawViolation(
                expected: "status 200 (\(moment)), because the request has no Range", came: "status 206")
        }
        for version in [server.first, server.second] {
            let isPart = part != nil && end.status == 206
            let data = isPart ? part.map { Data(version.data[$0]) } ?? version.data : version.data
            guard data == end.body else { continue }
            let others = [HTTPHeaderName.entityTag, .lastModified].filter { name in
                end.headers.contains(name) && version.headers.contains(name)
                    && end.headers[name] != version.headers[name]
            }
            guard let name = others.first else { return nil }
            return LawViolation(
                expected:
                    "\(name): \(version.headers[name] ?? ""), of the version whose bytes the body has (\(moment))",
                came: end.headers[name] ?? "")
        }
        return LawViolation(
            expected: "the bytes of one version, or an error (\(moment))",
            came: "\(end.body.count) bytes, of which \(server.first.common(end.body)) are from the first version")
    }

    /// A filter may store parts that a caller requests. It must not join them with parts of another version.
    private static func joinedStore(_ bench: LawBench, _ exchange: LawExchange) async throws -> LawViolation? {
        let permissions = try bench.subject().permissions
        // A filter that answers by itself has other bytes than the server.
        if !permissions.mayRespond || permissions.isResponder { return nil }
        let server = PartServer(exchange, isBroken: false)
        let time = BenchTime(horizon: .seconds(3_600), pace: .zero)
        let agent = bench.filters.agent(server, filter: try bench.filters.make(), time: time)
        let parts = [0..<1_000, 1_000..<2_000, 2_000..<3_000]
        for (index, part) in parts.enumerated() {
            if index == 1 { server.replace() }
            let end = await end(agent, exchange, range: "bytes=\(part.lowerBound)-\(part.upperBound - 1)")
            if let violation = violation(end, server, "part \(index + 1)", part: part) { return violation }
        }
        for (range, part) in [(nil, nil), ("bytes=500-1499", 500..<1_500)] as [(String?, Range<Int>?)] {
            let end = await end(agent, exchange, range: range)
            let moment = "after parts of two versions"
            if let violation = violation(end, server, moment, part: part) { return violation }
        }
        return nil
    }
}

/// A transport in memory with a resource of 3,000 bytes that supports ranges.
private final class PartServer: Transport {
    enum Change: String, CaseIterable {
        case version = "another version", length = "another version with another length"
        case whole = "the whole body instead of the part", otherWhole = "the whole body of another version"
        case later = "a part that begins later", shorter = "a part that ends early"
        case unlabeled = "a part without Content-Range"
    }

    struct Version {
        let data: Data
        let headers: HTTPHeaders

        /// The number of first bytes that are the same.
        func common(_ other: Data) -> Int { zip(data, other).prefix { $0 == $1 }.count }
    }

    private struct State {
        var requests = 0
        var sentRange = false
        var isChanged = false
    }

    let first: Version
    let second: Version
    private let ownRange: String?
    private let isBroken: Bool
    private let change: Change?
    private let honorsConditions: Bool
    private let state = Mutex(State())

    init(_ exchange: LawExchange, isBroken: Bool, _ change: Change? = nil, _ honorsConditions: Bool = true) {
        (self.isBroken, self.change, self.honorsConditions) = (isBroken, change, honorsConditions)
        ownRange = exchange.headers[.range]
        let fields = HTTPHeaders(
            exchange.reply(to: 1).headers.filter { [HTTPHeaderName.entityTag, .lastModified].contains($0.name) })
        let data = ConformanceBench.pattern(3_000)
        first = Version(data: data, headers: fields)
        var other = fields
        if fields.contains(.entityTag) { other[.entityTag] = "\"law-other\"" }
        if fields.contains(.lastModified) { other[.lastModified] = "Tue, 02 Jan 2001 00:00:00 GMT" }
        // Without a validator, only another length shows that the version is another one.
        let isLonger = change == .length || !fields.contains(.entityTag) && !fields.contains(.lastModified)
        second = Version(data: Data(data.map { $0 ^ 0x15 }) + Data(count: isLonger ? 7 : 0), headers: other)
    }

    /// Whether the filter has sent a further request, or a range that the caller hasn't sent.
    var isContinued: Bool { state.withLock { $0.sentRange || $0.requests > 1 } }
    func replace() { state.withLock { $0.isChanged = true } }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let range = request.headers[.range]
        let (number, isChanged) = state.withLock { state in
            state.requests += 1
            if range != nil, range != ownRange { state.sentRange = true }
            return (state.requests, state.isChanged)
        }
        // The server ends a call that never does.
        if number > 200 { throw ErrandError(.cannotConnect, "conformance") }
        let isFurther = change != nil && number > 1
        let isOther = isChanged || isFurther && [.version, .length, .otherWhole].contains(change)
        let version = isOther ? second : first
        var headers = version.headers
        headers[.acceptRanges] = "bytes"
        guard let part = requested(range, version, request), !(isFurther && [.whole, .otherWhole].contains(change))
        else {
            headers[.contentLength] = "\(version.data.count)"
            if let condition = failed(request, version) {
                return HTTPResponse(to: request, status: condition, headers: version.headers)
            }
            return try response(200, headers, version.data, to: request, options, isBroken: isBroken && number == 1)
        }
        var (start, end) = (part.lowerBound, part.upperBound)
        if isFurther, change == .later || change == .unlabeled { start = min(start + 1, end - 1) }
        if isFurther, change == .shorter { end = max(start + 1, (start + end) / 2) }
        headers[.contentLength] = "\(end - start)"
        if !(isFurther && change == .unlabeled) {
            headers[.contentRange] = "bytes \(start)-\(end - 1)/\(version.data.count)"
        }
        let data = Data(version.data[start..<end])
        return try response(206, headers, data, to: request, options, isBroken: isBroken && number == 1)
    }

    /// Returns the requested part, or `nil` if the whole resource is requested.
    private func requested(_ range: String?, _ version: Version, _ request: HTTPRequest) -> Range<Int>? {
        guard let range, range.hasPrefix("bytes="), request.method == .get else { return nil }
        if honorsConditions {
            if failed(request, version) != nil { return nil }
            if let tag = request.headers[.ifRange], !version.headers.map(\.value).contains(tag) { return nil }
        }
        let count = version.data.count
        let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count == 2 else { return nil }
        guard let first = ends[0] else { return ends[1].map { max(0, count - $0)..<count } }
        let last = min(ends[1] ?? count - 1, count - 1)
        return first <= last ? first..<last + 1 : nil
    }

    /// The status of a condition that isn't met.
    private func failed(_ request: HTTPRequest, _ version: Version) -> Int? {
        if !honorsConditions { return nil }
        if let tag = request.headers[.ifMatch], tag != "*", tag != version.headers[.entityTag] { return 412 }
        if let date = request.headers[.ifUnmodifiedSince], date != version.headers[.lastModified] { return 412 }
        if let tag = request.headers[.ifNoneMatch], tag == version.headers[.entityTag] { return 304 }
        return nil
    }

    private func response(
        _ status: Int, _ headers: HTTPHeaders, _ data: Data, to request: HTTPRequest, _ options: TransportOptions,
        isBroken: Bool
    ) throws -> HTTPResponse {
        var response = HTTPResponse(to: request, status: status, headers: headers, version: "HTTP/1.1")
        if request.method == .head { return response }
        if options.collectsBody(ofStatus: status) {
            if isBroken { throw ErrandError(.connectionLost, "conformance", response: response) }
            response.body = HTTPBody(data)
            return response
        }
        let end = isBroken ? data.count / 3 : data.count
        let position = Mutex(0)
        response.body = HTTPBody(length: Int64(data.count)) {
            let start = position.withLock { position in
                defer { position += 100 }
                return position
            }
            if start < end { return Data(data[start..<min(end, start + 100)]) }
            if isBroken { throw ErrandError(.connectionLost, "conformance") }
            return nil
        }
        return response
    }
}
