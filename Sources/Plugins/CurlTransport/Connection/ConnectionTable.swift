#if os(Linux) || os(Android)
import ErrandEssentials

/// Connections without a request, in their own libcurl pool. Accessed under the loop's driver lock.
struct ConnectionTable {
    /// Created with the first connection. The number of these connections isn't limited.
    var multi: CurlMulti?
    /// When libcurl's timer for these connections is due.
    var deadline = UInt64.max
    /// Connections being established or open.
    var all: [ObjectIdentifier: CurlConnection] = [:]
    /// The open connections by socket.
    var open: [Int32: CurlConnection] = [:]
    /// The sockets libcurl watches while it connects, with their events in epoll.
    var watched: [Int32: Int32] = [:]
    /// Whether a connection may have a socket that libcurl doesn't watch.
    var hasUnwatchedSocket = false
    /// Received pieces are copied out of it.
    private var buffer: [UInt8] = []

    private static let bufferBytes = 64 << 10

    var isEmpty: Bool { all.isEmpty }

    /// Lends the buffer, so no access to this table is open while libcurl runs.
    mutating func takeBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        return taken.isEmpty ? Array(repeating: 0, count: Self.bufferBytes) : taken
    }

    mutating func giveBack(_ taken: consuming [UInt8]) { buffer = taken }
}
#endif
