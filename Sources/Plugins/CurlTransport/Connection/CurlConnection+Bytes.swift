#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandSupport

// The bytes of a connection that stands, under the driver lock: by libcurl, or over a socket that it has let go of.
extension CurlConnection {
    /// Whether libcurl has let go of the socket.
    var isTaken: Bool { handle == nil && descriptor >= 0 }

    /// Sends bytes from an offset on without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func send(_ bytes: Data, from offset: Int, _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.send(bytes, from: offset, &count) }
        return coded(SystemCalls.send(bytes, from: offset, on: descriptor, &count), CurlCode.sendError)
    }

    /// Receives without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func receive(into room: inout [UInt8], _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.receive(into: &room, &count) }
        return coded(SystemCalls.receive(into: &room, from: descriptor, &count), CurlCode.receiveError)
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
            let failure = handle.failure(code, loop.proxy)
            text = failure.detail.isEmpty ? failure.summary : failure.detail
        } else {
            text = systemErrorText(systemError)
        }
        return ErrandError(.connectionLost, text, underlying: CurlError(code: code, message: text))
    }
}
#endif
