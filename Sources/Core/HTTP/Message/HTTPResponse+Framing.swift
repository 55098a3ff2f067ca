import ErrandEssentials
import ErrandMessageSyntax

extension HTTPResponse {
    /// Checks the body against the length that the head announces (RFC 9110, section 8.6). Throws `invalidResponse`, or
    /// the error of a body of another length.
    package func checkFraming(of method: HTTPMethod) throws {
        let lengths = headers.values(of: .contentLength)
        if lengths.isEmpty { return }
        let hasNoBody = method == .head || status == 204 || status == 304
        if hasNoBody || headers.contains(.transferEncoding) { return }
        guard let length = ContentLength.parse(lengths) else {
            body.cancel()
            throw ErrandError(.invalidResponse, "the Content-Length of the response is no number")
        }
        guard let data = body.data else {
            body.reader?.expect(length)
            return
        }
        if Int64(data.count) != length { throw ErrandError.wrongLength(expected: length, received: Int64(data.count)) }
    }
}
