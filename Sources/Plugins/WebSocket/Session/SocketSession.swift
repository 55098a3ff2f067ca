import Errand
import ErrandBackoff
import ErrandEssentials

/// Runs a socket's connections one after another.
struct SocketSession: Sendable {
    let core: SocketCore
    let activity: Activity
    let connect: @Sendable () async throws -> SocketLink

    func run() async throws {
        let policy = core.options.reconnection
        var (attempts, failures, silent) = (0, 0, 0)
        while true {
            attempts += 1
            silent += 1
            failures += 1
            core.change(to: .connecting(attempt: attempts))
            var error: any Error
            do {
                let link = try await connect()
                failures = 0
                let (before, opened) = (core.deliveries, core.clock.time.now)
                defer {
                    // The number of failures is reset only by a message. A server that's about to reject the socket
                    // also sends close frames and pings, so they don't prove that the connection works.
                    if core.deliveries > before { silent = 0 }
                    let hasLasted = opened.duration(to: core.clock.time.now) >= policy.backoff.maximumDelay
                    if hasLasted { silent = min(silent, 1) }
                }
                let end = try await use(link)
                // A socket that was cancelled or reconnects hasn't ended normally, even if the server has responded to
                // the close frame.
                if end == nil, !Task.isCancelled, !core.isReconnecting { return core.finish(nil) }
                error = end ?? CancellationError()
            } catch let failure { error = failure }
            core.disconnected()
            if Task.isCancelled { throw CancellationError() }
            if core.isClosing { return core.finish(nil) }
            if core.takeReconnect() { continue }
            if error.isCancellation { throw error }
            guard !core.isOver, policy.permits(error), failures <= policy.maximumFailures else {
                core.finish(error)
                throw error
            }
            try await wait(silent, after: error)
        }
    }

    private func use(_ link: SocketLink) async throws -> WebSocketError? {
        let (core, activity) = (core, activity)
        return try await withTaskCancellationHandler {
            do {
                try await core.greeting(link, core.isFirst())
                core.connected(link)
                let closure = try await link.run { message in
                    try await core.deliver(message, link.coder)
                } count: { bytes in
                    activity.report(.progress(TransferProgress(received: core.add(bytes: bytes))))
                }
                core.keep(closure)
                return closure.failure
            } catch {
                link.abort(error)
                throw error
            }
        } onCancel: {
            link.abort(ErrandError(.cancelled, "the socket was cancelled"))
        }
    }

    private func wait(_ silent: Int, after error: any Error) async throws {
        let time = core.clock.time
        var wait = core.options.reconnection.wait(retry: nil, silent: silent)
        if let asked = (error as? any RequestFailure)?.response?.headers.retryAfter(
            from: time.date, upTo: ReconnectionPolicy.maximumRetryAfter)
        {
            wait = max(wait, asked)
        }
        let instant = time.instant(after: wait)
        core.change(to: .waiting(until: instant, after: error))
        activity.note("stream", "reconnecting in \(duration: wait)")
        let sleep = Task { try await time.sleep(until: instant) }
        core.keep { sleep.cancel() }
        defer { core.keep(nil) }
        if core.isReconnecting { sleep.cancel() }
        do {
            try await withTaskCancellationHandler {
                try await sleep.value
            } onCancel: {
                sleep.cancel()
            }
        } catch {
            guard core.takeReconnect(), !Task.isCancelled else { throw error }
        }
    }
}

/// Ends the socket when its activity ends, because the activity may be cancelled before its body runs.
struct SocketEnd: Accessory {
    let core: SocketCore

    func observesNotes(of kind: ActivityKind) -> Bool { false }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStop(let outcome) = event else { return }
        switch outcome {
        case .success: core.finish(nil)
        case .failure(let error): core.finish(error)
        default: core.finish(ErrandError(.cancelled, "the socket was cancelled"))
        }
    }
}
