// The code an app with default isolation to MainActor writes, as this target does: each protocol that users conform
// to. A conformance in a type's declaration takes the type off the main actor; a model, a protocol that refines
// Request, and a conformance in an extension need `nonisolated`.
import Errand
import ErrandAuthentication
import ErrandCache
import ErrandEnvelopes
import ErrandEssentials
import ErrandJSONValidation
import ErrandLoadingIndicatorLog
import ErrandPaging
import ErrandResumableDownload
import ErrandRetry
import ErrandStreaming
import ErrandURLFilters
import ErrandXML
import Synchronization

nonisolated struct User: Codable, Sendable {
    let id: Int
    let name: String
}

struct GetUser: Request {
    typealias Output = User
    let id: Int
    var path: String { "users/\(id)" }
}

nonisolated protocol ShopRequest: Request { var trace: String { get } }

nonisolated extension ShopRequest {
    var headers: HTTPHeaders { ["X-Trace": trace] }
}

struct GetOffers: ShopRequest {
    typealias Output = [User]
    let trace: String
    var path: String { "offers" }
    func decode(_ response: HTTPResponse) async throws -> [User] { try response.json([User].self) }
}

nonisolated struct Reply: ResponseEnvelope {
    let code: EnvelopeCode
    let message: String?
    var isSuccess: Bool { code == 0 }

    enum CodingKeys: String, CodingKey { case code, message = "msg" }
}

nonisolated protocol EnvelopedShopRequest: EnvelopedRequest where Envelope == Reply {}

struct GetOwner: EnvelopedShopRequest {
    typealias Output = User
    var path: String { "owner" }
}

enum Screen: TagKey { static let defaultValue = "" }

struct Offline: Sendable { var isOn = false }

nonisolated extension Offline: FilterProvidingTag {
    var requiredFilters: [any Filter] { isOn ? [AddTrace()] : [] }
}

struct AddTrace: Filter {
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Trace"] = exchange.request.label ?? "none"
        return try await next(exchange)
    }
}

struct Both: FilterGroup {
    var filters: [any Filter] { [AddTrace()] }
}

final class Counter: Accessory {
    let starts = Atomic(0)
    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .willStart = event { starts.add(1, ordering: .relaxed) }
    }
}

struct Signed: FilterProvidingRequest {
    var requiredFilters: [any Filter] { [AddTrace()] }
}

struct Nowhere: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200, body: HTTPBody(source: Pieces()))
    }
}

final class Pieces: HTTPBodySource {
    private let left = Mutex(["a", "b"])
    func nextChunk() async throws -> Data? { left.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
    func cancel() {}
}

struct Pair: Composite {
    var activityKind: ActivityKind { ActivityKind(rawValue: "pair") }

    func run(on agent: ScopedAgent) async throws -> Int {
        async let first = agent.send(GetUser(id: 1))
        async let second = agent.send(GetUser(id: 2))
        return try await first.value.id + second.value.id
    }
}

struct Tokens: Credential {
    var access: String
    func authorize(_ request: inout HTTPRequest) throws { request.headers.authorize(.bearer(access)) }
}

struct Lines: LogSink {
    func write(_ record: LogRecord) { print(record.line) }
}

struct Quiet: LoadingPresenter {
    func present(_ state: LoadingState) {}
}

struct Compact: BodyDecoder {
    var contentTypes: ContentTypes { .json }
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}

struct Wide: BodyEncoder {
    var contentType: String { "application/json" }
    func encode<Value: Encodable>(_ value: Value) throws -> Data { try JSONEncoder().encode(value) }
}

struct Stopped: TimeSource {
    var now: ContinuousClock.Instant { .now }
    var date: Date { Date(timeIntervalSince1970: 0) }
    func sleep(until instant: ContinuousClock.Instant) async throws {}
}

struct Colour: ParameterConvertible {
    let name: String
    var parameterValue: ParameterValue? { name.parameterValue }
}

struct SoldOut: CodedError {
    struct Code: ErrorCode {
        let number: Int
        var description: String { "soldOut" }
    }

    var code: Code { Code(number: 1) }
    var description: String { "sold out" }
}

struct AddPlatform: URLTextFilter {
    func edit(_ url: inout URLText, for exchange: Exchange) async throws { try url.append(["platform": "linux"]) }
}

struct Plainly: FilterExemptRequest {}

struct Again: RetryableRequest {
    var retryPolicy: RetryPolicy { RetryPolicy() }
}

struct News: CacheableRequest {
    typealias Output = [User]
    var cachePolicy: CachePolicy { .timed(.seconds(60)) }
}

struct Shaped: JSONValidatedRequest {
    var shape: JSONShape { ["id": .integer] }
}

struct Video: DownloadRequest {
    let destination: URL
    var path: String { "video" }
}

struct Chat: EventRequest {}

struct Feed: XMLRequest {}

struct Item: XMLReadable {
    let title: String
    init(xml: XMLTree) throws { title = xml.name.description }
}

struct Articles: PagedRequest {
    typealias Output = [User]
    var page: PagePosition = .number()
    func items(in response: Response<[User]>) throws -> [User] { response.value }
}

final class Profile: RequestDelegate {
    var name = ""

    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {
        name = (response.value as? User)?.name ?? ""
    }
}
