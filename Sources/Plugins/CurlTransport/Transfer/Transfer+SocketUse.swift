#if os(Linux) || os(Android)
import CErrandCurl

// A transfer's socket, as libcurl reports it, under the loop's driver lock.
extension Transfer {
    struct SocketUse {
        var isWatched = false
        /// Whether the socket of its kept connection may be unknown.
        var isUnknown = false
        /// The last socket libcurl stopped watching.
        var left: Int32?
    }

    /// Returns -1 on failure, or if the transfer must not connect.
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

    /// Returns `false` to prevent the request. libcurl has a connection for it, from this local port.
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
            // A socket to be read is connected, unless it is a name lookup's.
            if !isRequested, events & ERRAND_CURL_POLL_IN != 0 { limitConnecting(rounds.establish()) }
            return setSocketUnknown(false)
        }
        if !isRequested { limitConnecting(rounds.endLookup(at: loop.now)) }
        if isDialing {
            hasUnwatchedSocket = true
            // Must happen before the descriptor is reused.
            loop.sockets.forgetClosed(dialed)
        }
        socketUse.left = descriptor
        // libcurl still waits for the body's source, which may never deliver a byte.
        if head.status >= 300 { abandonUpload() }
    }

    /// libcurl uses a new, watched connection, a kept one or, for a second attempt, silently another one.
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
#endif
