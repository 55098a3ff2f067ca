#if canImport(Darwin)
import Darwin

extension POSIX {
    static var descriptorLimit: Int32 { RLIMIT_NOFILE }
    static var peekFlags: Int32 { MSG_PEEK | MSG_DONTWAIT }
    static var bothWays: Int32 { SHUT_RDWR }
}
#endif
