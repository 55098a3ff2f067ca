#if canImport(Darwin)
import Darwin

extension LoopbackSocket {
    static var streamType: Int32 { SOCK_STREAM }
    static var tcpLevel: Int32 { IPPROTO_TCP }
    static var sendFlags: Int32 { 0 }
    static var writingWay: Int32 { SHUT_WR }

    /// Darwin has no `send` flag that prevents SIGPIPE, only a socket option.
    static func prepareForWriting(_ descriptor: Int32) {
        let one: Int32 = 1
        unsafe withUnsafePointer(to: one) {
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, $0, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
#endif
