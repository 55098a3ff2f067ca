#if os(Linux) || os(Android)
import ErrandEssentials

/// The connections without a request, in a pool of libcurl's of their own: all of it under the loop's driver lock.
struct ConnectionTable {
    /// Made with the first of them: they have no limit in number, unlike those for requests.
    var multi: CurlMulti?
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
    private var buffer: [UInt8] = []

    private static let bufferBytes = 64 << 10

    var isEmpty: Bool { all.isEmpty }

    /// Lends the buffer, so that nothing of this is accessed while libcurl runs.
    mutating func takeBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        return taken.isEmpty ? Array(repeating: 0, count: Self.bufferBytes) : taken
    }

    mutating func giveBack(_ taken: consuming [UInt8]) { buffer = taken }
}
#endif
