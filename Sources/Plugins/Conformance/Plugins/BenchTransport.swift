import Errand
import ErrandEssentials
import ErrandTesting

/// A transport in memory. It reads the bodies of requests, and counts the requests that are in progress.
final class BenchTransport: Transport {
    struct Arrival: Sendable {
        let request: HTTPRequest
        let body: Data
        let tags: Tags
        let timeout: Duration
        let delivery: BodyDelivery
        let priority: RequestPriority
    }

    /// Holds back the transport's response to a request with this tag.
    enum Hold: TagKey {
        static var defaultValue: Gate? { nil }
    }

    private struct State: Sendable {
        var arrivals: [Arrival] = []
        var count = 0
        var running = 0
    }

    private let state = Watched(State())
    private let keepsArrivals: Bool
    private let reports: Bool
    private let respond: @Sendable (HTTPRequest, _ index: Int) async throws -> HTTPResponse

    /// Creates a transport. `respond` receives each request and its number, from 1. If `reports` is true, accessories
    /// receive the transport's events.
    init(
        keepsArrivals: Bool = true, reports: Bool = false,
        _ respond: @escaping @Sendable (HTTPRequest, _ index: Int) async throws -> HTTPResponse
    ) {
        (self.keepsArrivals, self.reports, self.respond) = (keepsArrivals, reports, respond)
    }

    convenience init(_ text: String = "ok") {
        self.init { request, _ in .text(text, for: request) }
    }

    var arrivals: [Arrival] { state.read { $0.arrivals } }
    /// The requests of the case's own call. If the filter has removed the call's tags, these are all requests.
    var ownArrivals: [Arrival] {
        let own = arrivals.filter { $0.tags[BenchOwnTag.self] }
        return own.isEmpty ? arrivals : own
    }
    var running: Int { state.read { $0.running } }

    func forget() { state.update { ($0.arrivals, $0.count) = ([], 0) } }

    func arrived(_ count: Int) async throws {
        try await state.wait(for: "\(count) requests at the transport", within: .seconds(300)) {
            $0.arrivals.count >= count ? () : nil
        }
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var body = request.body.data ?? Data()
        if request.body.data == nil, !request.body.isNone {
            body = try await request.body.open().collect(upTo: 1 << 20)
        }
        let arrival = Arrival(
            request: request, body: body, tags: options.tags, timeout: options.timeout, delivery: options.delivery,
            priority: options.priority)
        let index = state.update { state in
            if keepsArrivals { state.arrivals.append(arrival) }
            state.running += 1
            state.count += 1
            return state.count
        }
        defer { state.update { $0.running -= 1 } }
        if reports {
            options.report(.progress(TransferProgress(sent: Int64(body.count))))
            options.report(.informational(status: 103, headers: [.link: "</style>; rel=preload"]))
        }
        try await options.tags[Hold.self]?.wait()
        let response = try await respond(request, index)
        if reports {
            options.report(.trailers(["X-Conformance": "trailer"]))
            options.report(.timings(TransferTimings()))
        }
        return response
    }
}

extension HTTPResponse {
    static func text(_ text: String, status: Int = 200, for request: HTTPRequest) -> HTTPResponse {
        let headers: HTTPHeaders = [.contentType: "text/plain", .contentLength: "\(text.utf8.count)"]
        let body = request.method == .head ? HTTPBody.empty : HTTPBody(Data(text.utf8))
        return HTTPResponse(to: request, status: status, headers: headers, body: body)
    }
}

/// A filter that observes requests and responses. It runs before or after the filter under test.
final class BenchProbe: Filter {
    struct State: Sendable {
        var entries: [Activity.ID] = []
        var running = 0
        var results: [Result<Int, any Error>] = []
    }

    let stages: FilterStages
    private let state = Watched(State())

    init(_ stages: FilterStages) { self.stages = stages }

    var entries: [Activity.ID] { state.read { $0.entries } }
    var running: Int { state.read { $0.running } }
    var results: [Result<Int, any Error>] { state.read { $0.results } }

    func entered(_ count: Int) async throws {
        try await state.wait(for: "\(count) requests before the filter", within: .seconds(300)) {
            $0.entries.count >= count ? () : nil
        }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        state.update { state in
            state.entries.append(exchange.activity.id)
            state.running += 1
        }
        defer { state.update { $0.running -= 1 } }
        do {
            let response = try await next(exchange)
            state.update { $0.results.append(.success(response.status)) }
            return response
        } catch {
            state.update { $0.results.append(.failure(error)) }
            throw error
        }
    }
}

/// An accessory that counts the activities that are still in memory.
final class BenchWitness: Accessory {
    let maximumBodyBytes: Int
    private struct Reference: Sendable { weak let activity: Activity? }
    private let references = Watched<[Reference]>([])

    init(maximumBodyBytes: Int = 0) { self.maximumBodyBytes = maximumBodyBytes }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStart = event else { return }
        references.update { $0.append(Reference(activity: activity)) }
    }

    var remaining: Int { references.read { $0.count { $0.activity != nil } } }
}

/// A value that tasks inherit and keep alive. With it, a case finds tasks that are still running.
enum BenchTrail {
    @TaskLocal static var current: BenchMark?
}
