import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization

struct Get: CacheableRequest {
    typealias Output = String
    var path = "feed"
    var method = HTTPMethod.get
    var cachePolicy: CachePolicy
    var cacheKey = CacheKeyPolicy.standard
    var cacheTags: [String] = []
    var headers: HTTPHeaders = [:]
    var query: Parameters = [:]
    var parameters: Parameters?
    var acceptableStatuses = StatusCodes.any
    var checks: [ResponseCheck] = []
    var store: (any CacheStore)?
    var cacheStore: (any CacheStore)? { store }
    var body = RequestBody.none
    var redirects: RedirectPolicy?
    var parameterPlacement = ParameterPlacement.automatic

    init(_ path: String = "feed", _ policy: CachePolicy = .timed(.seconds(60))) {
        self.path = path
        cachePolicy = policy
    }
}

/// An agent over a counting stub: each response's body is the number of the request.
struct Fixture: Sendable {
    let time = ManualTimeSource()
    let cache: ResponseCache
    let stub = StubTransport()
    let agent: NetworkAgent
    let notes = Notes()

    init(
        _ store: any CacheStore = MemoryStore(), policy: CachePolicy = .off, appVersion: String? = nil,
        before: [any Filter] = []
    ) {
        cache = Self.cache(store, policy, appVersion, time)
        agent = NetworkAgent(
            baseURL: "https://example.com", transport: stub, filters: before + [cache], accessories: [notes],
            time: time)
    }

    private static func cache(
        _ store: some CacheStore, _ policy: CachePolicy, _ appVersion: String?, _ time: ManualTimeSource
    ) -> ResponseCache { ResponseCache(store, policy: policy, appVersion: appVersion, time: time) }

    var sent: Int { stub.received.count }

    func respond(_ headers: HTTPHeaders = [:], status: Int = 200) {
        let (count, time) = (Counter(), time)
        stub.on("*") { _ in
            var all: HTTPHeaders = ["Date": httpDate(time.date), "Content-Type": "text/plain"]
            all.merge(headers)
            return StubResponse(status: status, headers: all, body: Data("\(count.increment())".utf8))
        }
    }

    func text(_ request: Get, _ mode: CacheMode = .standard) async throws -> String {
        try await agent.send(request, options: .cache(mode)).value
    }

    func response(_ request: Get, _ mode: CacheMode = .standard) async throws -> HTTPResponse {
        try await agent.send(request, options: .cache(mode)).http
    }
}

/// Adds a query item that's always different, and presents the URL without it as the resource's.
struct Stamp: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.tags[ResourceURL.self] = exchange.http.url
        exchange.http.url.append(queryItems: [URLQueryItem(name: "t", value: "\(exchange.activity.id.rawValue)")])
        return try await next(exchange)
    }
}

final class Notes: Accessory {
    let all = Mutex<[String]>([])
    let background = Mutex<Int>(0)

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .note(let note) = event { all.withLock { $0.append(note.message) } }
        if case .didStop = event, activity.kind == .background { background.withLock { $0 += 1 } }
    }

    var last: String? { all.withLock { $0.last } }
}

func httpDate(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
}
