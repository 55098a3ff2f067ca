import Errand

/// The fields that a download reads and sends.
extension HTTPHeaderName {
    static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    static let acceptRanges: HTTPHeaderName = "Accept-Ranges"
    static let connection: HTTPHeaderName = "Connection"
    static let contentDigest: HTTPHeaderName = "Content-Digest"
    static let contentDisposition: HTTPHeaderName = "Content-Disposition"
    static let contentRange: HTTPHeaderName = "Content-Range"
    static let date: HTTPHeaderName = "Date"
    static let entityTag: HTTPHeaderName = "ETag"
    static let ifRange: HTTPHeaderName = "If-Range"
    static let lastModified: HTTPHeaderName = "Last-Modified"
    static let range: HTTPHeaderName = "Range"
    static let reprDigest: HTTPHeaderName = "Repr-Digest"
    static let retryAfter: HTTPHeaderName = "Retry-After"
    static let wantReprDigest: HTTPHeaderName = "Want-Repr-Digest"
}
