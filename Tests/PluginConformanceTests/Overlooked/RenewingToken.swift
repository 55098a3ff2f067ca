import Errand
import ErrandConformance
import ErrandEssentials
import Synchronization

/// Adds a token to requests, and renews it after a 401.
final class RenewingToken: Filter {
    enum Form: CaseIterable {
        case right
        /// Wrong: each refused call renews the token.
        case races
        /// Wrong: a call that was refused with the old token renews the new one.
        case renewsAgain
        /// Wrong: each of the first calls creates a token.
        case racesAtFirst
    }

    private struct State: Sendable {
        var token: String?
        var task: Task<String, any Error>?
    }

    private let form: Form
    private let create: @Sendable (any Transport) async throws -> String
    private let state = Mutex(State())
    var traits: FilterTraits { [.authenticates, .repeatsHops] }
    var stages: FilterStages { .hop }

    init(_ form: Form, create: @escaping @Sendable (any Transport) async throws -> String) {
        (self.form, self.create) = (form, create)
    }

    /// Requests its tokens from the server.
    convenience init(_ form: Form) {
        self.init(form) { transport in
            guard let url = URL(string: "https://conformance.example/token") else { return "" }
            let response = try await transport.send(HTTPRequest(.post, url), options: TransportOptions())
            return String(decoding: try await response.body.collect(upTo: 10_000), as: UTF8.self)
                .replacing("\"", with: "'")
        }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        let token = try await token(insteadOf: nil, form != .racesAtFirst, exchange.transport)
        let count = exchange.stagedWorkCount
        let response = try await next(authorized(exchange, token))
        guard response.status == 401, exchange.http.body.isReplayable || exchange.http.body.isNone else {
            return response
        }
        await exchange.discard(response)
        await exchange.discardStagedWork(after: count)
        let renewed = try await self.token(insteadOf: token, form != .races, exchange.transport)
        return try await next(authorized(exchange, renewed))
    }

    private func authorized(_ exchange: Exchange, _ token: String) -> Exchange {
        var exchange = exchange
        exchange.http.headers.set("X-Token", token, sensitive: true)
        return exchange
    }

    private func token(
        insteadOf refused: String?, _ isShared: Bool, _ transport: any Transport
    ) async throws -> String {
        let task = state.withLock { state -> Task<String, any Error> in
            let isKnown = refused == nil || form != .renewsAgain && state.token != refused
            if let token = state.token, isKnown { return Task { token } }
            if isShared, let task = state.task { return task }
            let task = Task { [create] in try await create(transport) }
            state.task = task
            return task
        }
        do {
            let token = try await valueUnlessCancelled(of: task)
            state.withLock { state in
                if state.task == task { (state.task, state.token) = (nil, token) }
                if !isShared { state.token = token }
            }
            return token
        } catch {
            state.withLock { if $0.task == task { $0.task = nil } }
            throw error
        }
    }
}

/// Returns the task's value, or throws when the caller is cancelled. The task continues for other calls.
func valueUnlessCancelled(of task: Task<String, any Error>) async throws -> String {
    let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
    let waiter = Task {
        do { continuation.yield(try await task.value) } catch { continuation.finish(throwing: error) }
        continuation.finish()
    }
    defer { waiter.cancel() }
    for try await value in stream { return value }
    throw CancellationError()
}
