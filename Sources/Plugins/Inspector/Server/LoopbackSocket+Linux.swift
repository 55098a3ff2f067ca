#if os(Linux) || os(Android)
import ErrandSupport

extension LoopbackSocket {
    #if canImport(Glibc)
    static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) }
    #else
    static var streamType: Int32 { SOCK_STREAM | Int32(SOCK_CLOEXEC) }
    #endif
    static var tcpLevel: Int32 { Int32(IPPROTO_TCP) }
    static var sendFlags: Int32 { Int32(MSG_NOSIGNAL) }
    static var writingWay: Int32 { Int32(SHUT_WR) }

    static func prepareForWriting(_ descriptor: Int32) {}
}
#endif
