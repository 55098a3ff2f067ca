import Errand
import ErrandTesting
import Synchronization
import ErrandEssentials

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

/// An agent of a user's own: it writes `send` and nothing else.
struct FakeAgent: Agent {
    let answer: @Sendable (any Request, CallOptions) async throws -> any Sendable

    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        guard let value = try await answer(request, options) as? R.Output, let url = URL(string: "https://fake.example")
        else { throw ErrandError(.decoding, "the fake has no \(R.Output.self)") }
        return Response(value: value, http: HTTPResponse(url: url, status: 200))
    }
}

/// An agent with a recording that answers `/users/N` with the user N after what `before` does.
struct Shop {
    let recording = RecordingAccessory()
    let agent: NetworkAgent

    init(_ before: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        let stub = StubTransport(recording: 0) { request in
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

    /// The recorded events of the composites of a kind.
    func names(_ kind: ActivityKind) -> [String] {
        recording.records().filter { $0.kind == kind }.map(\.name).filter { $0 != "progress" && $0 != "note" }
    }

    /// What became of each request, by its label: "success", "failure", "cancelled".
    func outcomes(_ name: String = "didStop") -> [String] {
        recording.records().filter { $0.kind == .request }.compactMap { record in
            switch record.event {
            case .didStop(.success): "success"
            case .didStop(.failure): "failure"
            case .didStop(.cancelled): "cancelled"
            default: nil
            }
        }
    }
}

extension HTTPRequest {
    /// Which user is asked for; nil if none is.
    var userID: Int? { url.path.hasPrefix("/users/") ? Int(url.path.dropFirst("/users/".count)) : nil }
}

struct Refused: Error {
    var secret = "hunter2"
}

/// A list that several threads write to.
final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

/// How many are in a place at once, and were at most.
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

/// The same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
