import Errand
import ErrandCollections
import ErrandEssentials
import ErrandStates
import ErrandSupport
import Synchronization

final class SocketCore: Sendable {
    struct Received: Sendable {
        let message: WebSocketMessage
        let coder: WebSocketCoder
    }

    typealias Greeting = @Sendable (SocketLink, _ isFirst: Bool) async throws -> Void

    struct State {
        var isStarted = false
        var isClaimed = false
        var isClosing = false
        var isOver = false
        var failure: (any Error)?
        var wantsReconnect = false
        var activity: Activity?
        var cancelWork: (@Sendable () -> Void)?
        var link: SocketLink?
        /// Whether the connection has stopped accepting messages. It may not have ended yet.
        var isLeft = false
        var wasOpen = false
        var response: HTTPResponse?
        var closure: SocketLink.Closure?
        var received = FIFOQueue<Received>()
        var receivedBytes = 0
        var deliveries = 0
        var bytes: Int64 = 0
        var elements = 0
        var connections = 0

        var open: SocketLink? { isLeft ? nil : link }
    }

    let options: WebSocketOptions
    let greeting: Greeting
    let clock = SocketClock()
    let alarm = SocketAlarm()
    /// Makes a connection fail if its user isn't the user of the first connection.
    let pin: UserPin
    private let begin: @Sendable (SocketCore) -> Activity
    let state = Mutex(State())
    let broadcaster = StateBroadcaster(WebSocketState.idle, maximumWaiting: 100)
    /// `senders` and `openers` contain tasks that wait for a connection. `reader` waits for a message, and `room` for
    /// space in the queue of received messages.
    let senders = WaitingLine()
    /// Keeps the messages of concurrent calls in order. The first message in it may wait for a connection.
    let turns = SendingLine()
    let openers = WaitingLine()
    let reader = WaitingLine()
    let room = WaitingLine()
    private let closers = WaitingLine()

    init<R: WebSocketRequest>(
        _ request: R, on agent: some Agent, options callOptions: CallOptions, greeting: @escaping Greeting
    ) {
        let options = request.webSocketOptions
        (self.options, self.greeting) = (options, greeting)
        pin = callOptions.userPin ?? UserPin()
        begin = { core in
            var whole = callOptions
            whole.label = callOptions.label ?? request.label ?? "\(type(of: request))"
            whole.tags = request.tags.merging(callOptions.tags)
            whole.tags[LiveStream.self] = true
            whole.accessories.append(SocketEnd(core: core))
            let handle = agent.start(.stream, options: whole, completion: nil) { activity in
                let scoped = activity.agent(on: agent)
                let session = SocketSession(core: core, activity: activity) {
                    // The filters in the call's options already apply to the whole activity, so each connection gets
                    // only its own.
                    let one = CallOptions(
                        filters: [OpeningFilter(core: core)], accessories: callOptions.accessories,
                        label: callOptions.label
                    ).pinned(to: core.pin)
                    let response = try await scoped.send(request, options: one).value
                    guard let opened = response.connection as? OpenedConnection else {
                        throw WebSocketError(
                            .handshakeFailed,
                            "a filter responded to the handshake itself, so the socket isn't open: \(response)",
                            response: response)
                    }
                    return SocketLink(opened, response: response, core: core, activity: activity)
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
    var closure: SocketLink.Closure? { state.withLock { $0.closure } }
    var count: StreamCount {
        state.withLock { StreamCount("messages", elements: $0.elements, bytes: $0.bytes, connections: $0.connections) }
    }

    // MARK: For the user

    func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

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

    func opened() async throws { _ = try await link(isSending: false) }

    func link(isSending: Bool = true) async throws -> SocketLink {
        start()
        while true {
            let (link, limit) = try state.withLock { state in
                if state.isOver || state.isClosing {
                    throw state.failure ?? WebSocketError(.closed, "the socket is closed")
                }
                return (state.open, isSending && state.wasOpen ? maximumWaiting : .max)
            }
            if let link { return link }
            do {
                try await (isSending ? senders : openers).wait(upTo: limit) { [self] in
                    state.withLock { $0.open == nil && !$0.isOver && !$0.isClosing }
                }
            } catch is WaitingLine.Full { throw full(limit) }
        }
    }

    /// - Parameter add: Adds a message to the connection. Returns false if the connection doesn't accept messages
    ///   anymore.
    func inTurn(_ add: (SocketLink) throws -> Bool) async throws -> SocketLink {
        start()
        let limit = maximumWaiting
        do {
            try await turns.enter { [self] in state.withLock { $0.open == nil && $0.wasOpen } ? limit : .max }
        } catch is WaitingLine.Full { throw full(limit) }
        defer { turns.leave() }
        while true {
            let link = try await link()
            if try add(link) { return link }
            try leave(link)
        }
    }

    private func full(_ limit: Int) -> WebSocketError {
        WebSocketError(.notConnected, "not connected, and \(limit) messages are already waiting")
    }

    /// Stops using a connection, so messages wait for the next connection. Throws if there won't be another connection.
    func leave(_ link: SocketLink) throws {
        guard options.reconnection.isEnabled else { throw link.end }
        state.withLock { if $0.link === link { $0.isLeft = true } }
        turns.limit(to: maximumWaiting)
    }

    /// Stops using a connection that failed while sending. The connection's reader may not have noticed the failure
    /// yet.
    func leaveFailed(_ link: SocketLink, _ error: any Error) {
        if !error.isCancellation { try? leave(link) }
    }

    var maximumWaiting: Int {
        switch options.whileDisconnected {
        case .wait(let maximum): max(0, maximum)
        case .refuse: 0
        }
    }

    func next(within limit: Duration? = nil) async throws -> Received? {
        start()
        let (time, resume) = (clock.time, { @Sendable [reader] in reader.resume() })
        let end = limit.map { time.instant(after: $0) }
        var reminder: UInt64?
        defer { if let reminder { alarm.unset(reminder) } }
        while true {
            let (received, isOver) = try state.withLock { state -> (Received?, Bool) in
                if let first = state.received.popFirst() {
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
            if let end, let limit {
                guard time.now < end else {
                    throw WebSocketError(.timedOut, "no message arrived within \(duration: limit)")
                }
                if reminder == nil { reminder = alarm.set(at: end, time, resume) }
            }
            try await reader.wait { [self] in
                state.withLock { $0.received.isEmpty && !$0.isOver } && end.map { time.now < $0 } ?? true
            }
        }
    }

    func close(_ code: CloseCode, _ reason: String) async {
        let (link, activity) = state.withLock { state in
            state.isClosing = true
            return (state.link, state.activity)
        }
        for line in [senders, openers, room] { line.resume() }
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
        do { try await TimeLimit.run(limit, time: link.time, waits) } catch {
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
            state.wantsReconnect = state.isStarted
            return (state.link.take(), state.cancelWork)
        }
        link?.abort(ErrandError(.connectionLost, "the socket is reconnecting"))
        cancelWork?()
    }

    func finish(_ failure: (any Error)?) {
        let (isFirst, link, activity) = state.withLock { state in
            defer {
                if !state.isOver { (state.isOver, state.failure) = (true, failure) }
            }
            return (!state.isOver, state.link.take(), state.activity.take())
        }
        link?.abort(failure ?? WebSocketError(.closed, "the socket was closed before the message was sent"))
        withExtendedLifetime(activity) {}
        guard isFirst else { return }
        broadcaster.send(.closed(failure))
        broadcaster.finish()
        alarm.stop()
        for line in [senders, openers, reader, room, closers] { line.resume() }
    }
}

extension SocketCore {
    var isOver: Bool { state.withLock { $0.isOver } }
    var isClosing: Bool { state.withLock { $0.isClosing } }
    var isReconnecting: Bool { state.withLock { $0.wantsReconnect } }
    var deliveries: Int { state.withLock { $0.deliveries } }

    func takeReconnect() -> Bool {
        state.withLock { state in
            defer { state.wantsReconnect = false }
            return state.wantsReconnect
        }
    }

    func keep(_ cancel: (@Sendable () -> Void)?) {
        let old = state.withLock { state in
            defer { state.cancelWork = cancel }
            return state.cancelWork
        }
        withExtendedLifetime(old) {}
    }

    func change(to new: WebSocketState) {
        broadcaster.update { state -> Void? in
            if case .closed = state { return nil }
            state = new
        }
    }

    func isFirst() -> Bool { state.withLock { !$0.wasOpen } }

    func connected(_ link: SocketLink) {
        let old = state.withLock { state in
            defer {
                if !state.isOver { (state.link, state.isLeft) = (link, false) }
                (state.response, state.wasOpen, state.wantsReconnect) = (link.response, true, false)
                state.connections += 1
            }
            return (state.link, state.response)
        }
        withExtendedLifetime(old) {}
        change(to: .open(link.response))
        for line in [senders, openers] { line.resume() }
    }

    func keep(_ closure: SocketLink.Closure) { state.withLock { $0.closure = closure } }

    func disconnected() {
        let (old, wasOpen) = state.withLock { ($0.link.take(), $0.wasOpen) }
        withExtendedLifetime(old) {}
        // Before the first connection, the number of waiting messages is unlimited.
        if wasOpen { turns.limit(to: maximumWaiting) }
    }

    func deliver(_ message: WebSocketMessage, _ coder: WebSocketCoder) async throws {
        while true {
            let isDone = state.withLock { state in
                if state.isClosing || state.isOver { return true }
                guard hasRoom(state) else { return false }
                state.received.append(Received(message: message, coder: coder))
                state.receivedBytes += message.count
                state.deliveries += 1
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
}
