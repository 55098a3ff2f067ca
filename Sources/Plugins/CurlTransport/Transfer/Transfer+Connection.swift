#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

// The connection, as libcurl reports it, under the loop's driver lock.
extension Transfer {
    /// Notes that the transfer doesn't wait for a free connection anymore. With `isNew`, a connection is being made,
    /// and waiting for another one to be made counts.
    func noteStart(isNew: Bool) {
        if hasStarted { return }
        let now = Nanoseconds.now
        hasStarted = true
        if let begun = rounds.begun {
            (lastActivity, connecting) = (begun, begun)
            return loop.expectDeadline(of: self)
        }
        queued = .nanoseconds(Int64(now - created))
        var start = now
        if isNew, sharesConnection, let origin { start = loop.sockets.waitStart(origin, since: begun, now: now) }
        (lastActivity, connecting) = (start, start)
        if usesLoopClock { return loop.expectDeadline(of: self) }
        if !isNew || !sharesConnection { report(.activity) }
        startWatch()
        loop.expectDeadline(of: self)
    }

    /// Returns `false` if too many cancelled name lookups are still running.
    func mayLookUp() -> Bool {
        if isParked { return false }
        isResolving = true
        limitConnecting(rounds.beginLookup(at: loop.now))
        noteStart(isNew: true)
        if loop.parked < CurlLoop.maximumParked || HostName.isAddress(request.url.host ?? "") { return true }
        return fail(
            .nameLookupFailed, "\(loop.parked) cancelled name lookups are still running, so no new one starts")
    }

    /// Changes libcurl's time to connect, unless it is `nil`.
    func limitConnecting(_ limit: UInt64?) {
        if let limit { handle?.setConnectLimit(limit) }
    }

    /// Notes that the transfer has its connection, and is about to send its head.
    func noteRequest() {
        noteStart(isNew: false)
        isDialing = false
        if !isRequested { noteActivity() }
        isRequested = true
        times.restart(at: Nanoseconds.now, hasBody: hasReadBody)
        loop.expectDeadline(of: self)
    }

    var hasReadBody: Bool {
        switch upload {
        case .none: false
        case .data(let data): data.count > Self.copiedBodyBytes
        case .stream: true
        }
    }

    func noteActivity() {
        lastActivity = loop.now
        if !usesLoopClock { report(.activity) }
    }
}
#endif
