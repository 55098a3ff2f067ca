#if os(Linux) || os(Android)
import CErrandCurl

// libcurl's information after a transfer.
extension EasyHandle {
    func failure(_ code: Int32, _ proxy: ProxyChoice) -> CurlFailure {
        let detail = easy.errorDescription
        return CurlFailure(
            code: code, summary: CurlLibrary.description(of: code), detail: detail,
            systemError: Int32(truncatingIfNeeded: easy.long(ERRAND_CURLINFO_OS_ERRNO)),
            verification: easy.long(ERRAND_CURLINFO_SSL_VERIFYRESULT),
            proxyStatus: easy.long(ERRAND_CURLINFO_HTTP_CONNECTCODE),
            isProxyUnreached: code == CurlCode.couldNotConnect && proxy.isNamed(in: detail))
    }

    var hasErrorText: Bool { easy.hasErrorDescription }

    /// Over all connections.
    var sentBytes: Int64 {
        Int64(easy.long(ERRAND_CURLINFO_REQUEST_SIZE))
            + max(0, easy.offset(ERRAND_CURLINFO_SIZE_UPLOAD_T))
    }

    /// The connection had carried another request.
    var isReused: Bool { easy.long(ERRAND_CURLINFO_NUM_CONNECTS) == 0 }

    /// The response's `Content-Length`.
    var announcedLength: Int64? {
        let length = easy.offset(ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length < 0 ? nil : length
    }
}
#endif
