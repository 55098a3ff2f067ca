import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import Synchronization

/// A service that accepts one token at a time, responds 401 to any other, and counts refreshes.
final class Service: Sendable {
    struct State {
        var valid = "t1"
        var refreshes = 0
        var calls: [HTTPRequest] = []
    }

    private let state = Mutex(State())
    /// Holds back each response until it opens.
    let gate: Gate?

    init(waitingFor gate: Gate? = nil) { self.gate = gate }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var calls: [HTTPRequest] { state.withLock { $0.calls } }
    var tokens: [String] { calls.map { $0.headers[.authorization] ?? "none" } }
    var valid: String {
        get { state.withLock { $0.valid } }
        set { state.withLock { $0.valid = newValue } }
    }

    /// Returns a new token, from now on the only valid one.
    func refresh() -> String {
        state.withLock { state in
            state.refreshes += 1
            state.valid = "t\(state.refreshes + 1)"
            return state.valid
        }
    }

    func countRefresh() { state.withLock { $0.refreshes += 1 } }

    var transport: StubTransport {
        StubTransport(maximumRecordedRequests: 0) { request in
            let isFine = self.state.withLock { state in
                state.calls.append(request)
                return request.headers[.authorization] == "Bearer \(state.valid)"
            }
            let response = isFine ? StubResponse.text(request.url.path) : .text("refused", status: 401)
            return self.gate.map { response.waiting(for: $0) } ?? response
        }
    }
}

struct Broken: Error, CustomStringConvertible { var description = "broken" }

extension NetworkAgent {
    convenience init(
        _ transport: some Transport, time: some TimeSource = ManualTimeSource(), _ filters: any Filter...
    ) {
        self.init(baseURL: "https://api.example.com", transport: transport, filters: filters, time: time)
    }

    func text(_ path: String = "x", options: CallOptions = CallOptions()) async throws -> String {
        try await send(Call<String>(.get, path), options: options).value
    }

    func failure(_ path: String = "x", options: CallOptions = CallOptions()) async -> (any Error)? {
        do { _ = try await text(path, options: options) } catch { return error }
        return nil
    }
}

final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    @discardableResult
    func up() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Keeps the details of the notes named "authentication".
final class AuthenticationNotes: Accessory {
    private let notes = Mutex<[AuthenticationNote]>([])
    var all: [AuthenticationNote] { notes.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .note(let note) = event, note.name == "authentication" else { return }
        if let details = note.details as? AuthenticationNote { notes.withLock { $0.append(details) } }
    }
}
