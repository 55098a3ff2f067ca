#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandSupport

// Sends and receives through libcurl, or over a socket it has handed over. Runs under the driver lock.
extension CurlConnection {
    var isTaken: Bool { handle == nil && descriptor >= 0 }

    /// Doesn't wait. Returns 0 and sets `count`, or returns a libcurl code.
    func send(_ bytes: Data, from offset: Int, _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.send(bytes, from: offset, &count) }
        return coded(SystemCalls.send(bytes, from: offset, on: descriptor, &count), CurlCode.sendError)
    }

    /// Doesn't wait. Returns 0 and sets `count`, or returns a libcurl code.
    func receive(into room: inout [UInt8], _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.receive(into: &room, &count) }
        return coded(SystemCalls.receive(into: &room, from: descriptor, &count), CurlCode.receiveError)
    }

    /// Keeps the system error for its text.
    private func coded(_ number: Int32, _ code: Int32) -> Int32 {
        if number == 0 { return 0 }
        if number == EAGAIN { return ERRAND_CURL_AGAIN }
        systemError = number
        return code
    }

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
