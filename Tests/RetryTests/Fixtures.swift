import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Synchronization
import Testing

let base = "https://api.example.com"

struct Get: Request {
    typealias Output = String
    var path = "x"
    var method: HTTPMethod = .get
    var body: RequestBody = .none
    var headers: HTTPHeaders = [:]
    var deadline: Duration?
    var timeout: Duration?
    var delivery: BodyDelivery = .data
    var acceptableStatuses = StatusCodes.successful
    var checks: [ResponseCheck] = []
    var filters: [any Filter] = []

    init(_ path: String = "x", _ change: (inout Get) -> Void = { _ in }) {
        self.path = path
        change(&self)
    }
}

final class Notes: Accessory {
    private let notes = Log<ActivityNote>()

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .note(let note) = event { notes.add(note) }
    }

    var all: [ActivityNote] { notes.all }
    func count(_ name: String, _ text: String = "") -> Int {
        all.count { $0.name == name && (text.isEmpty || $0.message.contains(text)) }
    }
}

/// Backoff without jitter: 1, 2, 4 … seconds.
let exact = Backoff(base: .seconds(1), maximumDelay: .seconds(60), jitter: 0)

func policy(_ attempts: Int = 3, _ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
    var policy = RetryPolicy(maximumAttempts: attempts, backoff: exact)
    policy.budget = nil
    change(&policy)
    return policy
}

func outcome(_ task: Task<String, any Error>) async -> String {
    switch await task.result {
    case .success(let text): return text
    case .failure(let error as ErrandError): return error.response.map { "\($0.status)" } ?? "\(error.code)"
    case .failure(let error as ResilienceError): return "\(error.code)"
    case .failure(let error): return "\(type(of: error))"
    }
}

func failure(_ body: () async throws -> some Any) async -> String {
    do {
        _ = try await body()
        return "none"
    } catch let error as ErrandError {
        return error.response.map { "\($0.status)" } ?? "\(error.code)"
    } catch let error as ResilienceError {
        return "\(error.code)"
    } catch { return "\(type(of: error))" }
}

extension NetworkAgent {
    convenience init(
        _ transport: some Transport, _ filters: [any Filter], _ time: any TimeSource = ManualTimeSource(),
        _ accessories: (any Accessory)...
    ) {
        self.init(baseURL: base, transport: transport, filters: filters, accessories: accessories, time: time)
    }

    func sending(_ request: Get = Get(), _ options: CallOptions = CallOptions()) -> Task<String, any Error> {
        Task { try await self.send(request, options: options).value }
    }
}

/// A transport from a closure, which receives the number of the request, starting at 1.
final class Wire: Transport {
    private let count = Atomic(0)
    private let body: @Sendable (Int, HTTPRequest, TransportOptions) async throws -> HTTPResponse

    init(_ body: @escaping @Sendable (Int, HTTPRequest, TransportOptions) async throws -> HTTPResponse) {
        self.body = body
    }

    var sent: Int { count.load(ordering: .sequentiallyConsistent) }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let number = count.add(1, ordering: .sequentiallyConsistent).newValue
        return try await body(number, request, options)
    }
}

func response(_ request: HTTPRequest, _ status: Int = 200, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
    HTTPResponse(to: request, status: status, headers: headers, body: HTTPBody(Data("ok".utf8)))
}
