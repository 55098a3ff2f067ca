#if os(Linux) || os(Android)
import CErrandCurl

// A transfer's socket, as libcurl reports it, under the loop's driver lock.
extension Transfer {
    struct SocketUse {
        /// Whether libcurl watches a socket for the transfer.
        var isWatched = false
        /// Whether the transfer may use a kept connection with an unknown socket.
        var isUnknown = false
        /// The last socket libcurl stopped watching for the transfer.
        var left: Int32?
    }

    /// Returns a socket for libcurl, or -1 if that fails or the transfer must not connect.
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

    /// Notes that libcurl has a connection, from this local port, and is about to send the request. Returning `false`
    /// prevents that.
    func mayBeginRequest(fromPort port: Int32) -> Bool {
        if isParked { return false }
        isResolving = false
        noteConnection()
        let connection = loop.sockets.hold(port: UInt16(clamping: port), by: self)
        guard beginAttempt(on: connection) else { return false }
        noteRequest(on: connection)
        return true
    }

    /// Notes that libcurl starts or stops watching a socket.
    func noteSocket(_ descriptor: Int32, _ events: Int32) {
        socketUse.isWatched = events != ERRAND_CURL_POLL_REMOVE
        if socketUse.isWatched {
            hasUnwatchedSocket = false
            // A socket to be read is connected, unless it belongs to a name lookup.
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
        // After a response that rejects the request, libcurl still waits for the body's source, which may never deliver
        // a byte.
        if head.status >= 300 { abandonUpload() }
    }

    /// Notes that libcurl has a connection, either new and already watched, or kept. For a second attempt, libcurl may
    /// have silently changed the connection.
    func noteConnection() {
        if !socketUse.isWatched || attempts.sentBefore >= 0 { setSocketUnknown(true) }
    }

    /// Notes that libcurl has removed the transfer.
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
