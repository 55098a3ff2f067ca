public import Errand
import Synchronization

/// Many requests sent as one: together, at most `maximumConcurrent` at a time, with one output, one progress and one
/// cancellation.
///
/// ```swift
/// let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))
/// let users = try await agent.run(Batch(ids.map(GetUser.init), maximumConcurrent: 8, policy: .collectAll))
/// ```
///
/// A batch is a value: it may be sent any number of times, also at the same time, and each run is an
/// ``Errand/Activity`` of its own of the kind `.batch`, with the activities of the parts as its children. A request
/// that occurs in it twice is sent twice. An empty batch succeeds at once, except with `.firstSuccess`. The tags of the
/// call apply to every part.
///
/// `Part` is the output of each part: `Response<User>` in a list of one type, `Response<any Sendable>` in a mixed one.
/// `Success` is the output of the batch, determined by its ``BatchPolicy``.
public struct Batch<Part: Sendable, Success: Sendable>: Sendable {
    /// The maximum number of parts that run at a time, at least 1. ``BatchLimit/standard`` by default.
    public let maximumConcurrent: Int
    /// The name for logs, unless the call has one.
    public var label: String?
    /// The number of parts.
    public let count: Int
    let rule: BatchRule
    var eachProgress: (@Sendable (Int, TransferProgress) -> Void)?
    /// Makes the parts of a run; anew for each, since they keep results of several types.
    let parts: @Sendable () -> BatchParts<Part, Success>
    let cached: @Sendable (Success) -> CacheShare

    init(
        _ count: Int, _ maximumConcurrent: Int, _ label: String?, _ rule: BatchRule,
        cached: @escaping @Sendable (Success) -> CacheShare, parts: @escaping @Sendable () -> BatchParts<Part, Success>
    ) {
        (self.count, self.maximumConcurrent, self.label, self.rule) = (count, max(1, maximumConcurrent), label, rule)
        (self.parts, self.cached) = (parts, cached)
    }

    /// The same batch, which reports the progress of each part beside that of the batch: to a closure, on any thread,
    /// in order for one part. Parts that are closures report none.
    ///
    /// ```swift
    /// let batch = Batch([1, 2, 3].map(GetUser.init)).reportingEach { index, progress in
    ///     print(index, progress.fraction ?? 0)
    /// }
    /// ```
    public func reportingEach(
        _ listener: @escaping @Sendable (_ index: Int, _ progress: TransferProgress) -> Void
    ) -> Batch {
        var copy = self
        copy.eachProgress = listener
        return copy
    }

    /// The share of an output of this batch that came from a cache.
    public func cacheShare(of success: Success) -> CacheShare { cached(success) }
}

/// The default for the number of parts of a batch that run at a time.
public enum BatchLimit {
    /// Six, the number of connections that browsers and URLSession open to one host over HTTP/1.1. More would wait in
    /// the transport with their timeouts running. With HTTP/2 or several hosts use more.
    public static let standard = 6
}

/// The parts of one run.
struct BatchParts<Part: Sendable, Success: Sendable>: Sendable {
    let send: @Sendable (_ index: Int, _ agent: ScopedAgent, CallOptions) async throws -> Part
    /// The name of a part, for errors.
    let name: @Sendable (Int) -> (label: String, request: (any Request)?)
    /// Makes the output of the batch, once its policy is met.
    let gather: @Sendable (BatchOutcomes<Part>) throws -> Success
}

extension Batch {
    /// Makes a batch of requests of one type, in this order; the policy says what a failure means.
    ///
    /// ```swift
    /// Batch(ids.map(GetUser.init), policy: .collectAll)               // [Result<Response<User>, any Error>]
    /// Batch(mirrors.map(GetFile.init), policy: .firstSuccess)          // (index, response)
    /// ```
    public init<R: Request>(
        _ requests: some Sequence<R>, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<R.Output>, Success>
    ) where Part == Response<R.Output> {
        let requests = Array(requests)
        let parts = BatchParts(
            send: { index, agent, options in try await agent.send(requests[index], options: options) },
            name: { index in (requests[index].name, requests[index]) }, gather: policy.gather)
        self.init(
            requests.count, maximumConcurrent, label, policy.rule, cached: { policy.cached($0, \.http) },
            parts: { parts })
    }

    /// Makes a batch of requests of one type, all of which must succeed: the first failure cancels the rest.
    public init<R: Request>(
        _ requests: some Sequence<R>, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil
    )
    where Part == Response<R.Output>, Success == [Response<R.Output>] {
        self.init(requests, maximumConcurrent: maximumConcurrent, label: label, policy: .failFast)
    }

    /// Makes a batch of requests of several types from a list that is built at run time.
    ///
    /// ```swift
    /// var requests: [any Request] = [GetUser(id: 7)]
    /// if wantsFeed { requests.append(GetFeed()) }
    /// let responses = try await agent.run(Batch(mixed: requests))     // [Response<any Sendable>]
    /// ```
    public init(
        mixed requests: [any Request], maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<any Sendable>, Success>
    ) where Part == Response<any Sendable> {
        let parts = BatchParts(
            send: { index, agent, options in try await requests[index].sendErased(on: agent, options) },
            name: { index in (requests[index].name, requests[index]) }, gather: policy.gather)
        self.init(
            requests.count, maximumConcurrent, label, policy.rule, cached: { policy.cached($0, \.http) },
            parts: { parts })
    }

    /// Makes a batch of requests of several types from a list, all of which must succeed.
    public init(mixed requests: [any Request], maximumConcurrent: Int = BatchLimit.standard, label: String? = nil)
    where Part == Response<any Sendable>, Success == [Response<any Sendable>] {
        self.init(mixed: requests, maximumConcurrent: maximumConcurrent, label: label, policy: .failFast)
    }

    /// Makes a batch of parts that are not single requests: a chain, a batch, or several requests for each item.
    ///
    /// ```swift
    /// let totals = try await agent.run(Batch(of: orders, maximumConcurrent: 4) { agent, order in
    ///     let lines = try await agent.send(GetLines(order)).value
    ///     return try await agent.send(GetTotal(lines)).value
    /// })
    /// ```
    ///
    /// Whatever a part sends with its agent belongs to the batch; what it starts and does not await is cancelled at the
    /// end.
    public init<Item: Sendable>(
        of items: some Sequence<Item>, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Part, Success>,
        part: @escaping @Sendable (_ agent: ScopedAgent, _ item: Item) async throws -> Part
    ) {
        let items = Array(items)
        let parts = BatchParts(
            send: { index, agent, _ in try await part(agent, items[index]) },
            name: { _ in ("\(Item.self)", nil) }, gather: policy.gather)
        self.init(
            items.count, maximumConcurrent, label, policy.rule, cached: { policy.cached($0) { _ in nil } },
            parts: { parts })
    }

    /// Makes a batch of parts that are not single requests, all of which must succeed.
    public init<Item: Sendable>(
        of items: some Sequence<Item>, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        part: @escaping @Sendable (_ agent: ScopedAgent, _ item: Item) async throws -> Part
    ) where Success == [Part] {
        self.init(of: items, maximumConcurrent: maximumConcurrent, label: label, policy: .failFast, part: part)
    }
}

extension Request {
    var name: String { label ?? "\(Self.self)" }

    func sendErased(on agent: ScopedAgent, _ options: CallOptions) async throws -> Response<any Sendable> {
        let response = try await agent.send(self, options: options)
        return Response(value: response.value, http: response.http)
    }
}

/// A batch is run like every composite: `agent.run(batch)`, `agent.start(running: batch, delegate: screen) { result in … }`.
///
/// Throws ``BatchError`` if the batch's policy is not met, and ``Errand/ErrandError`` with `cancelled`.
extension Batch: Composite {
    /// A batch.
    public var activityKind: ActivityKind { .batch }

    /// Its ``label``.
    public var activityLabel: String? { label }

    /// Sends the parts and combines their outputs.
    public func run(on agent: ScopedAgent) async throws -> Success {
        try await BatchRun(self, on: agent).output()
    }

    /// Notifies a delegate, held weakly, of the end.
    public func completion(notifying delegate: any BatchDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate, cached] in delegate?.batchDidSucceed($0, output: $1, cached: cached($1)) },
            failure: { [weak delegate] in delegate?.batchDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.batchDidCancel($0) })
    }
}

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
