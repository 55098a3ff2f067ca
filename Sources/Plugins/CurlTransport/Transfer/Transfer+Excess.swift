#if os(Linux) || os(Android)
import Errand

// Bytes after the end of a response on a kept HTTP/1 connection, which would be taken for the next response. Runs under
// the loop's driver lock.
extension Transfer {
    /// Returns `false` if bytes arrived since the last response, so the request must move to another connection.
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

    /// Checks that the connection was read since the request was sent. Otherwise, the line belongs to no response:
    /// returns `false`, and the request is sent again if possible.
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
