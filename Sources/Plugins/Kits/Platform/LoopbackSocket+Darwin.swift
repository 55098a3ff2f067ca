#if canImport(Darwin)
import Darwin

extension LoopbackSocket {
    package static var streamType: Int32 { SOCK_STREAM }
    static var tcpLevel: Int32 { IPPROTO_TCP }
    static var sendFlags: Int32 { 0 }
    static var writingDirection: Int32 { SHUT_WR }

    /// Prevents SIGPIPE with a socket option, because Darwin lacks the `send` flag for this.
    package static func prepareForWriting(_ descriptor: Int32) {
        setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
    }
}
#endif
