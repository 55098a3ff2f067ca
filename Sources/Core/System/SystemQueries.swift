// Questions to the system that take a pointer. Each points to a local value for the length of one call.

/// What the process and its system are like.
package enum SystemQueries {
    /// The current soft limit of open files; nil if it is unknown.
    package static var openFileLimit: UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        return unsafe getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
    }

    /// The bytes that the disk of a directory has room for; nil if that is unknown or beyond 64 bits.
    package static func freeSpace(in directory: String) -> UInt64? {
        var info = statvfs()
        guard unsafe statvfs(directory, &info) == 0 else { return nil }
        let bytes = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        return bytes.overflow ? nil : bytes.partialValue
    }

    /// The width of a terminal in characters; nil if the descriptor is none, or its width unknown.
    package static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }
}
