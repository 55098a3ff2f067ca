package import Errand
package import ErrandResumableUpload

/// Uploads a file. An interruption loses only the bytes that were in transit.
package struct SendFile: UploadRequest {
    package typealias Output = HTTPResponse
    package var path: String
    package var method: HTTPMethod
    package var headers: HTTPHeaders
    package var body: RequestBody
    package var uploadMetadata: [String: String]
    package var uploadOptions: UploadOptions?
    package var timeout: Duration?

    /// - Parameter path: a path below the agent's base URL, or an absolute URL.
    package init(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, headers: HTTPHeaders = [:],
        metadata: [String: String] = [:], options: UploadOptions? = nil, timeout: Duration? = nil
    ) {
        (self.path, self.method, self.headers, self.body) = (path, method, headers, body)
        (uploadMetadata, uploadOptions, self.timeout) = (metadata, options, timeout)
    }
}
