#if os(Linux)
import CErrandCurl
import Errand
import ErrandEssentials

/// One of libcurl's easy handles with the memory that libcurl borrows while it works; used again for many transfers.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    let loop: Unowned<CurlLoop>
    let errorText: UnsafeMutablePointer<CChar>
    private var headerList = HeaderList()
    /// Whether nothing is set but what every transfer needs.
    var isClean = false
    /// Whether libcurl holds the request back while the first connection to its host is being made.
    var waitsForFirstConnection = false

    private static let errorTextSize = 256

    init?(_ loop: CurlLoop) {
        guard let raw = errand_curl_easy_make() else { return nil }
        self.raw = raw
        self.loop = Unowned(loop)
        errorText = .allocate(capacity: Self.errorTextSize)
        errorText.initialize(repeating: 0, count: Self.errorTextSize)
    }

    deinit {
        errand_curl_easy_free(raw)
        errorText.deallocate()
    }

    /// Sets everything for one transfer. Throws `invalidRequest` for what would not be sent as one request.
    func prepare(for transfer: Transfer) throws(ErrandError) {
        if !isClean {
            errand_curl_easy_reset(raw)
            try setCommon(loop.value)
            isClean = true
        }
        errorText[0] = 0
        let request = transfer.request
        try HostCheck.check(request.url)
        let user = Unmanaged.passUnretained(transfer).toOpaque()
        set(ERRAND_CURLOPT_PRIVATE, user)
        set(ERRAND_CURLOPT_WRITEDATA, user)
        set(ERRAND_CURLOPT_HEADERDATA, user)
        set(ERRAND_CURLOPT_OPENSOCKETDATA, user)
        set(ERRAND_CURLOPT_RESOLVER_START_DATA, user)
        set(ERRAND_CURLOPT_PREREQDATA, user)
        let url = request.url.absoluteString
        try set(text: ERRAND_CURLOPT_URL, url)
        try setOrigin(request.url, isSecure: url.utf8.dropFirst(4).first.map { $0 | 0x20 } == UInt8(ascii: "s"))
        if transfer.attempts.needsFreshConnection {
            set(ERRAND_CURLOPT_FRESH_CONNECT, 1)
            isClean = false
        }
        if transfer.loop.speaksHTTP2, transfer.loop.library.avoids(.http2Upload), !transfer.upload.isNone {
            set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_1_1)
            set(ERRAND_CURLOPT_PIPEWAIT, 0)
            isClean = false
        }
        var extra: [StaticString] = []
        if request.method == .head {
            set(ERRAND_CURLOPT_NOBODY, 1)
            isClean = false
        }
        switch transfer.upload {
        case .none:
            if request.method != .get && request.method != .head { try setMethod(request.method) }
        case .data(let data) where data.count <= Transfer.copiedBodyBytes:
            if !request.headers.contains(.contentType) { extra.append("Content-Type:") }
            set(offset: ERRAND_CURLOPT_POSTFIELDSIZE_LARGE, Int64(data.count))
            data.withUnsafeBytes { bytes in
                // A pointer even without a byte: none would ask libcurl to read the body by callback.
                withUnsafeBytes(of: 0) { set(ERRAND_CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? $0.baseAddress) }
            }
            try setMethod(request.method)
        case .data, .stream:
            if !request.headers.contains("Expect") { extra.append("Expect:") }
            set(ERRAND_CURLOPT_UPLOAD, 1)
            set(offset: ERRAND_CURLOPT_INFILESIZE_LARGE, transfer.upload.length ?? -1)
            set(ERRAND_CURLOPT_READDATA, user)
            set(ERRAND_CURLOPT_SEEKDATA, user)
            try setMethod(request.method)
        }
        set(ERRAND_CURLOPT_BUFFERSIZE, transfer.isStreamed ? 256 << 10 : 16 << 10)
        set(
            ERRAND_CURLOPT_HTTPHEADER,
            try headerList.fill(request.headers, extra, transfer.decodes ? ContentCoding.accepted : nil))
    }

    private func setMethod(_ method: HTTPMethod) throws(ErrandError) {
        isClean = false
        try set(text: ERRAND_CURLOPT_CUSTOMREQUEST, method.rawValue)
    }

    func set(_ option: Int32, _ value: Int) { errand_curl_set_long(raw, option, value) }
    func set(_ option: Int32, _ value: UnsafeRawPointer?) { errand_curl_set_pointer(raw, option, value) }
    private func set(offset option: Int32, _ value: Int64) { errand_curl_set_offset(raw, option, value) }

    private func set(text option: Int32, _ text: String) throws(ErrandError) {
        if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw ErrandError(.invalidRequest, "the URL or the method has a control character")
        }
        let code = text.withCString { errand_curl_set_pointer(raw, option, $0) }
        if code != 0 { throw Failure(code: code, summary: String(cString: errand_curl_describe(code))).error }
    }

    // MARK: After the transfer

    func failure(_ code: Int32) -> Failure {
        Failure(
            code: code, summary: String(cString: errand_curl_describe(code)), detail: String(cString: errorText),
            systemError: Int32(truncatingIfNeeded: errand_curl_get_long(raw, ERRAND_CURLINFO_OS_ERRNO)),
            verification: errand_curl_get_long(raw, ERRAND_CURLINFO_SSL_VERIFYRESULT),
            proxyStatus: errand_curl_get_long(raw, ERRAND_CURLINFO_HTTP_CONNECTCODE))
    }

    /// What went out of the request, over all connections.
    var sentBytes: Int64 {
        Int64(errand_curl_get_long(raw, ERRAND_CURLINFO_REQUEST_SIZE))
            + max(0, errand_curl_get_offset(raw, ERRAND_CURLINFO_SIZE_UPLOAD_T))
    }

    /// Whether the connection had carried another request.
    var isReused: Bool { errand_curl_get_long(raw, ERRAND_CURLINFO_NUM_CONNECTS) == 0 }

    var announcedLength: Int64? {
        let length = errand_curl_get_offset(raw, ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length < 0 ? nil : length
    }
}

/// A reference that is neither counted nor checked, to an object that owns the one that holds it.
struct Unowned<Object: AnyObject> {
    private let reference: Unmanaged<Object>
    init(_ object: Object) { reference = .passUnretained(object) }
    var value: Object { reference.takeUnretainedValue() }
}
#endif
