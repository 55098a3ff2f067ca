#if os(Linux) || os(Android)
import CErrandCurl

// What libcurl has of a connection, and when it has that no longer; under the driver lock.
extension CurlLoop {
    /// Takes the socket over from libcurl, which adds nothing to one without TLS and keeps some 15 KB for it.
    func take(_ connection: CurlConnection) {
        // It is registered by the socket itself, not by the descriptor, which names another one afterwards.
        if connections.watched.removeValue(forKey: connection.descriptor) != nil {
            errand_poll_remove(sockets.poll, connection.descriptor)
        }
        let taken = errand_socket_take(connection.descriptor)
        if taken < 0 { return }
        connection.descriptor = taken
        leaveLibrary(connection)
    }

    /// Frees what libcurl has of a connection.
    func leaveLibrary(_ connection: CurlConnection) {
        if let handle = connection.handle.take() {
            if let multi = connections.multi, connection.phase != .new { multi.remove(handle.easy) }
            // A pool that a handle uses is not freed, and a caller may hold the handle for a moment.
            handle.easy.clear(ERRAND_CURLOPT_SHARE)
        }
        connection.pool = nil
    }
}
#endif
