#if os(Linux) || os(Android)
import CErrandCurl
import Errand

// A request's HTTP/2 stream, and whether the server hasn't processed it, which libcurl only reports in its log. Runs
// under the loop's driver lock.
extension Transfer {
    struct Stream {
        var connection: SocketTable.Hold?
        /// 0 until it is assigned.
        var number: UInt32 = 0
        var isEnding = false
        /// Whether the server hasn't processed the request (RFC 9113, section 8.7).
        var isRefused = false
    }

    func noteRequest(on connection: SocketTable.Hold?) {
        stream = Stream(connection: connection)
        if mayHaveStream { handle?.watchStreams() }
    }

    /// Whether the connection may turn out to use HTTP/2.
    private var mayHaveStream: Bool { sharesConnection && !keepsToHTTP1 && origin?.speaksHTTP1 != true }

    func noteStream(_ event: Int32, _ number: UInt32) {
        switch event {
        case ERRAND_STREAM_OPENED: stream.number = number
        case ERRAND_STREAM_GOAWAY:
            if stream.number > 0, let connection = stream.connection { loop.refuse(beyond: number, on: connection) }
        case ERRAND_STREAM_REFUSED: stream.isRefused = true
        // libcurl also logs this for later attempts on the handle, regardless of the earlier result.
        case ERRAND_STREAM_REPEATED: if attempts.onHandle == 1 { stream.isRefused = true }
        case ERRAND_STREAM_LEFT: (stream.connection, stream.number) = (nil, 0)
        default: break
        }
    }
}

extension CurlLoop {
    /// Marks the streams beyond `last` as refused, because the server won't process them.
    fileprivate func refuse(beyond last: UInt32, on connection: SocketTable.Hold) {
        for transfer in active where transfer.stream.connection == connection {
            transfer.stream.isEnding = true
            if transfer.stream.number > last { transfer.stream.isRefused = true }
        }
    }
}
#endif
