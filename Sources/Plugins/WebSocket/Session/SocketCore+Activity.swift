import Errand
import ErrandSupport
import Synchronization

// What the activity of a socket does with it.
extension SocketCore {
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

    /// The end is the last state.
    func change(to new: WebSocketState) {
        broadcaster.update { state -> Void? in
            if case .closed = state { return nil }
            state = new
        }
    }

    /// Whether no connection came before.
    func isFirst() -> Bool { state.withLock { !$0.wasOpen } }

    /// There is a connection: messages may be sent.
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

    /// The server has closed a connection.
    func keep(_ closure: SocketLink.Closure) { state.withLock { $0.closure = closure } }

    /// The connection has ended.
    func disconnected() {
        let (old, wasOpen) = state.withLock { ($0.link.take(), $0.wasOpen) }
        withExtendedLifetime(old) {}
        // Before the first connection any number waits.
        if wasOpen { turns.limit(to: maximumWaiting) }
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
}
