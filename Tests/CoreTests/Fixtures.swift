import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

struct User: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}

struct GetUser: Request {
    typealias Output = User
    var id = 7
    var path: String { "users/\(id)" }
}

struct Plain<Output: Sendable>: Request {
    var method: HTTPMethod = .get
    var path = "plain"
    var base: RequestBaseURL = .standard
    var query: Parameters = [:]
    var parameters: Parameters?
    var parameterPlacement: ParameterPlacement = .automatic
    var parameterEncoding = ParameterEncoding()
    var headers: HTTPHeaders = [:]
    var body: RequestBody = .none
    var authorization: Authorization?
    var timeout: Duration?
    var deadline: Duration?
    var priority: RequestPriority?
    var redirects: RedirectPolicy?
    var acceptableStatuses: StatusCodes = .successful
    var acceptableContentTypes: ContentTypes = .any
    var delivery: BodyDelivery = .data
    var label: String?
    var tags = Tags()
    var filters: [any Filter] = []
    var checks: [ResponseCheck] = []
    var accessories: [any Accessory] = []
    var complete: HTTPRequest?
    var mapping: @Sendable (any Error) -> any Error = { $0 }
    var reading: @Sendable (HTTPResponse) async throws -> Output

    func httpRequest() throws -> HTTPRequest? { complete }
    func decode(_ response: HTTPResponse) async throws -> Output { try await reading(response) }
    func mapError(_ error: any Error) -> any Error { mapping(error) }
}

extension Plain where Output == Data {
    init(_ change: (inout Plain) -> Void = { _ in }) {
        self.init { $0.data }
        change(&self)
    }
}

extension Plain where Output == HTTPBody {
    static func streamed(_ change: (inout Plain) -> Void = { _ in }) -> Plain {
        var plain = Plain { $0.body }
        plain.delivery = .stream
        change(&plain)
        return plain
    }
}

let base = "https://api.example.com/v1"

func built(_ request: some Request, base: String = base) throws -> HTTPRequest {
    try NetworkAgent(baseURL: base, transport: .stub).httpRequest(for: request)
}

struct Signpost: Filter {
    let name: String
    let log: Log<String>
    var stages: FilterStages = .call

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        log.add("\(name)>")
        defer { log.add("<\(name)") }
        return try await next(exchange)
    }
}

func name(_ outcome: ActivityOutcome?) -> String {
    switch outcome {
    case .success: "success"
    case .failure: "failure"
    case .cancelled: "cancelled"
    case nil: "running"
    }
}
