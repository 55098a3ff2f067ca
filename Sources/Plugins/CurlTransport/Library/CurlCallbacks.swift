#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials

// The functions that libcurl calls, always under the loop's driver lock.
//
// Each function's user data is the easy handle, the connection, the loop or its sockets. libcurl doesn't retain that
// object, but it outlives the call: the loop owns its sockets, frees its multi handles before it ends, and removes a
// handle before releasing it. Bytes that libcurl passes are used during the call and within their length.

extension CurlEasy {
    func setCallbacks(for handle: EasyHandle, _ sockets: SocketTable, logs: Bool) {
        let user = unsafe Unmanaged.passUnretained(handle).toOpaque()
        for option in Self.userOptions { unsafe errand_curl_set_pointer(raw, option, user) }
        unsafe errand_curl_set_pointer(
            raw, ERRAND_CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        unsafe errand_curl_set_data_callback(raw, ERRAND_CURLOPT_WRITEFUNCTION, errand_head_receive_body)
        unsafe errand_curl_set_data_callback(raw, ERRAND_CURLOPT_HEADERFUNCTION, errand_head_receive)
        unsafe errand_curl_set_data_callback(raw, ERRAND_CURLOPT_READFUNCTION, onRead)
        unsafe errand_curl_set_seek_callback(raw, onSeek)
        unsafe errand_curl_set_socket_callbacks(raw, onOpen, onClose)
        unsafe errand_curl_set_start_callbacks(raw, onResolve, onRequest)
        if logs { unsafe errand_curl_set_log_callback(raw, onLog) }
    }

    private static let userOptions = [
        ERRAND_CURLOPT_PRIVATE, ERRAND_CURLOPT_READDATA, ERRAND_CURLOPT_SEEKDATA, ERRAND_CURLOPT_OPENSOCKETDATA,
        ERRAND_CURLOPT_RESOLVER_START_DATA, ERRAND_CURLOPT_PREREQDATA, ERRAND_CURLOPT_DEBUGDATA,
    ]

    func setCallbacks(for connection: CurlConnection, _ loop: CurlLoop) {
        let user = unsafe Unmanaged.passUnretained(connection).toOpaque()
        unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_PRIVATE, user)
        unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_OPENSOCKETDATA, user)
        unsafe errand_curl_set_pointer(
            raw, ERRAND_CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop).toOpaque())
        unsafe errand_curl_set_socket_callbacks(raw, onConnectionOpen, onConnectionClose)
        unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_RESOLVER_START_DATA, user)
        unsafe errand_curl_set_start_callbacks(raw, onConnectionResolve, nil)
    }
}

extension CurlMulti {
    func setCallbacks(for loop: CurlLoop) {
        guard let raw = unsafe raw else { return }
        unsafe errand_curl_multi_set_callbacks(raw, onSocket, onTimer, Unmanaged.passUnretained(loop).toOpaque())
    }

    func setConnectionCallbacks(for loop: CurlLoop) {
        guard let raw = unsafe raw else { return }
        unsafe errand_curl_multi_set_callbacks(
            raw, onConnectionSocket, onConnectionTimer, Unmanaged.passUnretained(loop).toOpaque())
    }

    /// Returns the next finished transfer and its code. The transfer is `nil` if it has already left its handle.
    func nextTransfer() -> (Transfer?, code: Int32)? {
        var code: Int32 = 0
        guard let raw = unsafe raw, let easy = unsafe errand_curl_multi_finished(raw, &code) else { return nil }
        return (unsafe transfer(errand_curl_get_private(easy)), code)
    }

    func nextConnection() -> (CurlConnection?, code: Int32)? {
        var code: Int32 = 0
        guard let raw = unsafe raw, let easy = unsafe errand_curl_multi_finished(raw, &code) else { return nil }
        return (unsafe connection(errand_curl_get_private(easy)), code)
    }
}

// MARK: Transfers

private func transfer(_ user: UnsafeMutableRawPointer?) -> Transfer? {
    unsafe user.flatMap { unsafe Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().current }
}

private func loop(_ user: UnsafeMutableRawPointer) -> CurlLoop {
    unsafe Unmanaged<CurlLoop>.fromOpaque(user).takeUnretainedValue()
}

func onBody(_ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ user: UnsafeMutableRawPointer?) -> Int {
    guard let transfer = unsafe transfer(user), let bytes = unsafe bytes else { return 0 }
    let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
    return transfer.receive(unsafe UnsafeBufferPointer(start: start, count: count).span)
}

func onHeader(_ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ user: UnsafeMutableRawPointer?) -> Int {
    guard let transfer = unsafe transfer(user), let bytes = unsafe bytes else { return 0 }
    let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
    return transfer.receiveHeader(unsafe UnsafeBufferPointer(start: start, count: count).span) ? count : 0
}

private func onRead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(user), let bytes = unsafe bytes else { return Int(ERRAND_CURL_READFUNC_ABORT) }
    switch transfer.nextUpload(upTo: size * count) {
    case .bytes(let data):
        return unsafe data.copyBytes(to: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    case .pause: return Int(ERRAND_CURL_READFUNC_PAUSE)
    case .abort: return Int(ERRAND_CURL_READFUNC_ABORT)
    }
}

private func onSeek(_ user: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int32 {
    guard let transfer = unsafe transfer(user), origin == 0 else { return ERRAND_CURL_SEEKFUNC_FAIL }
    return transfer.seek(to: offset) ? ERRAND_CURL_SEEKFUNC_OK : ERRAND_CURL_SEEKFUNC_FAIL
}

private func onOpen(
    _ user: UnsafeMutableRawPointer?, _: Int32, _ address: UnsafeMutablePointer<errand_curl_sockaddr>?
) -> Int32 {
    guard let transfer = unsafe transfer(user), let address = unsafe address?.pointee else { return -1 }
    return transfer.openSocket(address)
}

private func onClose(_ user: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    guard let user = unsafe user else { return 0 }
    return unsafe Unmanaged<SocketTable>.fromOpaque(user).takeUnretainedValue().close(socket: descriptor)
}

private func onResolve(
    _: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe transfer(user)?.mayLookUp() == false ? 1 : 0
}

private func onRequest(
    _ user: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?, _: Int32,
    _ localPort: Int32
) -> Int32 {
    guard let transfer = unsafe transfer(user), transfer.mayBeginRequest(fromPort: localPort) else {
        return ERRAND_CURL_PREREQFUNC_ABORT
    }
    return ERRAND_CURL_PREREQFUNC_OK
}

private func onLog(
    _: UnsafeMutableRawPointer?, _ kind: Int32, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    guard kind == ERRAND_LOG_TEXT, let bytes = unsafe bytes else { return 0 }
    var stream: UInt32 = 0
    let event = unsafe errand_stream_event(bytes, count, &stream)
    if event != 0 { unsafe transfer(user)?.noteStream(event, stream) }
    return 0
}

private func onSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ owner: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let owner = unsafe owner else { return 0 }
    let loop = unsafe loop(owner)
    let user = unsafe easy.flatMap { unsafe transfer(errand_curl_get_private($0)) }
    loop.sockets.want(descriptor, what, for: user, at: loop.now)
    user?.noteSocket(descriptor, what)
    return 0
}

private func onTimer(_: UnsafeMutableRawPointer?, _ milliseconds: Int, _ user: UnsafeMutableRawPointer?) -> Int32 {
    if let user = unsafe user { unsafe loop(user).setTimer(milliseconds) }
    return 0
}

// MARK: Connections without a request

private func connection(_ user: UnsafeMutableRawPointer?) -> CurlConnection? {
    unsafe user.map { unsafe Unmanaged<CurlConnection>.fromOpaque($0).takeUnretainedValue() }
}

private func onConnectionOpen(
    _ user: UnsafeMutableRawPointer?, _: Int32, _ address: UnsafeMutablePointer<errand_curl_sockaddr>?
) -> Int32 {
    guard let connection = unsafe connection(user), let address = unsafe address?.pointee else { return -1 }
    return connection.openSocket(address)
}

private func onConnectionResolve(
    _: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
) -> Int32 {
    if let connection = unsafe connection(user) { connection.beginLookup() }
    return 0
}

private func onConnectionClose(_ user: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    if let user = unsafe user { unsafe loop(user).forget(socket: descriptor) }
    return errand_close(descriptor)
}

private func onConnectionSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ user: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    if let user = unsafe user { unsafe loop(user).watch(socket: descriptor, what) }
    if let easy = unsafe easy { unsafe connection(errand_curl_get_private(easy))?.noteSocket(what) }
    return 0
}

private func onConnectionTimer(
    _: UnsafeMutableRawPointer?, _ milliseconds: Int, _ user: UnsafeMutableRawPointer?
) -> Int32 {
    if let user = unsafe user { unsafe loop(user).setConnectionTimer(milliseconds) }
    return 0
}
#endif
