#if os(Linux) || os(Android)
import CErrandCurl

// What libcurl says after a transfer.
extension EasyHandle {
    /// The failure of a transfer that ended with this code.
    func failure(_ code: Int32, _ proxy: ProxyChoice) -> CurlFailure {
        let detail = easy.errorDescription
        return CurlFailure(
            code: code, summary: CurlLibrary.description(of: code), detail: detail,
            systemError: Int32(truncatingIfNeeded: easy.long(ERRAND_CURLINFO_OS_ERRNO)),
            verification: easy.long(ERRAND_CURLINFO_SSL_VERIFYRESULT),
            proxyStatus: easy.long(ERRAND_CURLINFO_HTTP_CONNECTCODE),
            isProxyUnreached: code == CurlCode.couldNotConnect && proxy.isNamed(in: detail))
    }

    /// Whether libcurl has described a failure.
    var hasErrorText: Bool { easy.hasErrorDescription }

    /// The sent bytes of the request, over all connections.
    var sentBytes: Int64 {
        Int64(easy.long(ERRAND_CURLINFO_REQUEST_SIZE))
            + max(0, easy.offset(ERRAND_CURLINFO_SIZE_UPLOAD_T))
    }

    /// Whether the connection had carried another request before.
    var isReused: Bool { easy.long(ERRAND_CURLINFO_NUM_CONNECTS) == 0 }

    /// The `Content-Length` of the response; nil if it has none.
    var announcedLength: Int64? {
        let length = easy.offset(ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length < 0 ? nil : length
    }
}
#endif
