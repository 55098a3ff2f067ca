#if os(Linux) || os(Android)
import CErrandCurl
import Errand

// The HTTP/2 stream of a request, and whether its server says that it has not processed it: libcurl reports both only
// in its log. All of it under the loop's driver lock.
extension Transfer {
    struct Stream {
        /// The connection of the current attempt, if it is known for certain.
        var connection: SocketTable.Hold?
        /// Its number on the connection; 0 before it has one.
        var number: UInt32 = 0
        /// A GOAWAY was received on its connection.
        var isEnding = false
        /// The server says that it has not processed the request (RFC 9113, section 8.7).
        var isRefused = false
    }

    /// The request is about to be sent on a connection.
    func noteRequest(on connection: SocketTable.Hold?) {
        stream = Stream(connection: connection)
        if mayHaveStream { handle?.watchStreams() }
    }

    /// Whether its connection may turn out to speak HTTP/2.
    private var mayHaveStream: Bool { sharesConnection && !keepsToHTTP1 && origin?.speaksHTTP1 != true }

    func noteStream(_ event: Int32, _ number: UInt32) {
        switch event {
        case ERRAND_STREAM_OPENED: stream.number = number
        case ERRAND_STREAM_GOAWAY:
            if stream.number > 0, let connection = stream.connection { loop.refuse(beyond: number, on: connection) }
        case ERRAND_STREAM_REFUSED: stream.isRefused = true
        // libcurl also says it of a later attempt on the handle, whatever its result was.
        case ERRAND_STREAM_REPEATED: if attempts.onHandle == 1 { stream.isRefused = true }
        case ERRAND_STREAM_LEFT: (stream.connection, stream.number) = (nil, 0)
        default: break
        }
    }
}

extension CurlLoop {
    /// A server says that it has processed no stream of a connection beyond that number, and will process none.
    fileprivate func refuse(beyond last: UInt32, on connection: SocketTable.Hold) {
        for transfer in active where transfer.stream.connection == connection {
            transfer.stream.isEnding = true
            if transfer.stream.number > last { transfer.stream.isRefused = true }
        }
    }
}
#endif
