import Errand
import ErrandEssentials
import ErrandMultipart
import ErrandTesting
import Synchronization
import Testing

struct WholePart: Equatable {
    var name: String?
    var fileName: String?
    var type: String?
    var data: Data

    init(_ name: String?, _ data: Data, fileName: String? = nil, type: String? = nil) {
        (self.name, self.fileName, self.type, self.data) = (name, fileName, type, data)
    }

    init(_ part: ReceivedPart) async throws {
        self.init(
            part.name, try await part.data(upTo: 64 << 20), fileName: part.fileName,
            type: part.contentType.map { "\($0)" })
    }
}

func read(
    _ body: Data, _ contentType: String?, limits: MultipartLimits = MultipartLimits()
) async throws -> [WholePart] {
    try await read(HTTPBody(body), contentType, limits: limits)
}

func read(
    _ body: HTTPBody, _ contentType: String?, limits: MultipartLimits = MultipartLimits()
) async throws -> [WholePart] {
    var parts: [WholePart] = []
    for try await part in try ReceivedParts(body, contentType: contentType, limits: limits) {
        parts.append(try await WholePart(part))
    }
    return parts
}

/// Returns a body that provides the data in pieces of these sizes; the last size repeats.
func pieces(of data: Data, sizes: [Int]) -> HTTPBody {
    let state = Mutex((rest: data, turn: 0))
    return HTTPBody(next: {
        state.withLock { state in
            if state.rest.isEmpty { return nil }
            let size = max(1, sizes[min(state.turn, sizes.count - 1)])
            state.turn += 1
            defer { state.rest = Data(state.rest.dropFirst(size)) }
            return Data(state.rest.prefix(size))
        }
    })
}

/// Returns the bytes that a request with this body sends, and the request.
func sent(_ body: RequestBody) async throws -> (data: Data, request: HTTPRequest) {
    let stub = StubTransport(.status(200))
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
    try await agent.send(Call<Void>(.post, "up", body: body))
    let request = try #require(stub.received.last)
    return (try await request.body.open().collect(upTo: 64 << 20), request)
}

/// Returns the codes of the error that prevented sending a request.
func reason(_ body: () async throws -> Void) async throws -> (ErrandError.Code, MultipartError.Code) {
    do {
        try await body()
    } catch let error as ErrandError {
        let own = try #require(error.underlying as? MultipartError, "\(error)")
        return (error.code, own.code)
    }
    throw Unexpected.success
}

enum Unexpected: Error { case success }
