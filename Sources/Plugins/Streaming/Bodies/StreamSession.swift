import Errand
import ErrandEssentials
import Synchronization

/// The activity of a stream. It ends when the stream's reader ends. Each connection is a request that belongs to the
/// activity.
final class StreamSession: Sendable {
    private let state: StreamState
    private let activity: Activity
    /// Makes a connection fail if its user isn't the user of the first connection.
    private let pin: UserPin
    private let send: @Sendable ([any Filter]) async throws -> Response<HTTPBody>

    init<R: Request>(
        _ request: R, on agent: some Agent, _ options: CallOptions, unit: String, isLive: Bool = false
    ) where R.Output == HTTPBody {
        let (state, pin) = (StreamState(unit), options.userPin ?? UserPin())
        var whole = options
        whole.label = options.label ?? request.label ?? "\(type(of: request))"
        whole.tags = request.tags.merging(options.tags)
        if isLive { whole.tags[LiveStream.self] = true }
        whole.accessories.append(StreamEnd(state: state))
        let handle = agent.start(.stream, options: whole, completion: nil) { activity in
            defer { activity.note("stream", "\(state.count)", details: state.count) }
            try await state.ended()
        }
        let activity = handle.activity
        let scoped = activity.agent(on: agent)
        send = { filters in
            // The filters in the call's options already apply to the whole activity, so each connection gets only its
            // own.
            let one = CallOptions(filters: filters, accessories: options.accessories, label: options.label)
            return try await scoped.send(request, options: one.pinned(to: pin))
        }
        (self.state, self.activity, self.pin) = (state, activity, pin)
    }

    deinit { state.end(nil) }

    func connect(_ filters: [any Filter] = []) async throws -> HTTPResponse {
        let response = try await running { [send] in try await send(filters) }
        var http = response.http
        http.body = response.value
        try state.read(response.value)
        return http
    }

    func running<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await operation() }
        state.run { task.cancel() }
        defer { state.run(nil) }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw resolved(error)
        }
    }

    func resolved(_ error: any Error) -> any Error {
        activity.isCancelled || error is CancellationError
            ? ErrandError(.cancelled, "the stream was cancelled") : error
    }

    func count(bytes: Int) {
        let progress = state.add(bytes: bytes)
        activity.report(.progress(progress))
    }

    func checkUser() throws { try pin.check() }

    func countElement() { state.addElement() }

    func report(_ event: ServerSentEvent) {
        activity.report(message: { limit in
            StreamMessage(
                .received, isText: true, Data(event.data.utf8.prefix(limit)), length: event.data.utf8.count)
        })
    }

    /// Whether the activity was cancelled. Stays false if only the reader's task was cancelled.
    var isCancelled: Bool { state.isCancelled }

    func cancel() { activity.cancel() }

    /// Ends the current connection, or the wait for the next connection, but not the activity.
    func interrupt() { state.interrupt() }

    func note(_ message: @autoclosure () -> String) { activity.note("stream", message()) }

    func end(_ error: (any Error)?) { state.end(error) }
}

/// Ends the stream for its reader if the activity is cancelled before the activity's body runs.
private struct StreamEnd: Accessory {
    let state: StreamState

    func observesNotes(of kind: ActivityKind) -> Bool { false }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .willStop(.cancelled) = event { state.cancelled() }
    }
}

private final class StreamState: Sendable {
    private struct State {
        var isOver = false
        var isCancelled = false
        var failure: (any Error)?
        var waiter: CheckedContinuation<Void, any Error>?
        var cancelWork: (@Sendable () -> Void)?
        var body: HTTPBody?
        var bytes: Int64 = 0
        /// The number of the stream's bytes at the end of the current body, if the body's length is known.
        var total: Int64?
        var connections = 0
    }

    private let unit: String
    private let elements = Atomic(0)
    private let cancellation = Atomic(false)
    private let state = Mutex(State())

    init(_ unit: String) { self.unit = unit }

    var count: StreamCount {
        let (bytes, connections) = state.withLock { ($0.bytes, $0.connections) }
        return StreamCount(
            unit, elements: elements.load(ordering: .relaxed), bytes: bytes, connections: connections)
    }

    var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    func addElement() { elements.add(1, ordering: .relaxed) }

    func add(bytes: Int) -> TransferProgress {
        state.withLock { state in
            state.bytes += Int64(bytes)
            if let total = state.total, state.bytes > total { state.total = nil }
            return TransferProgress(received: state.bytes, totalToReceive: state.total)
        }
    }

    func run(_ cancel: (@Sendable () -> Void)?) {
        let isCancelled = state.withLock { state in
            state.cancelWork = cancel
            return state.isCancelled || state.isOver
        }
        if isCancelled { cancel?() }
    }

    func read(_ body: HTTPBody) throws {
        let isOver = state.withLock { state in
            state.body = body
            state.total = body.length.map { state.bytes + $0 }
            state.connections += 1
            return state.isCancelled || state.isOver
        }
        guard isOver else { return }
        body.cancel()
        throw ErrandError(.cancelled, "the stream was cancelled")
    }

    func ended() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.isCancelled { return .failure(CancellationError()) }
                    if state.isOver { return state.failure.map { .failure($0) } ?? .success(()) }
                    state.waiter = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            cancelled()
        }
    }

    func cancelled() {
        cancellation.store(true, ordering: .relaxed)
        let waiter = state.withLock { state in
            state.isCancelled = true
            return state.waiter.take()
        }
        interrupt()
        waiter?.resume(throwing: CancellationError())
    }

    func interrupt() {
        let (cancelWork, body) = state.withLock { ($0.cancelWork, $0.body) }
        cancelWork?()
        body?.cancel()
    }

    func end(_ error: (any Error)?) {
        let (waiter, body) = state.withLock { state in
            if !state.isOver { (state.isOver, state.failure) = (true, error) }
            return (state.waiter.take(), state.body.take())
        }
        body?.cancel()
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume() }
    }
}
