import Errand
import ErrandEssentials
import ErrandTesting

struct FilterBench: Sendable {
    let make: @Sendable () throws -> any Filter
    let secrets: [String]
    let gracePeriod: Duration
    /// Whether the filter declares that it can respond itself, for example after an error.
    var mayRespond = false
    /// The requests that the filter declares to repeat.
    var repetitions: [FilterEffect.Repetition] = []
    /// The origins that the filter knows, because its samples declare them.
    var knownOrigins: Set<String> = []

    static let origin = "https://conformance.example"

    /// Returns an agent with the filter under test. The filters in `outside` run before this filter, and the filters in
    /// `inside` after it.
    func agent(
        _ transport: any Transport, outside: [any Filter] = [], filter: (any Filter)?, inside: [any Filter] = [],
        accessories: [any Accessory] = [], origin: String = FilterBench.origin, time: BenchTime? = nil
    ) -> NetworkAgent {
        let host = URL(string: origin)?.host() ?? ""
        var configuration = AgentConfiguration(baseURL: origin + "/v1")
        configuration.timeout = .seconds(1_000_000)
        configuration.filters = outside + (filter.map { [$0] } ?? []) + inside + [BenchMirrors(host: host)]
        configuration.accessories = accessories
        guard let time else { return NetworkAgent(configuration: configuration, transport: transport) }
        return NetworkAgent(configuration: configuration, transport: transport, time: time)
    }

    /// Sends a request with a new filter. If the response's body is a stream, it isn't read.
    func send(
        _ request: BenchRequest = BenchRequest(), outside: [any Filter] = [], inside: [any Filter] = [],
        accessories: [any Accessory] = [], over transport: BenchTransport
    ) async throws -> HTTPResponse {
        let agent = try agent(
            transport, outside: outside, filter: make(), inside: inside, accessories: accessories)
        return try await agent.send(request, options: CallOptions()).value
    }

    func control(_ request: BenchRequest, over transport: BenchTransport) async throws -> HTTPResponse {
        try await agent(transport, filter: nil).send(request, options: CallOptions()).value
    }

    /// Returns whether a condition becomes true. Checks it this many times, by default for the grace period.
    func becomes(within looks: Int? = nil, _ isSo: () async throws -> Bool) async throws -> Bool {
        if let looks { return try await poll(looks, until: isSo) }
        return try await poll(for: gracePeriod, until: isSo)
    }

    /// Returns the parts of a request that the filter changes, as far as its traits allow this. The laws check how it
    /// changes them.
    func changesByTrait() async throws -> Set<FilterEffect.Kind> {
        let filter = try make()
        let declared: FilterTraits = [.changesRequest, .signs, .authenticates, .outsideCacheKey]
        if filter.lawTraits(for: BenchRequest()).isDisjoint(with: declared) { return [] }
        let request = BenchRequest(method: .put, body: .text("conformance"))
        let (plain, transport) = (BenchTransport(), BenchTransport())
        _ = try await control(request, over: plain)
        _ = try? await agent(transport, filter: filter).send(request, options: CallOptions()).value.status
        guard let sent = transport.ownArrivals.first, let expected = plain.arrivals.first else { return [] }
        var changed: Set<FilterEffect.Kind> = []
        if sent.request.method != expected.request.method { changed.insert(.method) }
        let isElsewhere = sent.request.host != expected.request.host
        if isElsewhere || sent.request.url.path() != expected.request.url.path() { changed.insert(.url) }
        if sent.body != expected.body { changed.insert(.body) }
        return changed
    }

    /// Whether a sample declares that the filter knows the URL's origin.
    func isKnown(_ url: String) -> Bool {
        LawHome(LawExchange(.get, url)).map { knownOrigins.contains($0.origin) } ?? false
    }

    /// Whether the filter declares that it repeats requests with this method although the server may have processed
    /// them.
    func mayRepeatReceived(_ method: HTTPMethod) -> Bool {
        repetitions.contains { $0.isEvenIfReceived && $0.includes(method) }
    }

    /// Whether the filter declares the repetition, and a server recognizes it by its idempotency key.
    func isKnownByKey(_ arrivals: [BenchTransport.Arrival]) -> Bool {
        let isDeclared = arrivals.allSatisfy { arrival in
            repetitions.contains { $0.includes(arrival.request.method) }
        }
        let keys = Set(arrivals.map { $0.request.headers[.idempotencyKey] })
        return isDeclared && keys.count == 1 && keys.first != .some(nil)
    }

    /// Waits for a short time, so remaining work can run.
    func pause() async throws {
        for _ in 0..<50 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(20))
    }
}

extension FilterBench {
    func expect(_ condition: Bool, _ expected: @autoclosure () -> String, came: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(expected: expected(), came: came()) }
    }

    func equal<Value: Equatable>(_ came: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
        if came != expected { throw ConformanceFailure(expected: "\(what()): \(expected)", came: "\(came)") }
    }

    /// Returns whether an operation ends within a limit. The limit defaults to the grace period. The operation is
    /// always cancelled afterwards.
    func ends(within limit: Duration? = nil, _ body: @escaping @Sendable () async -> Void) async throws -> Bool {
        let done = Counter()
        let task = Task {
            await body()
            done.increment()
        }
        defer { task.cancel() }
        let bench = FilterBench(make: make, secrets: secrets, gracePeriod: limit ?? gracePeriod)
        return try await bench.becomes { done.value > 0 }
    }

    func error(of what: String, _ body: () async throws -> HTTPResponse) async throws -> any Error {
        let response: HTTPResponse
        do { response = try await body() } catch { return error }
        throw ConformanceFailure(expected: "\(what): an error", came: "the status \(response.status)")
    }

    /// Returns the error that an operation throws, or `nil` if the filter may respond itself and does.
    func errorUnlessAnswered(
        of what: String, _ body: () async throws -> HTTPResponse
    ) async throws -> (any Error)? {
        do { return try await error(of: what, body) } catch let failure as ConformanceFailure {
            if mayRespond { return nil }
            throw failure
        }
    }
}

/// Returns whether a condition becomes true within this number of checks.
///
/// The checks are a millisecond apart. They are counted instead of measuring the time, because on a busy machine this
/// task may have to wait too.
@discardableResult
func poll(_ looks: Int, until isSo: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<looks {
        if try await isSo() { return true }
        try await Task.sleep(for: .milliseconds(1))
    }
    return try await isSo()
}

/// Checks once for each millisecond of the duration.
@discardableResult
func poll(for duration: Duration, until isSo: () async throws -> Bool) async throws -> Bool {
    try await poll(Int(min(duration / .milliseconds(1), 1e9)), until: isSo)
}

/// A request with all properties that a filter could lose.
struct BenchRequest: Request {
    typealias Output = HTTPResponse
    var method = HTTPMethod.get
    var path = "items"
    var headers: HTTPHeaders = [:]
    var body = RequestBody.none
    var delivery = BodyDelivery.data
    var tags = Tags().with(BenchOwnTag.self, true)
    var timeout: Duration?
    var deadline: Duration?
    var priority: RequestPriority?
    var checks: [ResponseCheck] = []
    var acceptableStatuses = StatusCodes.any
    var acceptableContentTypes: ContentTypes { .any }

    static let key: HTTPHeaderName = "X-Conformance-Key"
    static let trace: HTTPHeaderName = "X-Conformance-Trace"
    static let secrets = [
        "conformance-secret-3b1f", "conformance-secret-77aa", "conformance-secret-c0de", "conformance-secret-d1ce",
        "conformance-secret-a5e1", "conformance-secret-10ca", "conformance-secret-f4a9", "conformance-secret-9a55",
    ]
    /// The places where the request contains its secrets, in the order of the secrets.
    static let places = [
        "Authorization", "a sensitive field", "Set-Cookie", "the query", "the body of a response",
        "the query of Location", "the fragment of Location", "the body of a request",
    ]

    static func secret(_ method: HTTPMethod = .get, _ path: String = "items") -> BenchRequest {
        var headers: HTTPHeaders = [.authorization: "Bearer \(secrets[0])"]
        headers.set(key, secrets[1], sensitive: true)
        return BenchRequest(method: method, path: path + "?access_token=\(secrets[3])", headers: headers)
    }
}

/// An error of a type that filters don't know.
struct BenchError: Error, Equatable {}

/// An error that is an object, so a case can check whether it's the same object.
final class BenchFault: Error {}

/// A tag that filters don't know.
enum BenchTag: TagKey {
    static var defaultValue: BenchMark? { nil }
}

/// A tag that marks the requests of a case's own call. If a filter sends copies elsewhere, they don't have this tag.
enum BenchOwnTag: TagKey {
    static var defaultValue: Bool { false }
}

/// Removes the tag of a case's own call from a mirror's copies.
struct BenchMirrors: Filter {
    /// The host of the agent.
    let host: String
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isMirror(of: host) else { return try await next(exchange) }
        var exchange = exchange
        exchange.tags[BenchOwnTag.self] = false
        return try await next(exchange)
    }
}

extension Exchange {
    /// Whether the exchange is a mirror's copy for another server: detached, safe and without secrets.
    func isMirror(of host: String?) -> Bool {
        activity.kind == .background && http.method.isSafe && http.host?.lowercased() != host?.lowercased()
            && !http.headers.contains(where: \.isSensitive)
    }
}

/// A class, so a weak reference shows whether an object is still in memory.
final class BenchMark: Sendable {}
