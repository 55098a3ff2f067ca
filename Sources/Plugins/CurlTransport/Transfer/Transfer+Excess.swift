#if os(Linux) || os(Android)
import Errand

// Bytes behind the end of a response on a kept connection in HTTP/1, which would be taken for the next response: all of
// it under the loop's driver lock.
extension Transfer {
    /// Whether nothing came on a connection since its last response; otherwise the request goes to another one.
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

    /// The first line of a response has come. It belongs to none where nothing was read of the connection since the
    /// request was sent; false then, and the request goes out again if it may.
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
