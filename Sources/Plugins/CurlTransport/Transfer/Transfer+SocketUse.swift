#if os(Linux) || os(Android)
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

    /// libcurl watches a socket for it, or no longer does.
    func noteSocket(_ descriptor: Int32, isWatched: Bool) {
        socketUse.isWatched = isWatched
        if isWatched { return setSocketUnknown(false) }
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
