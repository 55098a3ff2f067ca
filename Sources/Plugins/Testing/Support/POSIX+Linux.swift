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

    /// An integer with some C libraries, and a pointer with Musl.
    static var thisThread: UInt { withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) } }

    /// The number of voluntary waits of this thread so far; nil where that is not counted.
    static func threadWaits() -> Int? {
        var usage = rusage()
        // RUSAGE_THREAD, which the C libraries declare with different types.
        return getrusage(1, &usage) == 0 ? Int(usage.ru_nvcsw) : nil
    }

    static func createThread(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Musl)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        return pthread_create(
            &thread, attributes,
            { start in
                // Neither argument nor result is optional with some of Android's headers.
                let argument: UnsafeMutableRawPointer? = start
                if let argument { POSIX.runThread(argument) }
                return start
            }, start) == 0
    }
}
#endif
