import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

final class SocketLink: Sendable {
    struct State {
        /// When bytes were last received, or when reading last resumed after a pause.
        var lastReceived: ContinuousClock.Instant
        /// Whether reading is paused because a received message waits for the socket's reader.
        var isHeld = false
        /// The content of the last unanswered ping, if the server isn't reading its input.
        var pendingPong: Data?
        var added = 0
        /// The number of the app's last ping, and of the last ping that the server answered.
        var lastPing: UInt64 = 0
        var lastPong: UInt64 = 0
        var isClosing = false
        var failure: (any Error)?
    }

    let coder: WebSocketCoder
    let response: HTTPResponse
    let connection: any ByteConnection
    private let deflate: DeflateAgreement?
    let options: WebSocketOptions
    private let activity: Activity
    private let pin: UserPin
    let alarm: SocketAlarm
    let time: any TimeSource
    private let writer: Mutex<FrameWriter>
    let state: Mutex<State>
    let pongs = WaitingLine()

    init(_ opened: OpenedConnection, response: HTTPResponse, core: SocketCore, activity: Activity) {
        var head = response
        (head.body, head.connection) = (.empty, nil)
        let options = core.options
        (self.response, self.options, self.activity) = (head, options, activity)
        (pin, alarm) = (core.pin, core.alarm)
        (connection, deflate) = (opened, opened.agreement.deflate)
        time = opened.exchange.time
        coder = WebSocketCoder(head, opened.exchange)
        writer = Mutex(FrameWriter(deflate, minimumBytes: options.compression.minimumBytes))
        state = Mutex(State(lastReceived: time.now))
    }

    // MARK: Sending

    func encoded(_ encode: (WebSocketCoder) throws -> WebSocketMessage) throws -> WebSocketMessage {
        do { return try encode(coder) } catch let error as WebSocketError { throw error } catch {
            throw WebSocketError(
                .encodingFailed, "the message cannot be encoded: \(error.briefDescription)", underlying: error)
        }
    }

    /// Adds a message to the connection. Returns false if the connection doesn't accept messages anymore. If the
    /// session's user has changed, ends the connection and throws.
    func add(_ message: WebSocketMessage, deflates: Bool = true) throws -> Bool {
        try checkUser()
        let isAdded = try writer.withLock { writer in
            if isEnding { return false }
            // A compressed message can refer to earlier messages, so frames must be added in the order of their
            // compression. The lock is therefore held until the frame is added.
            add(try writer.frame(message, deflates: deflates))
            return true
        }
        if isAdded { activity.report { message.report(.sent, upTo: $0) } }
        return isAdded
    }

    /// Returns when the system has accepted all added bytes.
    func flush() async throws {
        do { try await connection.flush() } catch {
            throw failure ?? error
        }
    }

    private func checkUser() throws {
        do { try pin.check() } catch {
            abort(error)
            throw error
        }
    }

    var end: any Error { failure ?? WebSocketError(.closed, "the socket was closed before the message was sent") }
    private var isClosing: Bool { state.withLock { $0.isClosing } }
    var isEnding: Bool { state.withLock { $0.isClosing || $0.failure != nil } }
    var failure: (any Error)? { state.withLock { $0.failure } }

    private func add(_ frame: Data) {
        state.withLock { $0.added += frame.count }
        connection.enqueue(frame)
    }

    /// The number of bytes that the system has accepted. It can be too high while other bytes are being added.
    var taken: Int {
        let pending = connection.pendingBytes
        return state.withLock { $0.added } - pending
    }

    func sendClose(_ code: CloseCode, _ reason: String = "") {
        writer.withLock { writer in
            let isFirst = state.withLock { state in
                defer { state.isClosing = true }
                return !state.isClosing
            }
            if isFirst { add(writer.close(code, reason)) }
        }
        connection.push()
    }

    /// Ends the connection without waiting for the server to read the close frame. Readers and senders get `error`,
    /// unless an earlier error has already ended the connection.
    func abort(_ error: any Error) {
        _ = kept(error)
        sendClose(.goingAway)
        connection.close()
    }

    private func kept(_ error: any Error) -> any Error {
        let failure = state.withLock { state in
            let failure = state.failure ?? error
            state.failure = failure
            return failure
        }
        pongs.resume()
        return failure
    }

    func sendControl(_ opcode: Opcode, _ content: Data = Data()) {
        writer.withLock { writer in
            if !isClosing { add(writer.control(opcode, content)) }
        }
        connection.push()
    }

    // MARK: Receiving

    struct Closure: Sendable {
        var code: CloseCode
        var reason: String
        var failure: WebSocketError?
    }

    /// Receives messages. Returns when the server has closed the connection.
    func run(_ deliver: (WebSocketMessage) async throws -> Void, count: (Int) -> Void) async throws -> Closure {
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
            let failure = kept(error)
            if let code = (failure as? WebSocketError)?.closeCode {
                sendClose(code)
                await waitForEnd()
            }
            abort(failure)
            throw failure
        }
    }

    private func read(
        _ deliver: (WebSocketMessage) async throws -> Void, _ count: (Int) -> Void
    ) async throws -> Closure {
        var reader = MessageReader(limit: max(0, options.maximumMessageBytes), deflate)
        while true {
            while let event = try Self.next(from: &reader) {
                switch event {
                case .message(let message):
                    if isClosing { continue }
                    try pin.check()
                    activity.report { message.report(.received, upTo: $0) }
                    state.withLock { $0.isHeld = true }
                    try await deliver(message)
                    let now = time.now
                    state.withLock { ($0.isHeld, $0.lastReceived) = (false, now) }
                case .ping(let content): respond(toPing: content)
                case .pong(let content): received(pong: content)
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

    /// Returns the next event. It isn't inlined, because its temporary values would then take memory in every waiting
    /// socket.
    @inline(never) private static func next(from reader: inout MessageReader) throws -> MessageReader.Event? {
        try reader.next()
    }

    /// Waits for the server to close the connection (RFC 6455, section 7.1.1).
    @inline(never) private func closed(_ code: CloseCode?, _ reason: String) async -> Closure {
        let isOurs = isClosing
        var error = WebSocketError(
            .closed, "the server closed the socket with \(code ?? .noStatusReceived)", closeCode: code)
        error.reason = reason
        _ = kept(error)
        sendClose(code ?? .noStatusReceived)
        await waitForEnd()
        connection.close()
        let isNormal = isOurs || code == nil || code == .normalClosure
        return Closure(code: code ?? .noStatusReceived, reason: reason, failure: isNormal ? nil : error)
    }

    private func waitForEnd() async {
        let connection = connection
        try? await TimeLimit.run(options.closeTimeout, time: time) {
            try await connection.flush()
            while try await connection.receive() != nil {}
        }
    }
}

// Pings and pongs (RFC 6455, sections 5.5.2 and 5.5.3).
extension SocketLink {
    /// If more than this number of bytes wait to be sent, a ping isn't answered immediately.
    private static let maximumPending = 64 << 10

    /// Responds to a ping. If the server isn't reading its input, responds later, and only to the last ping (RFC 6455,
    /// section 5.5.3).
    func respond(toPing content: Data) {
        if connection.pendingBytes <= Self.maximumPending { return sendControl(.pong, content) }
        let isFirst = state.withLock { state in
            defer { state.pendingPong = content }
            return state.pendingPong == nil
        }
        if isFirst { Task { await respondLater() } }
    }

    private func respondLater() async {
        try? await connection.flush()
        let content = state.withLock { $0.pendingPong.take() }
        if let content { sendControl(.pong, content) }
    }

    func ping() async throws {
        let number = state.withLock { state in
            state.lastPing += 1
            return state.lastPing
        }
        if isEnding { throw end }
        var content: [UInt8] = []
        content.append(bigEndian: number)
        sendControl(.ping, Data(content))
        let limit = options.pongTimeout
        let end = time.instant(after: limit)
        let reminder = alarm.set(at: end, time) { [pongs] in pongs.resume() }
        defer { alarm.unset(reminder) }
        let isWaiting = { [self] in state.withLock { $0.lastPong < number && $0.failure == nil } }
        while isWaiting() {
            if time.now >= end {
                throw WebSocketError(.timedOut, "the server didn't respond to a ping within \(duration: limit)")
            }
            try await pongs.wait { isWaiting() && time.now < end }
        }
        if let failure { throw failure }
    }

    func received(pong content: Data) {
        guard content.count == MemoryLayout<UInt64>.size else { return }
        let number = content.reduce(0) { $0 << 8 | UInt64($1) }
        state.withLock { if number <= $0.lastPing { $0.lastPong = max($0.lastPong, number) } }
        pongs.resume()
    }

    /// Sends a ping if the server has been silent for the interval. Ends the connection if the server stays silent.
    /// Returns when to check again.
    func beat(_ interval: Duration) async throws -> ContinuousClock.Instant {
        let lastReceived = state.withLock { $0.isHeld ? nil : $0.lastReceived }
        guard let lastReceived else { return time.instant(after: interval) }
        let due = lastReceived.advanced(by: interval.bounded)
        if due > time.now { return due }
        // A ping may wait in the queue after other bytes. As long as the system accepts bytes, the server is still
        // reading, so the wait for the pong starts again.
        var (waits, before) = (connection.pendingBytes > 0, taken)
        sendControl(.ping)
        let end = state.withLock { $0.added }
        while true {
            try await time.sleep(until: time.instant(after: options.pongTimeout))
            let isSilent = state.withLock { !$0.isHeld && $0.lastReceived == lastReceived }
            if !isSilent { return time.instant(after: interval) }
            let now = taken
            guard waits, now > before else { break }
            (waits, before) = (now < end, now)
        }
        let limit = options.pongTimeout
        abort(WebSocketError(.timedOut, "the server didn't respond to a ping within \(duration: limit)"))
        return time.instant(after: interval)
    }
}
