#if os(Linux) || os(Android)
import ErrandSupport

extension POSIX {
    #if canImport(Glibc)
    static var descriptorLimit: Int32 { Int32(RLIMIT_NOFILE.rawValue) }
    #else
    static var descriptorLimit: Int32 { RLIMIT_NOFILE }
    #endif
    static var peekFlags: Int32 { Int32(MSG_PEEK) | Int32(MSG_DONTWAIT) }
    static var bothWays: Int32 { Int32(SHUT_RDWR) }
}
#endif
