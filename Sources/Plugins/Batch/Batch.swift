public import Errand
import Synchronization

/// A group of requests that run concurrently. The batch combines their outputs and their progress, and cancels them
/// together. At most
/// `maximumConcurrent` requests run at a time.
///
/// ```swift
/// let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))
/// let users = try await agent.run(Batch(ids.map(GetUser.init), maximumConcurrent: 8, policy: .collectAll))
/// ```
///
/// You can run a batch any number of times, even concurrently. Each run is an ``Errand/Activity`` of kind `.batch`, and
/// each part is a child activity. A request that appears twice is sent twice. The call's tags apply to every part. An
/// empty batch succeeds at once, except with the policy `.firstSuccess`.
///
/// `Part` is the output of each part: `Response<User>` for requests of one type, `Response<any Sendable>` for mixed
/// requests. `Success` is the output of the batch, which depends on the ``BatchPolicy``.
public struct Batch<Part: Sendable, Success: Sendable>: Sendable {
    /// The maximum number of parts that run at a time, at least 1. Defaults to ``BatchLimit/standard``.
    public let maximumConcurrent: Int
    /// The batch's name in logs. A label in the call's options takes precedence over it.
    public var label: String?
    /// The number of parts.
    public let count: Int
    let rule: BatchRule
    var eachProgress: (@Sendable (Int, TransferProgress) -> Void)?
    /// Creates the parts of a run. Runs can't share parts, because parts keep typed results.
    let parts: @Sendable () -> BatchParts<Part, Success>
    let cached: @Sendable (Success) -> CacheShare

    init(
        count: Int, maximumConcurrent: Int, label: String?, rule: BatchRule,
        cached: @escaping @Sendable (Success) -> CacheShare, parts: @escaping @Sendable () -> BatchParts<Part, Success>
    ) {
        (self.count, self.maximumConcurrent, self.label, self.rule) = (count, max(1, maximumConcurrent), label, rule)
        (self.parts, self.cached) = (parts, cached)
    }

    /// Returns a copy of the batch that also reports the progress of each part. Parts that are closures don't report
    /// progress. The closure runs on any thread. For each part, its calls are in order.
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

    /// Returns whether all, some or none of the responses in this batch's output came from a cache.
    public func cacheShare(of success: Success) -> CacheShare { cached(success) }
}

/// The default number of parts that run at a time.
public enum BatchLimit {
    /// 6, the number of connections that browsers and URLSession use for a host over HTTP/1.1. With a higher limit, the
    /// further requests would wait in the transport while their timeouts run. Use a higher limit with HTTP/2 or several
    /// hosts.
    public static let standard = 6
}

struct BatchParts<Part: Sendable, Success: Sendable>: Sendable {
    let send: @Sendable (_ index: Int, _ agent: ScopedAgent, CallOptions) async throws -> Part
    let name: @Sendable (Int) -> (label: String, request: (any Request)?)
    let gather: @Sendable (BatchOutcomes<Part>) throws -> Success
}

extension Batch {
    /// Creates a batch of requests of one type. The policy decides how failures affect the batch.
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
            count: requests.count, maximumConcurrent: maximumConcurrent, label: label, rule: policy.rule,
            cached: { policy.cached($0, \.http) },
            parts: { parts })
    }

    /// Creates a batch of requests of one type. All requests must succeed. The first failure cancels the others.
    public init<R: Request>(
        _ requests: some Sequence<R>, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil
    )
    where Part == Response<R.Output>, Success == [Response<R.Output>] {
        self.init(requests, maximumConcurrent: maximumConcurrent, label: label, policy: .failFast)
    }

    /// Creates a batch from a list of requests of different types.
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
            count: requests.count, maximumConcurrent: maximumConcurrent, label: label, rule: policy.rule,
            cached: { policy.cached($0, \.http) },
            parts: { parts })
    }

    /// Creates a batch from a list of requests of different types. All requests must succeed. The first failure cancels
    /// the others.
    public init(mixed requests: [any Request], maximumConcurrent: Int = BatchLimit.standard, label: String? = nil)
    where Part == Response<any Sendable>, Success == [Response<any Sendable>] {
        self.init(mixed: requests, maximumConcurrent: maximumConcurrent, label: label, policy: .failFast)
    }

    /// Creates a batch whose parts are closures. A part can run a chain, another batch or several requests.
    ///
    /// ```swift
    /// let totals = try await agent.run(Batch(of: orders, maximumConcurrent: 4) { agent, order in
    ///     let lines = try await agent.send(GetLines(order)).value
    ///     return try await agent.send(GetTotal(lines)).value
    /// })
    /// ```
    ///
    /// Everything that a part sends with its agent belongs to the batch. When the batch ends, it cancels the requests
    /// that its parts started and didn't await.
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
            count: items.count, maximumConcurrent: maximumConcurrent, label: label, rule: policy.rule,
            cached: { policy.cached($0) { _ in nil } },
            parts: { parts })
    }

    /// Creates a batch whose parts are closures. All parts must succeed. The first failure cancels the others.
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

/// You run a batch like any ``Errand/Composite``: with `agent.run(batch)`, or with
/// `agent.start(running: batch, delegate: screen) { result in … }`.
///
/// The run throws ``BatchError`` if the policy isn't met, and ``Errand/ErrandError`` with the code `cancelled` if the
/// batch is cancelled.
extension Batch: Composite {
    /// Returns `.batch`.
    public var activityKind: ActivityKind { .batch }

    /// The activity's name in logs: the batch's ``label``.
    public var activityLabel: String? { label }

    /// Sends the parts and returns the batch's output. The agent calls this method when you run the batch.
    public func run(on agent: ScopedAgent) async throws -> Success {
        try await BatchRun(self, on: agent).output()
    }

    /// Returns a completion that tells a delegate how the batch ended. The completion holds the delegate weakly.
    public func completion(notifying delegate: any BatchDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate, cached] in delegate?.batchDidSucceed($0, output: $1, cached: cached($1)) },
            failure: { [weak delegate] in delegate?.batchDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.batchDidCancel($0) })
    }
}

extension Batch {
    /// Creates a batch of requests of different types. All requests must succeed. The output is a tuple of responses.
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
        self.init(
            count: count, maximumConcurrent: maximumConcurrent, label: label, rule: policy.rule,
            cached: { CacheShare(repeat each $0) }
        ) {
            let cells = (repeat BatchCell(each requests))
            return Self.parts(Self.list(repeat each cells)) { _ in (repeat try (each cells).outcome().get()) }
        }
    }

    /// Creates a batch of requests of different types that all run, even if some fail. The output is a tuple of
    /// results.
    public init<each R: Request>(
        _ requests: repeat each R, maximumConcurrent: Int = BatchLimit.standard, label: String? = nil,
        policy: BatchPolicy<Response<any Sendable>, [Result<Response<any Sendable>, any Error>]>
    ) where Part == Response<any Sendable>, Success == (repeat Result<Response<(each R).Output>, any Error>) {
        let count = Self.count(repeat each requests)
        self.init(
            count: count, maximumConcurrent: maximumConcurrent, label: label, rule: policy.rule,
            cached: { CacheShare(repeat each $0) }
        ) {
            let cells = (repeat BatchCell(each requests))
            return Self.parts(Self.list(repeat each cells)) { _ in (repeat try (each cells).outcome()) }
        }
    }

    /// Creates a batch of requests of different types that ends with the first success. The output is the index and the
    /// response of the request that succeeded.
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

    func outcome() throws -> Result<Response<R.Output>, any Error> {
        guard let outcome = state.withLock({ $0 }) else { throw CancellationError() }
        return outcome
    }
}

private protocol AnyBatchCell: Sendable {
    var name: (label: String, request: (any Request)?) { get }
    func send(on agent: ScopedAgent, _ options: CallOptions) async throws -> Response<any Sendable>
}
