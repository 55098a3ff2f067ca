import Errand
import ErrandEssentials
import Synchronization

/// One connection of a socket, from its handshake to its end.
final class SocketLink: Sendable {
    private struct State {
        /// When bytes were last received, or could be.
        var lastReceived: ContinuousClock.Instant
        /// Whether received messages wait for their reader, so that none are taken in.
        var isHeld = false
        /// The content of the last ping that was not responded to, since the server does not take in what it gets.
        var pendingPong: Data?
        /// The close frame of the client was sent.
        var isClosing = false
        var failure: (any Error)?
    }

    let coder: SocketCoder
    let response: HTTPResponse
    private let connection: any ByteConnection
    private let rest: Data
    private let deflate: DeflateAgreement?
    private let options: SocketOptions
    private let activity: Activity
    let time: any TimeSource
    private let writer: Mutex<FrameWriter>
    private let state: Mutex<State>

    /// The bytes that wait to be sent beyond which a ping is not responded to at once.
    private static let maximumPending = 64 << 10

    init(_ opened: SocketOpening.Opened, _ response: HTTPResponse, _ options: SocketOptions, _ activity: Activity) {
        var head = response
        head.body = .empty
        (self.response, self.options, self.activity) = (head, options, activity)
        (connection, rest, deflate) = (opened.connection, opened.rest, opened.agreement.deflate)
        time = opened.exchange.time
        coder = SocketCoder(head, opened.exchange)
        writer = Mutex(FrameWriter(deflate, minimumBytes: options.compression.minimumBytes))
        state = Mutex(State(lastReceived: time.now))
    }

    // MARK: Sending

    /// The message of a value. Throws `encodingFailed`.
    func encoded(_ encode: (SocketCoder) throws -> WebSocketMessage) throws -> WebSocketMessage {
        do { return try encode(coder) } catch let error as WebSocketError { throw error } catch {
            throw WebSocketError(.encodingFailed, "the message cannot be encoded", underlying: error)
        }
    }

    /// Sends a message, in the order of the calls; returns when the system has it.
    func send(_ message: WebSocketMessage) async throws {
        try writer.withLock { writer in
            if isClosing { throw failure ?? WebSocketError(.closed, "the socket was closed before the message") }
            // Under the lock: deflated messages build on each other.
            connection.enqueue(try writer.frame(message))
        }
        activity.report { message.report(.sent, upTo: $0) }
        do { try await connection.flush() } catch {
            throw failure ?? error
        }
        respondToPing()
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }
    private var failure: (any Error)? { state.withLock { $0.failure } }

    /// Sends a close frame, unless one was sent.
    func sendClose(_ code: CloseCode, _ reason: String = "") {
        writer.withLock { writer in
            let isFirst = state.withLock { state in
                defer { state.isClosing = true }
                return !state.isClosing
            }
            if isFirst { connection.enqueue(writer.close(code, reason)) }
        }
        connection.push()
    }

    /// Ends it at once: the server is told so, if it takes that in.
    func abort() {
        sendClose(.goingAway)
        connection.close()
    }

    /// Ends it with an error, which its reader and its senders receive.
    func fail(_ error: any Error) {
        state.withLock { $0.failure = $0.failure ?? error }
        connection.close()
    }

    private func sendControl(_ opcode: Opcode, _ content: Data = Data()) {
        writer.withLock { writer in
            if !isClosing { connection.enqueue(writer.control(opcode, content)) }
        }
        connection.push()
    }

    /// Responds to the last ping as soon as the server takes in what it gets (RFC 6455, section 5.5.3).
    private func respondToPing(_ content: Data? = nil) {
        let isFree = connection.pendingBytes <= Self.maximumPending
        let pendingPong = state.withLock { state -> Data? in
            guard let pendingPong = content ?? state.pendingPong else { return nil }
            state.pendingPong = isFree ? nil : pendingPong
            return isFree ? pendingPong : nil
        }
        if let pendingPong { sendControl(.pong, pendingPong) }
    }

    // MARK: Receiving

    /// Delivers the messages until the server closes the connection; returns with its code, and throws a failure.
    func run(_ deliver: (WebSocketMessage) async throws -> Void, count: (Int) -> Void) async throws -> WebSocketError? {
        let heartbeat = options.pingInterval.map { interval in
            Task { [weak self, time] in
                var next = time.instant(after: interval)
                while true {
                    try await time.sleep(until: next)
                    guard let instant = try await self?.beat(interval) else { return }
                    next = instant
                }
            }
        }
        defer { heartbeat?.cancel() }
        do { return try await read(deliver, count) } catch {
            let failure = self.failure ?? error
            if let code = (failure as? WebSocketError)?.closeCode {
                sendClose(code)
                await waitForEnd()
            }
            abort()
            throw failure
        }
    }

    private func read(
        _ deliver: (WebSocketMessage) async throws -> Void, _ count: (Int) -> Void
    ) async throws -> WebSocketError? {
        var reader = MessageReader(limit: max(0, options.maximumMessageBytes), deflate)
        reader.push(rest)
        while true {
            while let event = try Self.next(from: &reader) {
                switch event {
                case .message(let message):
                    if isClosing { continue }
                    activity.report { message.report(.received, upTo: $0) }
                    state.withLock { $0.isHeld = true }
                    try await deliver(message)
                    let now = time.now
                    state.withLock { ($0.isHeld, $0.lastReceived) = (false, now) }
                case .ping(let content): respondToPing(content)
                case .pong: break
                case .close(let code, let reason): return await closed(code, reason)
                }
            }
            guard let bytes = try await connection.receive() else {
                throw ErrandError(.connectionLost, "the connection was closed without a close frame")
            }
            let now = time.now
            state.withLock { $0.lastReceived = now }
            count(bytes.count)
            reader.push(bytes)
        }
    }

    /// Not inlined: what it needs for a moment would be a part of the memory of each socket that waits.
    @inline(never) private static func next(from reader: inout MessageReader) throws -> MessageReader.Event? {
        try reader.next()
    }

    /// Responds to a close frame, and gives the server time to close the connection (RFC 6455, section 7.1.1). Returns
    /// the error that the code stands for.
    @inline(never) private func closed(_ code: CloseCode?, _ reason: String) async -> WebSocketError? {
        let isOurs = isClosing
        var error = WebSocketError(
            .closed, "the server has closed the socket with \(code ?? .noStatusReceived)", closeCode: code)
        error.reason = reason
        // That of messages on their way, and of later ones.
        state.withLock { [error] in $0.failure = $0.failure ?? error }
        sendClose(code ?? .noStatusReceived)
        await waitForEnd()
        connection.close()
        return isOurs || code == nil || code == .normalClosure ? nil : error
    }

    /// The close frames have gone out: the server closes the connection first, and is left if it does not.
    private func waitForEnd() async {
        let connection = connection
        try? await TimeLimit.run(options.closeTimeout, time) {
            try await connection.flush()
            while try await connection.receive() != nil {}
        }
    }

    // MARK: Liveness

    /// Pings a silent server, and fails where it stays silent; returns when to look again.
    private func beat(_ interval: Duration) async throws -> ContinuousClock.Instant {
        let lastReceived = state.withLock { $0.isHeld ? nil : $0.lastReceived }
        guard let lastReceived else { return time.instant(after: interval) }
        let due = lastReceived.advanced(by: interval.bounded)
        if due > time.now { return due }
        sendControl(.ping)
        try await time.sleep(until: time.instant(after: options.pongTimeout))
        let isSilent = state.withLock { !$0.isHeld && $0.lastReceived == lastReceived }
        if isSilent {
            fail(
                WebSocketError(
                    .timedOut, "the server has not responded to a ping within \(duration: options.pongTimeout)"))
        }
        return time.instant(after: interval)
    }
}
