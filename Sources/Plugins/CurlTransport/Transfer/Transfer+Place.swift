#if os(Linux)
// The socket of a transfer, as far as libcurl reports it: all of it under the loop's driver lock.
extension Transfer {
    struct Place {
        /// Whether libcurl watches a socket for it.
        var isWatched = false
        /// Whether it may be on a kept connection whose socket libcurl has not named for it.
        var isUnknown = false
        /// The last socket that libcurl ceased to watch for it.
        var left: Int32?
    }

    /// libcurl watches a socket for it, or no longer does.
    func noteSocket(_ descriptor: Int32, isWatched: Bool) {
        place.isWatched = isWatched
        if isWatched { return setUnplaced(false) }
        place.left = descriptor
        // After a response that refuses the request libcurl still waits for the source of its body, which may never
        // deliver anything.
        if head.status >= 300 { abandonUpload() }
    }

    /// libcurl has a connection for it: the one that was made for it and is watched already, or a kept one. For a
    /// second attempt libcurl may have changed the connection silently.
    func noteConnection() {
        if !place.isWatched || attempts.sentBefore >= 0 { setUnplaced(true) }
    }

    /// libcurl no longer knows the transfer.
    func leaveSocket(isQuiet: Bool) {
        setUnplaced(false)
        if let left = place.left { loop.sockets.leave(left, by: self, isQuiet: isQuiet, at: loop.now) }
        place = Place()
    }

    func setUnplaced(_ isUnknown: Bool) {
        if isUnknown == place.isUnknown { return }
        place.isUnknown = isUnknown
        if isUnknown { loop.sockets.addUnplaced() } else { loop.sockets.removeUnplaced() }
    }
}
#endif
