public import Errand
import Synchronization

extension Batch {
    /// Requests of several types, all of which must succeed: a tuple of responses.
    ///
    /// ```swift
    /// let (user, feed, ads) = try await agent.run(Batch(GetUser(id: 7), GetFeed(), GetAds()))
    /// print(user.value.name, feed.http.status)
    /// ```
    public init<each R: Request>(
        _ requests: repeat each R, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<any Sendable>, [Response<any Sendable>]> = .failFast
    ) where Part == Response<any Sendable>, Success == (repeat Response<(each R).Output>) {
        let count = Self.count(repeat each requests)
        self.init(count, maximumConcurrent, label, policy.rule, cached: { CacheShare(repeat each $0) }) {
            let cells = (repeat BatchCell(each requests))
            return Self.parts(Self.list(repeat each cells)) { _ in (repeat try (each cells).outcome().get()) }
        }
    }

    /// Requests of several types, whether each succeeds or fails: a tuple of results.
    public init<each R: Request>(
        _ requests: repeat each R, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<any Sendable>, [Result<Response<any Sendable>, any Error>]>
    ) where Part == Response<any Sendable>, Success == (repeat Result<Response<(each R).Output>, any Error>) {
        let count = Self.count(repeat each requests)
        self.init(count, maximumConcurrent, label, policy.rule, cached: { CacheShare(repeat each $0) }) {
            let cells = (repeat BatchCell(each requests))
            return Self.parts(Self.list(repeat each cells)) { _ in (repeat try (each cells).outcome()) }
        }
    }

    /// Requests of several types, of which one success is enough: its index in the batch and its response.
    public init<each R: Request>(
        _ requests: repeat each R, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<any Sendable>, (index: Int, response: Response<any Sendable>)>
    ) where Part == Response<any Sendable>, Success == (index: Int, response: Response<any Sendable>) {
        var list: [any Request] = []
        repeat list.append(each requests)
        self.init(mixed: list, maximumConcurrent: maximumConcurrent, label: label, policy: policy)
    }

    private static func count<each R: Request>(_ requests: repeat each R) -> Int {
        var count = 0
        for _ in repeat each requests { count += 1 }
        return count
    }

    private static func list<each R: Request>(_ cells: repeat BatchCell<each R>) -> [any AnyBatchCell] {
        var list: [any AnyBatchCell] = []
        repeat list.append(each cells)
        return list
    }

    private static func parts(
        _ cells: [any AnyBatchCell], gather: @escaping @Sendable (BatchOutcomes<Part>) throws -> Success
    ) -> BatchParts<Part, Success> where Part == Response<any Sendable> {
        BatchParts(
            send: { index, agent, options in try await cells[index].send(on: agent, options) },
            name: { index in cells[index].name }, gather: gather)
    }
}

/// A request of a tuple and, once it has ended, its result with its type.
private final class BatchCell<R: Request>: AnyBatchCell {
    private let request: R
    private let state = Mutex<Result<Response<R.Output>, any Error>?>(nil)

    init(_ request: R) { self.request = request }

    var name: (label: String, request: (any Request)?) { (request.name, request) }

    func send(on agent: ScopedAgent, _ options: CallOptions) async throws -> Response<any Sendable> {
        do {
            let response = try await agent.send(request, options: options)
            state.withLock { $0 = .success(response) }
            return Response(value: response.value, http: response.http)
        } catch {
            state.withLock { $0 = .failure(error) }
            throw error
        }
    }

    /// Throws only if the request was never sent, and then the batch was cancelled.
    func outcome() throws -> Result<Response<R.Output>, any Error> {
        guard let outcome = state.withLock({ $0 }) else { throw CancellationError() }
        return outcome
    }
}

private protocol AnyBatchCell: Sendable {
    var name: (label: String, request: (any Request)?) { get }
    func send(on agent: ScopedAgent, _ options: CallOptions) async throws -> Response<any Sendable>
}
