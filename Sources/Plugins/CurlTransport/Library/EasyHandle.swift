#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandSupport

/// A libcurl easy handle with the memory that it uses, reused for many transfers.
final class EasyHandle {
    let easy: CurlEasy
    private let headerList = HeaderList()
    private(set) var current: Transfer?
    /// Whether the handle has only options that every transfer sets or that the properties below record.
    private var isClean = false
    private var isNew = true
    /// Whether libcurl shows each header line before it stores the line.
    private var isWatched = false
    private var isSecure: Bool?
    private var bufferSize = 0
    /// The time limit for connecting, in milliseconds.
    private var connectLimit = 0
    private var isLogging = false
    /// The certificate's number in ``CurlIdentities``, or 0.
    private var identity = 0
    private var url = ""
    private var form = RequestForm()

    init?() {
        guard let easy = CurlEasy() else { return nil }
        self.easy = easy
    }

    /// Prepares the handle for another transfer. Returns `false` if memory runs out.
    ///
    /// After a transfer with several attempts, the handle is replaced: a handle never forgets a refused stream, and its
    /// sixth resent request fails.
    func makeReusable(after isSmooth: Bool, _ library: CurlLibrary) -> Bool {
        form.removeBody(from: self)
        let needsNew = library.avoids(.handleReuse) || !isSmooth || library.avoids(.unseenHeaders) && !isClean
        return needsNew ? renew() : true
    }

    private func renew() -> Bool {
        guard easy.renew() else { return false }
        (isNew, isClean) = (true, false)
        return true
    }

    /// Sets the options for a transfer. Throws `invalidRequest` for a request that libcurl wouldn't send as exactly one
    /// request.
    func prepare(for transfer: Transfer) throws(ErrandError) {
        let loop = transfer.loop
        if !isClean { try reset(loop) }
        try watchHead(of: transfer.request, loop)
        easy.forgetError()
        if isLogging { setLogging(false) }
        current = transfer
        try collectHead(of: transfer)
        let (request, target) = (transfer.request, transfer.target)
        if url != target.text {
            try set(text: ERRAND_CURLOPT_URL, target.text, .invalidURL)
            url = target.text
        }
        try setOrigin(target, of: request, loop)
        setConnectLimit(transfer.rounds.start(at: loop.now))
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
            setRoute(route, of: request.url, loop)
            isClean = false
        }
        var extra: [String] = []
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
        try headerList.fill(
            request.headers, extra: extra, codings: transfer.decodes ? ContentCoding.accepted : nil,
            limit: Transfer.longestHead - target.text.utf8.count, tooLarge: transfer.tooLargeRequest)
        easy.set(ERRAND_CURLOPT_HTTPHEADER, headerList.lines)
        if transfer.attempts.isExpectationRefused { headerList.lines.cut(HTTPHeaderName.expect.rawName) }
    }

    func prepare(for connection: CurlConnection, _ loop: CurlLoop, pool: CurlPool) throws(ErrandError) {
        try reset(loop)
        easy.forgetError()
        try set(text: ERRAND_CURLOPT_URL, connection.target.text, .invalidURL)
        try setOrigin(connection.target, of: connection.request, loop)
        setConnectLimit(connection.rounds.start(at: loop.now))
        set(ERRAND_CURLOPT_CONNECT_ONLY, 1)
        set(ERRAND_CURLOPT_HTTPPROXYTUNNEL, 1)
        set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_1_1)
        set(ERRAND_CURLOPT_PIPEWAIT, 0)
        set(ERRAND_CURLOPT_FORBID_REUSE, 0)
        set(ERRAND_CURLOPT_HEADER, 0)
        set(ERRAND_CURLOPT_BUFFERSIZE, Self.connectionBuffer)
        // Each connection needs its own pool, because libcurl closes all connections in a pool that have bytes to read
        // when it connects.
        easy.setPool(pool)
        easy.setCallbacks(for: connection, loop)
    }

    private static let connectionBuffer = 1024
    private static let streamBuffer = 256 << 10
    private static let dataBuffer = 64 << 10
    private static let uploadBuffer = 256 << 10

    /// Makes libcurl show each header line before it stores the line, in versions that keep a pointer to a field of the
    /// handle's last response.
    ///
    /// A second head, after a refused expectation, would then count as a body. So a request with `Expect` gets a new
    /// handle instead.
    private func watchHead(of request: HTTPRequest, _ loop: CurlLoop) throws(ErrandError) {
        guard loop.library.avoids(.unseenHeaders) else { return }
        isWatched = !request.headers.contains(.expect)
        if isWatched { return }
        guard renew() else { throw ErrandError(.transportFailed, "libcurl doesn't have enough memory for a transfer") }
        try reset(loop)
        set(ERRAND_CURLOPT_HEADER, 0)
        isClean = false
    }

    private func reset(_ loop: CurlLoop) throws(ErrandError) {
        // In some versions, a reset handle differs from a new one (see `CurlVersionRule`).
        if !isNew { easy.reset() }
        isNew = false
        (isSecure, bufferSize, connectLimit, isLogging, identity) = (nil, 0, 0, false, 0)
        (url, form) = ("", RequestForm())
        easy.setCallbacks(for: self, loop.sockets, logs: loop.speaksHTTP2)
        try setCommon(loop)
        isClean = true
    }

    private func collectHead(of transfer: Transfer) throws(ErrandError) {
        let loop = transfer.loop
        let isOpen = transfer.head.open(
            for: self, loop.clock, limit: loop.configuration.maximumHeaderBytes, isWatched: isWatched)
        if !isOpen { throw ErrandError(.transportFailed, "there isn't enough memory for the headers") }
    }

    private func setOrigin(
        _ target: RequestTarget, of request: HTTPRequest, _ loop: CurlLoop
    ) throws(ErrandError) {
        if isSecure != target.isSecure {
            try setScheme(isSecure: target.isSecure, loop)
            isSecure = target.isSecure
        }
        if loop.proxy.hasExceptions { try setProxy(for: request.url, loop) }
        if loop.configuration.addressFamily != .any { try checkFamily(of: request.url, loop) }
        if !loop.addresses.isEmpty { setAddresses(for: request.url, loop) }
        if !loop.pins.isEmpty { try setPins(for: request.url, loop.pins) }
        if target.isSecure, let identities = loop.configuration.tls.identities {
            let choice = try identities.choice(for: request.url)
            guard choice?.number ?? 0 != identity else { return }
            // If a call below fails, the next request must set the options again.
            identity = -1
            try setIdentity(choice, loop)
            identity = choice?.number ?? 0
        }
    }

    /// Sets the time limit for connecting. Also applies to a connection that libcurl is already opening.
    func setConnectLimit(_ limit: UInt64) {
        let milliseconds = max(1, Nanoseconds.milliseconds(min(limit, Self.longest)))
        if milliseconds == connectLimit { return }
        set(ERRAND_CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        connectLimit = milliseconds
    }

    /// Makes libcurl run the transfer soon without a socket event. Only a short pause has this effect.
    func wake() {
        easy.pause(ERRAND_CURLPAUSE_RECV)
        easy.pause(0)
    }

    func closeConnection() {
        set(ERRAND_CURLOPT_FORBID_REUSE, 1)
        isClean = false
    }

    /// Turns libcurl's log on, because only the log reports the number of a request's stream.
    func watchStreams() { if !isLogging { setLogging(true) } }

    private func setLogging(_ isLogging: Bool) {
        set(ERRAND_CURLOPT_VERBOSE, isLogging ? 1 : 0)
        self.isLogging = isLogging
    }

    func set(_ option: Int32, _ value: Int) { easy.set(option, value) }
    func set(offset option: Int32, _ value: Int64) { easy.set(offset: option, value) }

    func set(text option: Int32, _ text: String, _ kind: ErrandError.Code) throws(ErrandError) {
        let isPlain = text.withSpan { $0.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
        if !isPlain {
            throw ErrandError(.invalidRequest, "the URL or the method contains a control character")
        }
        let code = easy.set(option, text: text)
        if code != 0 {
            let message = CurlLibrary.description(of: code)
            throw ErrandError(
                kind, "libcurl doesn't accept the URL or the method: \(message)",
                underlying: CurlError(code: code, message: message))
        }
    }

    func forgetTransfer() { current = nil }
}

extension EasyHandle {
    func failure(_ code: Int32, _ proxy: ProxyChoice) -> CurlFailure {
        let detail = proxy.masking(easy.errorDescription)
        return CurlFailure(
            code: code, summary: CurlLibrary.description(of: code), detail: detail,
            systemError: Int32(truncatingIfNeeded: easy.long(ERRAND_CURLINFO_OS_ERRNO)),
            verification: easy.long(ERRAND_CURLINFO_SSL_VERIFYRESULT),
            proxyStatus: easy.long(ERRAND_CURLINFO_HTTP_CONNECTCODE),
            isProxyUnreached: code == CurlCode.couldNotConnect && proxy.isNamed(in: detail))
    }

    var hasErrorText: Bool { easy.hasErrorDescription }

    /// The number of bytes sent on all connections of the request.
    var sentBytes: Int64 {
        Int64(easy.long(ERRAND_CURLINFO_REQUEST_SIZE))
            + max(0, easy.offset(ERRAND_CURLINFO_SIZE_UPLOAD_T))
    }

    var isReused: Bool { easy.long(ERRAND_CURLINFO_NUM_CONNECTS) == 0 }

    var announcedLength: Int64? {
        let length = easy.offset(ERRAND_CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length < 0 ? nil : length
    }
}

/// The method and small body that are set on an easy handle, so only differences are set again.
struct RequestForm {
    /// The method that is set, or `nil` for libcurl's own choice.
    private var method: HTTPMethod?
    private var hasBody = false

    mutating func set(_ method: HTTPMethod?, on handle: EasyHandle) throws(ErrandError) {
        if self.method == method { return }
        if let method {
            try handle.set(text: ERRAND_CURLOPT_CUSTOMREQUEST, method.rawValue, .invalidRequest)
        } else {
            handle.easy.clear(ERRAND_CURLOPT_CUSTOMREQUEST)
        }
        self.method = method
    }

    mutating func setBody(_ data: Data, on handle: EasyHandle) {
        handle.easy.setBody(data)
        hasBody = true
    }

    /// Removes the body. Also makes the next request a GET.
    mutating func removeBody(from handle: EasyHandle) {
        if !hasBody { return }
        handle.easy.clear(ERRAND_CURLOPT_COPYPOSTFIELDS)
        handle.set(offset: ERRAND_CURLOPT_POSTFIELDSIZE_LARGE, -1)
        handle.set(ERRAND_CURLOPT_HTTPGET, 1)
        hasBody = false
    }
}
#endif
