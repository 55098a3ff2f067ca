#if os(Linux) || os(Android)
import ErrandSupport

extension POSIX {
    #if canImport(Glibc)
    static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
    static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) | closeOnExec }
    static var descriptorLimit: Int32 { Int32(RLIMIT_NOFILE.rawValue) }
    #else
    static let closeOnExec = Int32(SOCK_CLOEXEC)
    static var streamType: Int32 { SOCK_STREAM | closeOnExec }
    static var descriptorLimit: Int32 { RLIMIT_NOFILE }
    #endif
    static var tcpLevel: Int32 { Int32(IPPROTO_TCP) }
    static var sendFlags: Int32 { Int32(MSG_NOSIGNAL) }
    static var peekFlags: Int32 { Int32(MSG_PEEK) | Int32(MSG_DONTWAIT) }
    static var bothWays: Int32 { Int32(SHUT_RDWR) }
    static var writingWay: Int32 { Int32(SHUT_WR) }

    static func prepareForWriting(_ descriptor: Int32) {}
}
#endif
