#if os(Linux) || os(Android)
import ErrandSupport

extension LoopbackSocket {
    #if canImport(Glibc)
    package static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) }
    #else
    package static var streamType: Int32 { SOCK_STREAM | Int32(SOCK_CLOEXEC) }
    #endif
    static var tcpLevel: Int32 { Int32(IPPROTO_TCP) }
    static var sendFlags: Int32 { Int32(MSG_NOSIGNAL) }
    static var writingDirection: Int32 { Int32(SHUT_WR) }

    package static func prepareForWriting(_ descriptor: Int32) {}
}
#endif
