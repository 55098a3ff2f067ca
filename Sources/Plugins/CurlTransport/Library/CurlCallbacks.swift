#if os(Linux) || os(Android)
import CErrandCurl

// The functions that libcurl calls, always under the loop's driver lock. `user` is the easy handle, or the loop, or its
// sockets, all of which outlive the call.

/// The transfer that a handle runs.
func transfer(_ user: UnsafeMutableRawPointer?) -> Transfer? {
    user.flatMap { Unmanaged<EasyHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.current?.takeUnretainedValue() } }
}

func onBody(_ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ user: UnsafeMutableRawPointer?) -> Int {
    guard let transfer = transfer(user), let bytes else { return 0 }
    return transfer.receive(bytes, count)
}

/// Called by `errand_head_receive`.
func onHeader(_ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ user: UnsafeMutableRawPointer?) -> Int {
    guard let transfer = transfer(user), let bytes else { return 0 }
    return transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

func onRead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(user), let bytes else { return Int(ERRAND_CURL_READFUNC_ABORT) }
    return transfer.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

func onSeek(_ user: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int32 {
    guard let transfer = transfer(user), origin == 0 else { return ERRAND_CURL_SEEKFUNC_FAIL }
    return transfer.seek(to: offset) ? ERRAND_CURL_SEEKFUNC_OK : ERRAND_CURL_SEEKFUNC_FAIL
}

func onOpen(
    _ user: UnsafeMutableRawPointer?, _: Int32, _ address: UnsafeMutablePointer<errand_curl_sockaddr>?
) -> Int32 {
    guard let transfer = transfer(user), let address else { return -1 }
    transfer.isResolving = false
    if transfer.isParked { return -1 }
    let mayDial = transfer.mayDialAgain()
    if mayDial { transfer.noteStart(isNew: true) }
    let descriptor = mayDial ? transfer.loop.sockets.open(address, for: transfer.origin) : -1
    if mayDial, descriptor < 0, DescriptorShortage.isReported { transfer.attempts.lacksDescriptor = true }
    transfer.loop.noteDialing(transfer, descriptor)
    return descriptor
}

func onClose(_ user: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    guard let user else { return 0 }
    return Unmanaged<SocketTable>.fromOpaque(user).takeUnretainedValue().close(socket: descriptor)
}

func onResolve(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?) -> Int32 {
    transfer(user)?.mayLookUp() == false ? 1 : 0
}

func onRequest(
    _ user: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?, _: Int32,
    _ localPort: Int32
) -> Int32 {
    guard let transfer = transfer(user), !transfer.isParked else { return ERRAND_CURL_PREREQFUNC_ABORT }
    transfer.isResolving = false
    transfer.noteConnection()
    let connection = transfer.loop.sockets.hold(port: UInt16(clamping: localPort), by: transfer)
    guard transfer.beginAttempt(on: connection) else { return ERRAND_CURL_PREREQFUNC_ABORT }
    transfer.noteRequest(on: connection)
    return ERRAND_CURL_PREREQFUNC_OK
}

/// A piece of the log, if one was requested.
func onLog(
    _: UnsafeMutableRawPointer?, _ kind: Int32, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    guard kind == ERRAND_LOG_TEXT, let bytes else { return 0 }
    var stream: UInt32 = 0
    let event = errand_stream_event(bytes, count, &stream)
    if event != 0 { transfer(user)?.noteStream(event, stream) }
    return 0
}

func onSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ owner: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let owner else { return 0 }
    let loop = Unmanaged<CurlLoop>.fromOpaque(owner).takeUnretainedValue()
    let user = easy.flatMap { transfer(errand_curl_get_private($0)) }
    loop.sockets.want(descriptor, what, for: user, at: loop.now)
    user?.noteSocket(descriptor, what)
    return 0
}

func onTimer(_: UnsafeMutableRawPointer?, _ milliseconds: Int, _ user: UnsafeMutableRawPointer?) -> Int32 {
    guard let user else { return 0 }
    let loop = Unmanaged<CurlLoop>.fromOpaque(user).takeUnretainedValue()
    loop.curlDeadline = milliseconds < 0 ? nil : Nanoseconds.sum(loop.now, Nanoseconds.of(milliseconds: milliseconds))
    return 0
}
#endif
