import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

struct User: Codable, Sendable, Equatable {
    var id: Int
}

struct GetUser: Request {
    typealias Output = User
    var id: Int
    var path: String { "/users/\(id)" }
}

struct GetFeed: Request {
    typealias Output = [String]
    var path: String { "/feed" }
}

struct GetText: Request {
    typealias Output = String
    var path: String { "/text" }
}

enum Screen: TagKey {
    static let defaultValue = ""
}

/// An agent with a recording. It serves `/users/N` with user N after running `before`.
struct Shop {
    let recording = RecordingAccessory()
    let agent: NetworkAgent

    init(_ before: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            switch request.url.path {
            case "/feed": return .json(#"["news"]"#)
            case "/text": return .text("words")
            default:
                let id = Int(request.url.path.dropFirst("/users/".count)) ?? 0
                try await before(id)
                return .json(#"{"id":\#(id)}"#)
            }
        }
        agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, accessories: [recording])
    }
}

extension HTTPRequest {
    var userID: Int? { url.path.hasPrefix("/users/") ? Int(url.path.dropFirst("/users/".count)) : nil }
}

/// Counts how many tasks are in a section at once, and the maximum.
final class Crowd: Sendable {
    private let state = Mutex((now: 0, most: 0, total: 0))

    func enter() {
        state.withLock { state in
            state.now += 1
            state.total += 1
            state.most = max(state.most, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }
    var total: Int { state.withLock { $0.total } }
}
