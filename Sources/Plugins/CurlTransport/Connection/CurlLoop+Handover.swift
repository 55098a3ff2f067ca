#if os(Linux) || os(Android)
import CErrandCurl

// Handing a connection over from libcurl, under the driver lock.
extension CurlLoop {
    /// Takes over the socket, because libcurl adds nothing without TLS and keeps about 15 KB per connection.
    func take(_ connection: CurlConnection) {
        // epoll registered the socket itself, and the descriptor will refer to another one.
        if connections.watched.removeValue(forKey: connection.descriptor) != nil {
            errand_poll_remove(sockets.poll, connection.descriptor)
        }
        let taken = errand_socket_take(connection.descriptor)
        if taken < 0 { return }
        connection.descriptor = taken
        leaveLibrary(connection)
    }

    func leaveLibrary(_ connection: CurlConnection) {
        if let handle = connection.handle.take() {
            if let multi = connections.multi, connection.phase != .new { multi.remove(handle.easy) }
            // A pool isn't freed while its handle uses it, and a caller may hold the handle for a moment.
            handle.easy.clear(ERRAND_CURLOPT_SHARE)
        }
        connection.pool = nil
    }
}
#endif
