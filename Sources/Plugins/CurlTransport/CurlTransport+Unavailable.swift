#if canImport(Darwin)
public import Errand

/// The transport over libcurl, for Linux and Android; on Apple's platforms use `.urlSession` of `ErrandURLSessionTransport`.
public enum CurlTransport: Transport {
    /// Never called: there is no value of this type.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        switch self {}
    }
}

extension Transport where Self == CurlTransport {
    /// Unavailable on Apple's platforms.
    @available(*, unavailable, message: "use .urlSession of ErrandURLSessionTransport on Apple's platforms")
    public static var curl: CurlTransport { fatalError("unavailable") }

    /// Unavailable on Apple's platforms.
    @available(*, unavailable, message: "use .urlSession(_:) of ErrandURLSessionTransport on Apple's platforms")
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { fatalError("unavailable") }
}
#endif
