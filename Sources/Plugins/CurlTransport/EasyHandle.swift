#if os(Linux)
    import CErrandCurl
    import Errand
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// One of libcurl's easy handles with the memory that libcurl borrows while it works; used again for many transfers.
    final class EasyHandle {
        let raw: UnsafeMutableRawPointer
        private let loop: Unowned<CurlLoop>
        private let errorText: UnsafeMutablePointer<CChar>
        private var headerList = HeaderList()
        /// Whether nothing is set but what every transfer needs.
        private var isClean = false

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
            if !isClean { try setCommon() }
            errorText[0] = 0
            let request = transfer.request
            let user = Unmanaged.passUnretained(transfer).toOpaque()
            set(ERRAND_CURLOPT_PRIVATE, user)
            set(ERRAND_CURLOPT_WRITEDATA, user)
            set(ERRAND_CURLOPT_HEADERDATA, user)
            set(ERRAND_CURLOPT_OPENSOCKETDATA, user)
            set(ERRAND_CURLOPT_RESOLVER_START_DATA, user)
            set(ERRAND_CURLOPT_PREREQDATA, user)
            try set(ERRAND_CURLOPT_URL, request.url.absoluteString)
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
            set(ERRAND_CURLOPT_BUFFERSIZE, transfer.isStreamed ? 256 << 10 : 32 << 10)
            set(ERRAND_CURLOPT_HTTPHEADER, try headerList.fill(request.headers, extra))
        }

        private func setMethod(_ method: HTTPMethod) throws(ErrandError) {
            isClean = false
            try set(ERRAND_CURLOPT_CUSTOMREQUEST, method.rawValue)
        }

        /// What is the same for all transfers of a transport.
        private func setCommon() throws(ErrandError) {
            errand_curl_easy_reset(raw)
            let loop = loop.value
            set(ERRAND_CURLOPT_NOSIGNAL, 1)
            set(ERRAND_CURLOPT_PROTOCOLS, ERRAND_CURLPROTO_HTTP_HTTPS)
            set(ERRAND_CURLOPT_HTTP09_ALLOWED, 0)
            set(ERRAND_CURLOPT_PATH_AS_IS, 1)
            set(ERRAND_CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            set(ERRAND_CURLOPT_PIPEWAIT, 1)
            set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_2TLS)
            set(
                ERRAND_CURLOPT_CONNECTTIMEOUT_MS,
                Nanoseconds.milliseconds(Nanoseconds.of(loop.configuration.connectTimeout)))
            if loop.library.leavesLookups { set(ERRAND_CURLOPT_QUICK_EXIT, 1) }
            set(ERRAND_CURLOPT_ERRORBUFFER, errorText)
            set(ERRAND_CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop.sockets).toOpaque())
            errand_curl_set_data_callback(raw, ERRAND_CURLOPT_WRITEFUNCTION, onBody)
            errand_curl_set_data_callback(raw, ERRAND_CURLOPT_HEADERFUNCTION, onHeader)
            errand_curl_set_data_callback(raw, ERRAND_CURLOPT_READFUNCTION, onRead)
            errand_curl_set_seek_callback(raw, onSeek)
            errand_curl_set_socket_callbacks(raw, onOpen, onClose)
            errand_curl_set_start_callbacks(raw, onResolve, onRequest)
            isClean = true
        }

        private func set(_ option: Int32, _ value: Int) { errand_curl_set_long(raw, option, value) }
        private func set(_ option: Int32, _ value: UnsafeRawPointer?) { errand_curl_set_pointer(raw, option, value) }
        private func set(offset option: Int32, _ value: Int64) { errand_curl_set_offset(raw, option, value) }

        private func set(_ option: Int32, _ text: String) throws(ErrandError) {
            if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
                throw ErrandError(.invalidRequest, "the URL or the method has a control character")
            }
            let code = text.withCString { errand_curl_set_pointer(raw, option, $0) }
            if code != 0 {
                throw ErrandError(
                    .transportFailed, "libcurl refused an option: \(String(cString: errand_curl_describe(code)))")
            }
        }

        // MARK: After the transfer

        func failure(_ code: Int32) -> Failure {
            Failure(
                code: code, summary: String(cString: errand_curl_describe(code)), detail: String(cString: errorText),
                systemError: Int32(truncatingIfNeeded: errand_curl_get_long(raw, ERRAND_CURLINFO_OS_ERRNO)),
                verification: errand_curl_get_long(raw, ERRAND_CURLINFO_SSL_VERIFYRESULT))
        }

        var announcedLength: Int64? {
            let length = errand_curl_get_offset(raw, ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            return length < 0 ? nil : length
        }

        func timings(of transfer: Transfer) -> TransferTimings {
            var timings = TransferTimings()
            let isReused = transfer.hasStarted && errand_curl_get_long(raw, ERRAND_CURLINFO_NUM_CONNECTS) == 0
            timings.queued = transfer.queued
            if transfer.hasStarted { timings.isReusedConnection = isReused }
            if !isReused {
                timings.nameLookup = time(ERRAND_CURLINFO_NAMELOOKUP_TIME_T)
                timings.connected = time(ERRAND_CURLINFO_CONNECT_TIME_T)
                timings.secured = time(ERRAND_CURLINFO_APPCONNECT_TIME_T)
            }
            timings.firstByte = time(ERRAND_CURLINFO_STARTTRANSFER_TIME_T)
            timings.total = time(ERRAND_CURLINFO_TOTAL_TIME_T)
            timings.bytesSent = errand_curl_get_offset(raw, ERRAND_CURLINFO_SIZE_UPLOAD_T)
            timings.bytesReceived = errand_curl_get_offset(raw, ERRAND_CURLINFO_SIZE_DOWNLOAD_T)
            timings.httpVersion = transfer.head.version
            if let address = errand_curl_get_string(raw, ERRAND_CURLINFO_PRIMARY_IP), address[0] != 0 {
                timings.remoteAddress = String(cString: address)
            }
            return timings
        }

        private func time(_ info: Int32) -> Duration? {
            let microseconds = errand_curl_get_offset(raw, info)
            return microseconds > 0 ? .microseconds(microseconds) : nil
        }
    }

    /// A reference that is neither counted nor checked, to an object that owns the one that holds it.
    struct Unowned<Object: AnyObject> {
        private let reference: Unmanaged<Object>
        init(_ object: Object) { reference = .passUnretained(object) }
        var value: Object { reference.takeUnretainedValue() }
    }
#endif
