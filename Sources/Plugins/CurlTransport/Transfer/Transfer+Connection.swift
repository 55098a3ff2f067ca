#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

// Handles the connection that libcurl reports, under the loop's driver lock.
extension Transfer {
    /// Records that the transfer no longer waits for a free connection. The time that it waited for another transfer's
    /// new connection counts toward the connect timeout.
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

    /// Records that libcurl is about to look up a name. Returns `false` to prevent that.
    func mayLookUp() -> Bool {
        if isParked { return false }
        isResolving = true
        limitConnecting(rounds.beginLookup(at: loop.now))
        noteStart(isNew: true)
        if loop.parked < CurlLoop.maximumParked || HostName.isAddress(request.url.host ?? "") { return true }
        return fail(
            .nameLookupFailed, "\(loop.parked) cancelled name lookups are still running, so a new lookup can't start")
    }

    func limitConnecting(_ limit: UInt64?) {
        if let limit { handle?.setConnectLimit(limit) }
    }

    /// Records that the transfer has its connection and is about to send its head.
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

// Handles the sockets that libcurl reports, under the loop's driver lock.
extension Transfer {
    struct SocketUse {
        var isWatched = false
        /// Whether the transfer may use a kept connection whose socket is unknown.
        var isUnknown = false
        /// The last socket that libcurl stopped watching.
        var left: Int32?
    }

    /// Opens a socket for libcurl. Returns -1 on failure, or if the transfer must not connect.
    func openSocket(_ address: errand_curl_sockaddr) -> Int32 {
        isResolving = false
        if isParked { return -1 }
        let mayDial = mayDialAgain()
        if mayDial { noteStart(isNew: true) }
        let descriptor = mayDial ? loop.sockets.open(address, for: origin) : -1
        if mayDial, descriptor < 0, DescriptorShortage.isReported { attempts.lacksDescriptor = true }
        loop.noteDialing(self, descriptor)
        return descriptor
    }

    /// Records that libcurl has a connection for the request. Returns `false` to prevent the request.
    func mayBeginRequest(fromPort port: Int32) -> Bool {
        if isParked { return false }
        isResolving = false
        noteConnection()
        let connection = loop.sockets.hold(port: UInt16(clamping: port), by: self)
        guard beginAttempt(on: connection) else { return false }
        noteRequest(on: connection)
        return true
    }

    func noteSocket(_ descriptor: Int32, _ events: Int32) {
        socketUse.isWatched = events != ERRAND_CURL_POLL_REMOVE
        if socketUse.isWatched {
            hasUnwatchedSocket = false
            // Unless the socket belongs to a name lookup, it's connected if libcurl wants to read from it.
            if !isRequested, events & ERRAND_CURL_POLL_IN != 0 { limitConnecting(rounds.establish()) }
            return setSocketUnknown(false)
        }
        if !isRequested { limitConnecting(rounds.endLookup(at: loop.now)) }
        if isDialing {
            hasUnwatchedSocket = true
            loop.sockets.forgetClosed(dialed)
        }
        socketUse.left = descriptor
        // libcurl no longer uses the socket, but still waits for the source of the request's body.
        if head.status >= 300 { abandonUpload() }
    }

    /// Marks the transfer's socket as unknown if libcurl doesn't report it. libcurl reports only the socket of a new
    /// connection, and not in a second attempt.
    func noteConnection() {
        if !socketUse.isWatched || attempts.sentBefore >= 0 { setSocketUnknown(true) }
    }

    func leaveSocket(isQuiet: Bool) {
        setSocketUnknown(false)
        if let left = socketUse.left { loop.sockets.leave(left, by: self, isQuiet: isQuiet, at: loop.now) }
        socketUse = SocketUse()
    }

    func setSocketUnknown(_ isUnknown: Bool) {
        if isUnknown == socketUse.isUnknown { return }
        socketUse.isUnknown = isUnknown
        if isUnknown { loop.sockets.addUnknownSocket() } else { loop.sockets.removeUnknownSocket() }
    }
}

// Follows the HTTP/2 stream, under the loop's driver lock. Only libcurl's log shows whether the server has refused it.
extension Transfer {
    struct Stream {
        var connection: SocketTable.Hold?
        /// The stream's number, or 0 until libcurl assigns a number.
        var number: UInt32 = 0
        var isEnding = false
        /// Whether the server hasn't processed the request (RFC 9113, section 8.7).
        var isRefused = false
    }

    func noteRequest(on connection: SocketTable.Hold?) {
        stream = Stream(connection: connection)
        if mayHaveStream { handle?.watchStreams() }
    }

    private var mayHaveStream: Bool { sharesConnection && !keepsToHTTP1 && origin?.speaksHTTP1 != true }

    func noteStream(_ event: Int32, _ number: UInt32) {
        switch event {
        case ERRAND_STREAM_OPENED: stream.number = number
        case ERRAND_STREAM_GOAWAY:
            if stream.number > 0, let connection = stream.connection { loop.refuse(beyond: number, on: connection) }
        case ERRAND_STREAM_REFUSED: stream.isRefused = true
        // In later attempts, libcurl logs this even if the stream wasn't refused.
        case ERRAND_STREAM_REPEATED: if attempts.onHandle == 1 { stream.isRefused = true }
        case ERRAND_STREAM_LEFT: (stream.connection, stream.number) = (nil, 0)
        default: break
        }
    }
}

extension CurlLoop {
    /// Records that the server won't process the streams after `last`.
    fileprivate func refuse(beyond last: UInt32, on connection: SocketTable.Hold) {
        for transfer in active where transfer.stream.connection == connection {
            transfer.stream.isEnding = true
            if transfer.stream.number > last { transfer.stream.isRefused = true }
        }
    }
}

// Detects bytes after the end of a response on a kept HTTP/1 connection, under the loop's driver lock. libcurl would
// take them for the next response.
extension Transfer {
    /// Returns whether a request may use a connection. Returns `false` if bytes have arrived since the last response.
    func mayUse(_ connection: SocketTable.Hold) -> Bool {
        attempts.takenBefore = nil
        guard loop.sockets.isQuiet(connection.descriptor) else { return true }
        if loop.sockets.isSpoiled(connection.descriptor) {
            guard head.received == 0 else { return fail(.connectionLost, CurlFailure.excess) }
            attempts.isToRestart = true
            return false
        }
        if target.isSecure, loop.library.avoids(.unseenExcess) {
            attempts.takenBefore = loop.sockets.takenBytes(of: connection.descriptor)
        }
        return true
    }

    /// Checks the first line of a response. Returns `false` if the connection hasn't been read since the request was
    /// sent, because the line then belongs to an earlier response.
    func checkFirstLine() -> Bool {
        guard let before = attempts.takenBefore, let connection = stream.connection else { return true }
        attempts.takenBefore = nil
        if loop.sockets.takenBytes(of: connection.descriptor) != before { return true }
        guard attempts.count < maximumAttempts, !upload.isBegunStream else {
            return fail(.connectionLost, CurlFailure.excess)
        }
        attempts.isToRestart = true
        return false
    }
}
#endif
