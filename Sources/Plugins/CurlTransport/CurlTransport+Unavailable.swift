#if canImport(Darwin)
public import Errand

/// The transport over libcurl, for Linux and Android. On Apple platforms, use `.urlSession` from
/// `ErrandURLSessionTransport`.
public enum CurlTransport: Transport {
    /// Never called, because this type has no values.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        switch self {}
    }
}

extension Transport where Self == CurlTransport {
    /// Unavailable on Apple platforms. Use `.urlSession` from `ErrandURLSessionTransport`.
    @available(*, unavailable, message: "use .urlSession from ErrandURLSessionTransport on Apple platforms")
    public static var curl: CurlTransport { fatalError("unavailable") }

    /// Unavailable on Apple platforms. Use `.urlSession(_:)` from `ErrandURLSessionTransport`.
    @available(*, unavailable, message: "use .urlSession(_:) from ErrandURLSessionTransport on Apple platforms")
    public static func curl(_ configuration: CurlConfiguration) -> CurlTransport { fatalError("unavailable") }
}
#endif
