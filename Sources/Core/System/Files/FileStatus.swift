/// The attributes of a file (stat(2)).
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case regular, directory, link, other }

    /// Identifies a file, whatever its names are.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let kind: Kind
    package let size: Int64
    /// When the content was last modified, in nanoseconds since 1970, clamped to 64 bits.
    package let modified: Int64
    package let permissions: mode_t
    package let linkCount: Int
    package let identity: Identity

    init(_ info: stat) {
        // Some Android versions use a wider type here.
        let mode = mode_t(truncatingIfNeeded: info.st_mode)
        switch mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        size = Int64(info.st_size)
        #if canImport(Darwin)
        let time = info.st_mtimespec
        #else
        let time = info.st_mtim
        #endif
        modified = Self.nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
        permissions = mode & 0o777
        linkCount = Int(info.st_nlink)
        identity = Identity(
            device: UInt64(truncatingIfNeeded: info.st_dev), number: UInt64(truncatingIfNeeded: info.st_ino))
    }

    /// Returns a time in nanoseconds, clamped to 64 bits before 1678 and after 2262.
    private static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(rest)
        return isFar || isTooFar ? seconds < 0 ? .min : .max : sum
    }
}
