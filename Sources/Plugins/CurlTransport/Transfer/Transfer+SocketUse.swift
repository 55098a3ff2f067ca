#if os(Linux) || os(Android)
import CErrandCurl

// The socket of a transfer, as far as libcurl reports it: all of it under the loop's driver lock.
extension Transfer {
    struct SocketUse {
        /// Whether libcurl watches a socket for it.
        var isWatched = false
        /// Whether it may be on a kept connection whose socket libcurl has not named for it.
        var isUnknown = false
        /// The last socket that libcurl ceased to watch for it.
        var left: Int32?
    }

    /// A socket for a connection of libcurl's; -1 if there is none, or it is to have none.
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

    /// libcurl has a connection for it, from this local port, and is about to send the request; false prevents that.
    func mayBeginRequest(fromPort port: Int32) -> Bool {
        if isParked { return false }
        isResolving = false
        noteConnection()
        let connection = loop.sockets.hold(port: UInt16(clamping: port), by: self)
        guard beginAttempt(on: connection) else { return false }
        noteRequest(on: connection)
        return true
    }

    /// libcurl watches a socket for it, or no longer does.
    func noteSocket(_ descriptor: Int32, _ events: Int32) {
        socketUse.isWatched = events != ERRAND_CURL_POLL_REMOVE
        if socketUse.isWatched {
            hasUnwatchedSocket = false
            // A socket that is to be read is connected, unless it is that of a name lookup.
            if !isRequested, events & ERRAND_CURL_POLL_IN != 0 { limitConnecting(rounds.establish()) }
            return setSocketUnknown(false)
        }
        if !isRequested { limitConnecting(rounds.endLookup(at: loop.now)) }
        if isDialing {
            hasUnwatchedSocket = true
            // Before the descriptor is another socket's.
            loop.sockets.forgetClosed(dialed)
        }
        socketUse.left = descriptor
        // After a response that refuses the request libcurl still waits for the source of its body, which may never
        // deliver anything.
        if head.status >= 300 { abandonUpload() }
    }

    /// libcurl has a connection for it: the one that was made for it and is watched already, or a kept one. For a
    /// second attempt libcurl may have changed the connection silently.
    func noteConnection() {
        if !socketUse.isWatched || attempts.sentBefore >= 0 { setSocketUnknown(true) }
    }

    /// libcurl no longer knows the transfer.
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
