#if canImport(Darwin)
import Darwin

extension LoopbackSocket {
    package static var streamType: Int32 { SOCK_STREAM }
    static var tcpLevel: Int32 { IPPROTO_TCP }
    static var sendFlags: Int32 { 0 }
    static var writingDirection: Int32 { SHUT_WR }

    /// Darwin has a socket option instead of a `send` flag that prevents SIGPIPE.
    package static func prepareForWriting(_ descriptor: Int32) {
        setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
    }
}
#endif
