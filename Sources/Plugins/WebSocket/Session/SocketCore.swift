import Errand
import ErrandEssentials
import Synchronization

/// The state that a socket, its reader, its senders and its activity share.
final class SocketCore: Sendable {
    /// A received message, with what decodes it.
    struct Received: Sendable {
        let message: WebSocketMessage
        let coder: SocketCoder
    }

    typealias Greeting = @Sendable (SocketLink, _ isFirst: Bool) async throws -> Void

    private struct State {
        var isStarted = false
        var isClaimed = false
        var isClosing = false
        var isOver = false
        var failure: (any Error)?
        var wantsReconnect = false
        var activity: Activity?
        var cancelWork: (@Sendable () -> Void)?
        var link: SocketLink?
        /// Whether there was a connection.
        var wasOpen = false
        var response: HTTPResponse?
        var received: [Received] = []
        var receivedBytes = 0
        var bytes: Int64 = 0
        var elements = 0
        var connections = 0
    }

    let options: SocketOptions
    let greeting: Greeting
    let clock = SocketClock()
    private let begin: @Sendable (SocketCore) -> Activity
    private let state = Mutex(State())
    private let broadcaster = StateBroadcaster(WebSocketState.idle, maximumWaiting: 100)
    /// Those that wait for a connection, the reader that waits for a message, and the activity that waits for room.
    private let senders = WaitingLine()
    private let reader = WaitingLine()
    private let room = WaitingLine()
    private let closers = WaitingLine()

    init<R: SocketRequest>(
        _ request: R, on agent: some Agent, _ callOptions: CallOptions, _ greeting: @escaping Greeting
    ) {
        let options = request.socketOptions
        (self.options, self.greeting) = (options, greeting)
        begin = { core in
            var whole = callOptions
            whole.label = callOptions.label ?? request.label ?? "\(type(of: request))"
            whole.tags = request.tags.merging(callOptions.tags)
            whole.tags[LiveStream.self] = true
            whole.accessories.append(SocketEnd(core: core))
            let handle = agent.start(.stream, options: whole, completion: nil) { activity in
                let scoped = activity.agent(on: agent)
                let session = SocketSession(core: core, activity: activity) {
                    let opening = SocketOpening(options, core.clock)
                    // It may have been cancelled between the handshake and here.
                    defer { opening.end() }
                    // The filters of the call reach its members by the activity.
                    let one = CallOptions(
                        filters: [OpeningFilter(opening: opening)], accessories: callOptions.accessories,
                        label: callOptions.label)
                    let response = try await scoped.send(request, options: one).value
                    guard let opened = opening.take() else {
                        throw WebSocketError(
                            .handshakeFailed, "the server has not opened the socket", response: response)
                    }
                    return SocketLink(opened, response, options, activity)
                }
                defer { activity.note("stream", "\(core.count)", details: core.count) }
                try await session.run()
            }
            return handle.activity
        }
    }

    var current: WebSocketState { broadcaster.state }
    var states: AsyncStream<WebSocketState> { broadcaster.states }
    var response: HTTPResponse? { state.withLock { $0.response } }
    var count: StreamCount {
        state.withLock { StreamCount("messages", elements: $0.elements, bytes: $0.bytes, connections: $0.connections) }
    }

    // MARK: The user's side

    /// Admits the first reader.
    func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    /// Starts the activity, once.
    private func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isOver
        }
        if !isFirst { return }
        let activity = begin(self)
        let isOver = state.withLock { state in
            state.activity = activity
            return state.isOver
        }
        if isOver { activity.cancel() }
    }

    /// Returns when there is a connection.
    func opened() async throws { _ = try await link(isSending: false) }

    /// The connection, which may have to be made first.
    func link(isSending: Bool = true) async throws -> SocketLink {
        start()
        while true {
            let (link, limit) = try state.withLock { state in
                if state.isOver || state.isClosing {
                    throw state.failure ?? WebSocketError(.closed, "the socket is closed")
                }
                return (state.link, isSending && state.wasOpen ? maximumWaiting : .max)
            }
            if let link { return link }
            guard senders.count < limit else {
                throw WebSocketError(.notConnected, "there is no connection, and \(limit) messages wait for one")
            }
            try await senders.wait { [self] in state.withLock { $0.link == nil && !$0.isOver && !$0.isClosing } }
        }
    }

    private var maximumWaiting: Int {
        switch options.away {
        case .wait(let maximum): max(0, maximum)
        case .refuse: 0
        }
    }

    /// The next message; nil at the end.
    func next() async throws -> Received? {
        start()
        while true {
            let (received, isOver) = try state.withLock { state -> (Received?, Bool) in
                if !state.received.isEmpty {
                    let first = state.received.removeFirst()
                    state.receivedBytes -= first.message.count
                    state.elements += 1
                    return (first, false)
                }
                if state.isOver, let failure = state.failure { throw failure }
                return (nil, state.isOver)
            }
            if let received {
                room.resume()
                return received
            }
            if isOver { return nil }
            try await reader.wait { [self] in state.withLock { $0.received.isEmpty && !$0.isOver } }
        }
    }

    func close(_ code: CloseCode, _ reason: String) async {
        let (link, activity) = state.withLock { state in
            state.isClosing = true
            return (state.link, state.activity)
        }
        senders.resume()
        room.resume()
        guard let link else {
            finish(nil)
            activity?.cancel()
            return
        }
        link.sendClose(code, reason)
        let limit = options.closeTimeout
        let waits: @Sendable () async throws -> Void = { [self] in
            while !state.withLock({ $0.isOver }) { try await closers.wait { [self] in !state.withLock { $0.isOver } } }
        }
        do { try await TimeLimit.run(limit, link.time, waits) } catch {
            finish(nil)
            activity?.cancel()
        }
    }

    func cancel() {
        let activity = state.withLock { $0.activity }
        finish(ErrandError(.cancelled, "the socket was cancelled"))
        activity?.cancel()
    }

    func reconnect() {
        guard options.reconnection.isEnabled else { return }
        let (link, cancelWork) = state.withLock { state in
            state.wantsReconnect = state.link != nil || state.cancelWork != nil
            return (state.link.take(), state.cancelWork)
        }
        link?.abort()
        cancelWork?()
    }

    // MARK: The activity's side

    var isOver: Bool { state.withLock { $0.isOver } }
    var isClosing: Bool { state.withLock { $0.isClosing } }
    var isReconnecting: Bool { state.withLock { $0.wantsReconnect } }

    func takeReconnect() -> Bool {
        state.withLock { state in
            defer { state.wantsReconnect = false }
            return state.wantsReconnect
        }
    }

    /// Registers a wait that `reconnect` ends.
    func keep(_ cancel: (@Sendable () -> Void)?) {
        let old = state.withLock { state in
            defer { state.cancelWork = cancel }
            return state.cancelWork
        }
        withExtendedLifetime(old) {}
    }

    func change(to new: WebSocketState) { if !isOver { broadcaster.send(new) } }

    /// Whether no connection came before.
    func isFirst() -> Bool { state.withLock { !$0.wasOpen } }

    /// There is a connection: messages may be sent.
    func connected(_ link: SocketLink) {
        let old = state.withLock { state in
            defer {
                (state.link, state.response, state.wasOpen) = (link, link.response, true)
                state.connections += 1
            }
            return (state.link, state.response)
        }
        withExtendedLifetime(old) {}
        broadcaster.send(.open(link.response))
        senders.resume()
    }

    /// The connection has ended.
    func disconnected() {
        let old = state.withLock { $0.link.take() }
        withExtendedLifetime(old) {}
    }

    /// Hands a message over, once there is room for it. Without a reader messages wait.
    func deliver(_ message: WebSocketMessage, _ coder: SocketCoder) async throws {
        while true {
            let isDone = state.withLock { state in
                if state.isClosing || state.isOver { return true }
                guard hasRoom(state) else { return false }
                state.received.append(Received(message: message, coder: coder))
                state.receivedBytes += message.count
                return true
            }
            if isDone { return reader.resume() }
            try await room.wait { [self] in state.withLock { !hasRoom($0) && !$0.isClosing && !$0.isOver } }
        }
    }

    private func hasRoom(_ state: borrowing State) -> Bool {
        state.received.isEmpty
            || state.received.count < options.maximumQueue && state.receivedBytes < options.maximumQueueBytes
    }

    func add(bytes: Int) -> Int64 {
        state.withLock { state in
            state.bytes += Int64(bytes)
            return state.bytes
        }
    }

    /// Ends the socket for its user; the first end counts.
    func finish(_ failure: (any Error)?) {
        let (isFirst, link, activity) = state.withLock { state in
            defer {
                if !state.isOver { (state.isOver, state.failure) = (true, failure) }
            }
            return (!state.isOver, state.link.take(), state.activity.take())
        }
        link?.abort()
        withExtendedLifetime(activity) {}
        guard isFirst else { return }
        broadcaster.send(.closed(failure))
        broadcaster.finish()
        for line in [senders, reader, room, closers] { line.resume() }
    }
}
