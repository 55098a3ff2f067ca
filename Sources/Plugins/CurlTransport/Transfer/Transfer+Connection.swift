#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

// The connection, as libcurl reports it, under the loop's driver lock.
extension Transfer {
    /// Notes that the transfer has stopped waiting for a free connection. With `isNew`, a connection is being made, and
    /// the time spent waiting for another connection to be made counts.
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

    /// Notes that a name lookup begins. Returns `false` if too many cancelled lookups are still running.
    func mayLookUp() -> Bool {
        if isParked { return false }
        isResolving = true
        limitConnecting(rounds.beginLookup(at: loop.now))
        noteStart(isNew: true)
        if loop.parked < CurlLoop.maximumParked || HostName.isAddress(request.url.host ?? "") { return true }
        return fail(
            .nameLookupFailed, "\(loop.parked) cancelled name lookups still run, and no other one is begun")
    }

    /// Changes libcurl's time to connect, unless the limit is `nil`.
    func limitConnecting(_ limit: UInt64?) {
        if let limit { handle?.setConnectLimit(limit) }
    }

    /// Notes that the transfer has its connection, and its head is about to be sent.
    func noteRequest() {
        noteStart(isNew: false)
        isDialing = false
        if !isRequested { noteActivity() }
        isRequested = true
        times.restart(at: Nanoseconds.now, hasBody: hasReadBody)
        loop.expectDeadline(of: self)
    }

    /// Whether libcurl reads the body piece by piece.
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
