import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

// Pings and pongs, in both directions (RFC 6455, sections 5.5.2 and 5.5.3).
extension SocketLink {
    /// The bytes that wait to be sent beyond which a ping is not responded to at once.
    private static let maximumPending = 64 << 10

    /// Responds to a ping; to the last one as soon as the server takes in what it gets (RFC 6455, section 5.5.3).
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

    /// Sends a ping with a number; returns when the pong with that number is there, or with a later one.
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
                throw WebSocketError(.timedOut, "the server has not responded to a ping within \(duration: limit)")
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

    /// Pings a silent server, and fails where it stays silent; returns when to look again.
    func beat(_ interval: Duration) async throws -> ContinuousClock.Instant {
        let lastReceived = state.withLock { $0.isHeld ? nil : $0.lastReceived }
        guard let lastReceived else { return time.instant(after: interval) }
        let due = lastReceived.advanced(by: interval.bounded)
        if due > time.now { return due }
        // The time of the server begins when the system has the ping; until then it takes in what is before it.
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
        abort(WebSocketError(.timedOut, "the server has not responded to a ping within \(duration: limit)"))
        return time.instant(after: interval)
    }
}
