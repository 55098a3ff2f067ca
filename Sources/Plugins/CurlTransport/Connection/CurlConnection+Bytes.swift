#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

// The bytes of a connection that stands, under the driver lock: by libcurl, or over a socket that it has let go of.
extension CurlConnection {
    /// Whether libcurl has let go of the socket.
    var isTaken: Bool { handle == nil && descriptor >= 0 }

    /// Sends without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func send(_ bytes: UnsafeRawBufferPointer, _ count: inout Int) -> Int32 {
        if let handle { return errand_curl_send(handle.raw, bytes.baseAddress, bytes.count, &count) }
        return coded(errand_socket_send(descriptor, bytes.baseAddress, bytes.count, &count), CurlCode.sendError)
    }

    /// Receives without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func receive(_ room: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Int32 {
        if let handle { return errand_curl_receive(handle.raw, room.baseAddress, room.count, &count) }
        return coded(errand_socket_receive(descriptor, room.baseAddress, room.count, &count), CurlCode.receiveError)
    }

    /// libcurl's code for an error of the system's, which is kept for its words.
    private func coded(_ number: Int32, _ code: Int32) -> Int32 {
        if number == 0 { return 0 }
        if number == EAGAIN { return ERRAND_CURL_AGAIN }
        systemError = number
        return code
    }

    /// The failure of a connection that stood.
    func lost(_ code: Int32) -> ErrandError {
        let text: String
        if let handle {
            let failure = handle.failure(code)
            text = failure.detail.isEmpty ? failure.summary : failure.detail
        } else {
            text = String(cString: strerror(systemError))
        }
        return ErrandError(.connectionLost, text, underlying: CurlError(code: code, message: text))
    }
}
#endif
