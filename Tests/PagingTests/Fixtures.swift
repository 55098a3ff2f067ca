import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Synchronization

struct Numbers: Codable, Sendable {
    var items: [Int]
    var total: Int?
    var next: String?
}

struct GetNumbers: PagedRequest {
    typealias Output = Numbers
    var page: PagePosition
    var hasTotal = true

    var path: String { page.path("numbers") }
    var query: Parameters { page.query("at", size: "size") }
    func items(in response: Response<Numbers>) -> [Int] { response.value.items }
    func total(in response: Response<Numbers>) -> Int? { hasTotal ? response.value.total : nil }
    func nextCursor(in response: Response<Numbers>) -> String? { response.value.next }
}

/// Serves the numbers from 0 up to `count` in every paging style, and fails on demand.
final class NumberServer: Sendable {
    private struct State {
        var count: Int
        var requests: [URL] = []
        var failures: Set<Int> = []
        var gate: Gate?
    }

    private let style: PagePosition.Style
    private let state: Mutex<State>

    init(_ style: PagePosition.Style, _ count: Int) {
        self.style = style
        state = Mutex(State(count: count))
    }

    var requests: [URL] { state.withLock { $0.requests } }
    var count: Int {
        get { state.withLock { $0.count } }
        set { state.withLock { $0.count = newValue } }
    }
    var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// Makes this request, counted from 1, fail once.
    func fail(at number: Int) { _ = state.withLock { $0.failures.insert(number) } }

    var agent: NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com/v1",
            transport: StubTransport(maximumRecordedRequests: 0) { self.response(to: $0) })
    }

    private func response(to request: HTTPRequest) -> StubResponse {
        let (count, isFailing, gate) = state.withLock { state in
            state.requests.append(request.url)
            return (state.count, state.failures.contains(state.requests.count), state.gate)
        }
        let response = isFailing ? StubResponse.status(503) : page(request, count)
        return gate.map { response.waiting(for: $0) } ?? response
    }

    private func page(_ request: HTTPRequest, _ count: Int) -> StubResponse {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        let size = value("size").flatMap { Int($0) } ?? 10
        let at = value("at") ?? ""
        let start =
            switch style {
            case .number(let first): ((Int(at) ?? first) - first) * size
            case .offset, .link: Int(at) ?? 0
            case .cursor: Int(at.dropFirst()) ?? 0
            }
        let end = min(count, start + size)
        var body = Numbers(items: start < end ? Array(start..<end) : [], total: count)
        if style == .cursor, end < count { body.next = "c\(end)" }
        let data = (try? JSONEncoder().encode(body)) ?? Data()
        let response = StubResponse.data(data, contentType: "application/json")
        guard style == .link, end < count else { return response }
        return response.header(
            "Link", "</v1/numbers?at=0>; rel=\"first\", </v1/numbers?at=\(end)&size=\(size)>; rel=\"next\"")
    }
}

extension PagePosition {
    static let all: [PagePosition] = [.number(), .number(first: 0), .offset(), .cursor(), .link()]
}
