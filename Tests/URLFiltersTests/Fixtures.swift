import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

struct Call: Request {
    var method = HTTPMethod.get
    var path = "users"
    var base = RequestBaseURL.standard
    var parameters: Parameters?
    var parameterPlacement = ParameterPlacement.automatic
    var headers: HTTPHeaders = [:]
    var body = RequestBody.none
    var tags = Tags()

    init(_ method: HTTPMethod = .get, _ path: String = "users") { (self.method, self.path) = (method, path) }

    init(_ method: HTTPMethod = .post, form parameters: Parameters, as placement: ParameterPlacement = .form) {
        (self.method, self.parameters, parameterPlacement) = (method, parameters, placement)
    }
}

struct Bench {
    let stub = StubTransport(.text("ok"))
    let agent: NetworkAgent

    init(_ base: String = "https://example.com", cdn: String? = nil, _ filters: any Filter...) {
        var configuration = AgentConfiguration(baseURL: base)
        (configuration.cdnURL, configuration.filters, configuration.headers) = (cdn, filters, [:])
        agent = NetworkAgent(configuration: configuration, transport: stub, time: Self.time)
    }

    static var time: ManualTimeSource { ManualTimeSource(date: Date(timeIntervalSince1970: 1_700_000_000)) }

    /// Sends a call, and returns the request that reached the transport.
    func sent(_ call: some Request, tags: Tags = Tags()) async throws -> HTTPRequest {
        let before = stub.received.count
        _ = try await agent.send(call, options: CallOptions(tags: tags))
        try #require(stub.received.count == before + 1)
        return try #require(stub.received.last)
    }

    func url(_ path: String = "users", tags: Tags = Tags()) async throws -> String {
        try await sent(Call(.get, path), tags: tags).url.absoluteString
    }

    func body(_ call: some Request) async throws -> String {
        String(decoding: try #require(try await sent(call).body.data), as: UTF8.self)
    }

    func failure(_ call: some Request = Call()) async throws -> any Error {
        do { _ = try await agent.send(call) } catch { return error }
        throw Missing()
    }

    struct Missing: Error {}
}

/// Takes a cache's place in the filters, and records the URLs that the cache would use as keys.
final class KeyWatch: Filter {
    private let seen = Mutex<[String?]>([])
    var keys: [String?] { seen.withLock { $0 } }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        seen.withLock { $0.append(exchange.tags[ResourceURL.self]?.absoluteString) }
        return try await next(exchange)
    }
}
