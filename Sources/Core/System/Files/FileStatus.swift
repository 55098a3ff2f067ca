/// The attributes of a file (stat(2)).
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case regular, directory, link, other }

    /// Tells one file from all others, whatever its names are.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let kind: Kind
    package let size: Int64
    /// When the bytes were last changed, in nanoseconds since 1970, as far as these can be counted.
    package let modified: Int64
    package let permissions: mode_t
    /// The number of names.
    package let linkCount: Int
    package let identity: Identity

    init(_ info: stat) {
        // Wider than its own type on some Androids.
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

    /// A time; the first or the last that can be counted for one before 1678 or after 2262.
    private static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(rest)
        return isFar || isTooFar ? seconds < 0 ? .min : .max : sum
    }
}
