#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials

/// The connections without a request, in a pool of libcurl's of their own: all of it under the loop's driver lock.
struct ConnectionTable {
    /// Made with the first of them: they have no limit in number, unlike those for requests.
    var multi: UnsafeMutableRawPointer?
    /// The time at which libcurl's timer for them is due.
    var deadline = UInt64.max
    /// Those that are being made or stand.
    var all: [ObjectIdentifier: CurlConnection] = [:]
    /// Those that stand, by their sockets.
    var open: [Int32: CurlConnection] = [:]
    /// The sockets that libcurl watches while it makes connections, with the events that epoll reports.
    var watched: [Int32: Int32] = [:]
    /// Whether one of them may have a socket that is not watched, or no longer.
    var hasUnwatchedSocket = false
    /// Made with the first of them; each received piece is copied out of it.
    var buffer: UnsafeMutableRawBufferPointer?

    static let bufferBytes = 64 << 10

    var isEmpty: Bool { all.isEmpty }

    mutating func room() -> UnsafeMutableRawBufferPointer {
        if let buffer { return buffer }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 16)
        buffer = made
        return made
    }
}

/// The connection that a handle makes.
private func connection(_ user: UnsafeMutableRawPointer?) -> CurlConnection? {
    user.map { Unmanaged<CurlConnection>.fromOpaque($0).takeUnretainedValue() }
}

private func loop(_ user: UnsafeMutableRawPointer) -> CurlLoop {
    Unmanaged<CurlLoop>.fromOpaque(user).takeUnretainedValue()
}

func onConnectionOpen(
    _ user: UnsafeMutableRawPointer?, _: Int32, _ address: UnsafeMutablePointer<errand_curl_sockaddr>?
) -> Int32 {
    guard let connection = connection(user), let address else { return -1 }
    let descriptor = errand_socket_make(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    // Until it is watched: one that fails at once never is.
    connection.hasUnwatchedSocket = true
    connection.loop.connections.hasUnwatchedSocket = true
    return descriptor
}

func onConnectionResolve(
    _: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
) -> Int32 {
    if let connection = connection(user) { connection.limit(connection.rounds.beginLookup(at: connection.loop.now)) }
    return 0
}

func onConnectionClose(_ user: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    if let user { loop(user).forget(socket: descriptor) }
    return errand_close(descriptor)
}

func onConnectionSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ user: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    if let user { loop(user).watch(socket: descriptor, what) }
    if let easy { connection(of: easy)?.noteSocket(what) }
    return 0
}

func onConnectionTimer(_: UnsafeMutableRawPointer?, _ milliseconds: Int, _ user: UnsafeMutableRawPointer?) -> Int32 {
    guard let user else { return 0 }
    let loop = loop(user)
    loop.connections.deadline =
        milliseconds < 0 ? .max : Nanoseconds.sum(loop.now, Nanoseconds.of(milliseconds: milliseconds))
    return 0
}

/// The connection of an easy handle.
func connection(of easy: UnsafeMutableRawPointer) -> CurlConnection? { connection(errand_curl_get_private(easy)) }
#endif
