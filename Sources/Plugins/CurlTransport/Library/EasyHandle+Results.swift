#if os(Linux) || os(Android)
import CErrandCurl

// What libcurl says after a transfer.
extension EasyHandle {
    /// The failure of a transfer that ended with this code.
    func failure(_ code: Int32) -> CurlFailure {
        let detail = String(cString: errorText)
        return CurlFailure(
            code: code, summary: String(cString: errand_curl_describe(code)), detail: detail,
            systemError: Int32(truncatingIfNeeded: errand_curl_get_long(raw, ERRAND_CURLINFO_OS_ERRNO)),
            verification: errand_curl_get_long(raw, ERRAND_CURLINFO_SSL_VERIFYRESULT),
            proxyStatus: errand_curl_get_long(raw, ERRAND_CURLINFO_HTTP_CONNECTCODE),
            isProxyUnreached: code == CurlCode.couldNotConnect && loop.value.proxy.isNamed(in: detail))
    }

    /// Whether libcurl has described a failure.
    var hasErrorText: Bool { errorText[0] != 0 }

    /// The sent bytes of the request, over all connections.
    var sentBytes: Int64 {
        Int64(errand_curl_get_long(raw, ERRAND_CURLINFO_REQUEST_SIZE))
            + max(0, errand_curl_get_offset(raw, ERRAND_CURLINFO_SIZE_UPLOAD_T))
    }

    /// Whether the connection had carried another request before.
    var isReused: Bool { errand_curl_get_long(raw, ERRAND_CURLINFO_NUM_CONNECTS) == 0 }

    /// The `Content-Length` of the response; nil if it has none.
    var announcedLength: Int64? {
        let length = errand_curl_get_offset(raw, ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length < 0 ? nil : length
    }
}
#endif
