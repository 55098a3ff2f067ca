import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

struct Get: Request {
    typealias Output = String
    var id: Int
    init(_ id: Int) { self.id = id }
    var path: String { "/items/\(id)" }
}

/// A request of another type than ``Get``, which returns a number.
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

/// An agent with a recording. It serves `/items/N` with N after running `before`.
struct Shop {
    let recording = RecordingAccessory()
    let agent: NetworkAgent

    init(_ before: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            try await before(request.item)
            return .json("\(request.item)")
        }
        agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, accessories: [recording])
    }

    var notes: [String] {
        recording.records().compactMap { record in
            if case .note(let note) = record.event { "\(note.name): \(note.message)" } else { nil }
        }
    }
}

extension HTTPRequest {
    var item: Int { Int(url.path.dropFirst("/items/".count)) ?? 0 }
}

/// A value that a closure leaves for its test.
final class Kept<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    var value: Value? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
