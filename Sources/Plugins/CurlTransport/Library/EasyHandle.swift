#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials

/// One of libcurl's easy handles with the memory that libcurl borrows while it works; reused for many transfers.
final class EasyHandle {
    private(set) var raw: UnsafeMutableRawPointer
    let loop: Unowned<CurlLoop>
    let errorText: UnsafeMutablePointer<CChar>
    private var headerList = HeaderList()
    /// The addresses of the present host.
    var addressList: TextList?
    /// The alternative of the present origin.
    var routeList: TextList?
    /// The transfer that it runs.
    private(set) var current: Unmanaged<Transfer>?
    /// Whether only the options of every transfer are set, and those remembered below.
    private var isClean = false
    /// Whether no option was ever set.
    private var isNew = true
    /// Whether libcurl shows each line of a head before it keeps it.
    private var isWatched = false
    private var isSecure: Bool?
    private var bufferSize = 0
    /// The time that libcurl has for a connection, in milliseconds.
    private var connectLimit = 0
    /// Whether libcurl writes its log.
    private var isLogging = false
    private var url = ""
    private var form = RequestForm()

    /// CURL_ERROR_SIZE.
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

    /// Prepares it for another transfer; false without memory. Where handles must not be reused, it becomes a new one
    /// that keeps only its memory here; where they are to be reused with care, it does so after anything special.
    /// libcurl counts for a handle how often it sent a request again, fails the sixth time, and forgets neither that
    /// nor that a stream was refused: only a transfer that succeeded at its first attempt leaves a handle unchanged.
    func makeReusable(after isSmooth: Bool) -> Bool {
        form.removeBody(from: self)
        let library = loop.value.library
        let needsNew = library.avoids(.handleReuse) || !isSmooth || library.avoids(.unseenHeaders) && !isClean
        return needsNew ? renew() : true
    }

    private func renew() -> Bool {
        guard let new = errand_curl_easy_make() else { return false }
        errand_curl_easy_free(raw)
        raw = new
        (isNew, isClean) = (true, false)
        return true
    }

    /// Sets everything for one transfer. Throws `invalidRequest` for a request that would not be sent as exactly one.
    func prepare(for transfer: Transfer) throws(ErrandError) {
        if !isClean { try reset() }
        try watchHead(of: transfer.request)
        errorText[0] = 0
        if isLogging { setLogging(false) }
        current = .passUnretained(transfer)
        try collectHead(of: transfer)
        let (request, target) = (transfer.request, transfer.target)
        if url != target.text {
            try set(text: ERRAND_CURLOPT_URL, target.text, .invalidURL)
            url = target.text
        }
        try setOrigin(target, of: request)
        setConnectLimit(transfer.rounds.start(at: loop.value.now))
        if transfer.attempts.needsFreshConnection {
            set(ERRAND_CURLOPT_FRESH_CONNECT, 1)
            isClean = false
        }
        if transfer.keepsToHTTP1 {
            set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_1_1)
            set(ERRAND_CURLOPT_PIPEWAIT, 0)
            isClean = false
        }
        if let route = transfer.route {
            setRoute(route, of: request.url)
            isClean = false
        }
        var extra: [StaticString] = []
        if request.method == .head {
            set(ERRAND_CURLOPT_NOBODY, 1)
            isClean = false
        }
        switch transfer.upload {
        case .none: try form.set(request.method == .get || request.method == .head ? nil : request.method, on: self)
        case .data(let data) where data.count <= Transfer.copiedBodyBytes:
            if !request.headers.contains(.contentType) { extra.append("Content-Type:") }
            form.setBody(data, on: self)
            try form.set(request.method == .post ? nil : request.method, on: self)
        case .data, .stream:
            isClean = false
            if !request.headers.contains(.expect) { extra.append("Expect:") }
            set(ERRAND_CURLOPT_UPLOAD, 1)
            set(ERRAND_CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBuffer)
            set(offset: ERRAND_CURLOPT_INFILESIZE_LARGE, transfer.upload.length ?? -1)
            try form.set(request.method, on: self)
        }
        let size = transfer.isStreamed ? Self.streamBuffer : Self.dataBuffer
        if size != bufferSize {
            set(ERRAND_CURLOPT_BUFFERSIZE, size)
            bufferSize = size
        }
        set(
            ERRAND_CURLOPT_HTTPHEADER,
            try headerList.fill(
                request.headers, extra, transfer.decodes ? ContentCoding.accepted : nil,
                limit: Transfer.longestHead - target.text.utf8.count, tooLarge: transfer.tooLargeRequest))
        if transfer.attempts.isExpectationRefused { headerList.withdraw(HTTPHeaderName.expect.rawName) }
    }

    /// Sets everything for a connection without a request, which only a new handle makes.
    func prepare(for connection: CurlConnection, _ loop: CurlLoop, pool: UnsafeMutableRawPointer) throws(ErrandError) {
        try reset()
        errorText[0] = 0
        try set(text: ERRAND_CURLOPT_URL, connection.target.text, .invalidURL)
        try setOrigin(connection.target, of: connection.request)
        setConnectLimit(connection.rounds.start(at: loop.now))
        set(ERRAND_CURLOPT_CONNECT_ONLY, 1)
        set(ERRAND_CURLOPT_HTTPPROXYTUNNEL, 1)
        set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_1_1)
        set(ERRAND_CURLOPT_PIPEWAIT, 0)
        set(ERRAND_CURLOPT_FORBID_REUSE, 0)
        set(ERRAND_CURLOPT_HEADER, 0)
        set(ERRAND_CURLOPT_BUFFERSIZE, Self.connectionBuffer)
        // libcurl looks through all connections of a pool whenever another one is made, and ends those that have bytes
        // to read: each has a pool of its own.
        set(ERRAND_CURLOPT_SHARE, UnsafeRawPointer(pool))
        let user = Unmanaged.passUnretained(connection).toOpaque()
        set(ERRAND_CURLOPT_PRIVATE, user)
        set(ERRAND_CURLOPT_OPENSOCKETDATA, user)
        set(ERRAND_CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop).toOpaque())
        errand_curl_set_socket_callbacks(raw, onConnectionOpen, onConnectionClose)
        set(ERRAND_CURLOPT_RESOLVER_START_DATA, user)
        errand_curl_set_start_callbacks(raw, onConnectionResolve, nil)
    }

    private static let connectionBuffer = 1024
    private static let streamBuffer = 256 << 10
    private static let dataBuffer = 64 << 10
    private static let uploadBuffer = 256 << 10

    /// Where a handle keeps too much of its last response, libcurl has to show lines of a head before it keeps them. A
    /// second head, after a refused expectation, would be taken for a body: there a new handle is safe.
    private func watchHead(of request: HTTPRequest) throws(ErrandError) {
        guard loop.value.library.avoids(.unseenHeaders) else { return }
        isWatched = !request.headers.contains(.expect)
        if isWatched { return }
        guard renew() else { throw ErrandError(.transportFailed, "libcurl has no memory for a transfer") }
        try reset()
        set(ERRAND_CURLOPT_HEADER, 0)
        isClean = false
    }

    private func reset() throws(ErrandError) {
        // In some versions a reset leaves another state than a new handle has; see `CurlVersionRule`.
        if !isNew { errand_curl_easy_reset(raw) }
        isNew = false
        (isSecure, bufferSize, connectLimit, isLogging, url, form) = (nil, 0, 0, false, "", RequestForm())
        let user = Unmanaged.passUnretained(self).toOpaque()
        for option in Self.userOptions { set(option, user) }
        try setCommon(loop.value)
        isClean = true
    }

    /// The user data of callbacks: the handle, which knows its transfer.
    private static let userOptions = [
        ERRAND_CURLOPT_PRIVATE, ERRAND_CURLOPT_READDATA, ERRAND_CURLOPT_SEEKDATA, ERRAND_CURLOPT_OPENSOCKETDATA,
        ERRAND_CURLOPT_RESOLVER_START_DATA, ERRAND_CURLOPT_PREREQDATA, ERRAND_CURLOPT_DEBUGDATA,
    ]

    private func collectHead(of transfer: Transfer) throws(ErrandError) {
        let head = transfer.head.open(
            for: Unmanaged.passUnretained(self).toOpaque(), at: loop.value.clock.time,
            limit: loop.value.configuration.maximumHeaderBytes, isWatched: isWatched, onHeader, onBody)
        guard let head else { throw ErrandError(.transportFailed, "there is no memory for the headers") }
        set(ERRAND_CURLOPT_HEADERDATA, head)
        set(ERRAND_CURLOPT_WRITEDATA, head)
    }

    /// The options that depend on the scheme and the host.
    private func setOrigin(_ target: RequestTarget, of request: HTTPRequest) throws(ErrandError) {
        if isSecure != target.isSecure {
            try setScheme(isSecure: target.isSecure)
            isSecure = target.isSecure
        }
        if loop.value.configuration.addressFamily != .any { try checkFamily(of: request.url) }
        if !loop.value.addresses.isEmpty { setAddresses(for: request.url) }
        if !loop.value.pins.isEmpty { try setPins(for: request.url) }
    }

    /// The time that libcurl has for a connection, also for one that it is making already.
    func setConnectLimit(_ limit: UInt64) {
        let milliseconds = max(1, Nanoseconds.milliseconds(min(limit, Self.longest)))
        if milliseconds == connectLimit { return }
        set(ERRAND_CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        connectLimit = milliseconds
    }

    /// Has libcurl run it soon although nothing has happened on a socket of its own: a pause that ends at once is the
    /// one way to ask for that.
    func wake() {
        _ = errand_curl_pause(raw, ERRAND_CURLPAUSE_RECV)
        _ = errand_curl_pause(raw, 0)
    }

    /// Has libcurl close the connection after this exchange.
    func closeConnection() {
        set(ERRAND_CURLOPT_FORBID_REUSE, 1)
        isClean = false
    }

    /// Makes libcurl write its log from now on: only the log names the stream of a request. None of it is kept.
    func watchStreams() { if !isLogging { setLogging(true) } }

    private func setLogging(_ isLogging: Bool) {
        set(ERRAND_CURLOPT_VERBOSE, isLogging ? 1 : 0)
        self.isLogging = isLogging
    }

    func set(_ option: Int32, _ value: Int) { errand_curl_set_long(raw, option, value) }
    func set(_ option: Int32, _ value: UnsafeRawPointer?) { errand_curl_set_pointer(raw, option, value) }
    func set(offset option: Int32, _ value: Int64) { errand_curl_set_offset(raw, option, value) }

    /// Throws an error of this kind if libcurl rejects the text, for example because it is too long.
    func set(text option: Int32, _ text: String, _ kind: ErrandError.Code) throws(ErrandError) {
        let hasControl =
            text.utf8.withContiguousStorageIfAvailable { $0.contains { $0 <= 0x20 || $0 == 0x7F } }
            ?? text.utf8.contains { $0 <= 0x20 || $0 == 0x7F }
        if hasControl {
            throw ErrandError(.invalidRequest, "the URL or the method has a control character")
        }
        let code = text.withCString { errand_curl_set_pointer(raw, option, $0) }
        if code != 0 {
            let message = String(cString: errand_curl_describe(code))
            throw ErrandError(
                kind, "libcurl does not take the URL or the method: \(message)",
                underlying: CurlError(code: code, message: message))
        }
    }

    /// The transfer has ended.
    func forgetTransfer() { current = nil }
}
#endif
