import Errand
import ErrandTesting
import Synchronization
import ErrandEssentials

/// Answers with its own number, as text.
struct Get: Request {
    typealias Output = String
    var id: Int
    init(_ id: Int) { self.id = id }
    var path: String { "/items/\(id)" }
}

/// Of another type than ``Get``; answers with a number.
struct Count: Request {
    typealias Output = Int
    var id: Int
    init(_ id: Int) { self.id = id }
    var path: String { "/items/\(id)" }
    var label: String? { "count" }
}

enum Screen: TagKey {
    static let defaultValue = ""
}

/// An agent with a recording that answers `/items/N` with N after what `before` does.
struct Shop {
    let recording = RecordingAccessory()
    let agent: NetworkAgent

    init(_ before: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        let stub = StubTransport(recording: 0) { request in
            try await before(request.item)
            return .json("\(request.item)")
        }
        agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, accessories: [recording])
    }

    /// The recorded events of the composites of a kind.
    func names(_ kind: ActivityKind) -> [String] {
        recording.records().filter { $0.kind == kind }.map(\.name).filter { $0 != "progress" && $0 != "note" }
    }

    /// What became of each request, in the order of their ends.
    var outcomes: [String] {
        recording.records().filter { $0.kind == .request }.compactMap { record in
            switch record.event {
            case .didStop(.success): "success"
            case .didStop(.failure): "failure"
            case .didStop(.cancelled): "cancelled"
            default: nil
            }
        }
    }

    /// What the chain said to logs.
    var notes: [String] {
        recording.records().compactMap { record in
            if case .note(let note) = record.event { "\(note.name): \(note.message)" } else { nil }
        }
    }
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

extension HTTPRequest {
    /// Which item is asked for.
    var item: Int { Int(url.path.dropFirst("/items/".count)) ?? 0 }
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

/// Something that a closure leaves for its test.
final class Kept<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    var value: Value? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
