package import Errand
package import ErrandResumableUpload

/// A file for a server, sent so that an interruption costs what was on the way and no more.
package struct SendFile: UploadRequest {
    package typealias Output = HTTPResponse
    package var path: String
    package var method: HTTPMethod
    package var headers: HTTPHeaders
    package var body: RequestBody
    package var uploadMetadata: [String: String]
    package var uploadOptions: UploadOptions?
    package var timeout: Duration?

    /// - Parameter path: the path below the agent's base URL, or a whole URL.
    package init(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, headers: HTTPHeaders = [:],
        metadata: [String: String] = [:], options: UploadOptions? = nil, timeout: Duration? = nil
    ) {
        (self.path, self.method, self.headers, self.body) = (path, method, headers, body)
        (uploadMetadata, uploadOptions, self.timeout) = (metadata, options, timeout)
    }
}
