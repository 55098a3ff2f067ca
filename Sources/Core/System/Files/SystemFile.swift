import ErrandEssentials

/// An open file. The project accesses file descriptors only through this type.
///
/// ```swift
/// let file = try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
/// try file.write(data, at: 4096)
/// try file.flushData()
/// ```
///
/// Each system call is repeated if a signal interrupts it. The calls may block, so make them from a `@concurrent`
/// function. Releasing the value closes the file.
package struct SystemFile: ~Copyable, Sendable {
    package struct Access: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let read = Access(rawValue: 1)
        package static let write = Access(rawValue: 2)
        package static let append = Access(rawValue: 4)
        package static let create = Access(rawValue: 8)
        package static let exclusive = Access(rawValue: 16)
        /// Opens only a regular file at this exact path, without blocking. Use it in a directory that others can write
        /// to.
        ///
        /// Fails with `ELOOP` for a symbolic link, `ENXIO` for a pipe or device, and `EISDIR` for a directory. With
        /// `write`, also fails with `EMLINK` for a file that has other names.
        package static let refusesLinks = Access(rawValue: 32)
        /// Opens only a regular file. Follows symbolic links.
        package static let onlyRegular = Access(rawValue: 64)

        fileprivate var isForRegular: Bool { contains(.refusesLinks) || contains(.onlyRegular) }

        fileprivate func refusal(of descriptor: Int32) -> Int32? {
            guard isForRegular else { return nil }
            guard let status = FileStatus(descriptor: descriptor) else { return errno }
            switch status.kind {
            case .regular: return contains(.refusesLinks) && contains(.write) && status.linkCount > 1 ? EMLINK : nil
            case .directory: return EISDIR
            case .link, .other: return ENXIO
            }
        }

        fileprivate var flags: Int32 {
            var flags = O_CLOEXEC | (contains(.write) ? contains(.read) ? O_RDWR : O_WRONLY : O_RDONLY)
            if contains(.append) { flags |= O_APPEND }
            if contains(.create) { flags |= O_CREAT }
            if contains(.exclusive) { flags |= O_EXCL }
            if contains(.refusesLinks) { flags |= O_NOFOLLOW }
            // Opening a pipe without a writer would block. Regular files ignore the flag.
            if isForRegular { flags |= O_NONBLOCK }
            return flags
        }
    }

    package struct Failure: SupportFault {
        package let path: String
        package let code: Int32
        package var reason: String { systemErrorText(code) }
        private let what: String
        /// The failure in one line. Computed only on demand, because a cache looks for many files that don't exist and
        /// ignores the failures.
        package var description: String { "\(path.debugDescription) \(what): \(reason)" }

        package init(_ what: String, _ path: String, code: Int32 = errno) {
            (self.what, self.path, self.code) = (what, path, code)
        }
    }

    package let path: String
    let descriptor: Int32

    /// Opens a file. If this creates the file, the process's umask restricts `permissions`.
    package init(_ path: String, _ access: Access, permissions: mode_t = 0o666) throws(Failure) {
        let opened = systemOpen(path, access.flags, permissions)
        if let code = opened < 0 ? errno : access.refusal(of: opened) {
            if opened >= 0 { close(opened) }
            let what = access.contains(.exclusive) ? "created" : access.contains(.create) ? "opened" : "read"
            throw Failure("cannot be \(what)", path, code: code)
        }
        (self.path, descriptor) = (path, opened)
    }

    package init(reading path: String) throws(Failure) { try self.init(path, .read) }

    package init(creating path: String, mode: mode_t = 0o666) throws(Failure) {
        try self.init(path, [.write, .create, .exclusive], permissions: mode)
    }

    deinit { close(descriptor) }

    package var status: FileStatus? { FileStatus(descriptor: descriptor) }

    /// Returns whether the path itself, not a symbolic link's target, still refers to this file.
    package func isAt(_ path: String) -> Bool { status(ifAt: path) != nil }

    package func status(ifAt path: String) -> FileStatus? {
        guard let mine = status, let other = try? FileStatus(at: path, followingLinks: false),
            mine.identity == other.identity
        else { return nil }
        return mine
    }
}

func uninterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension SystemFile {
    package static func directory(_ path: String) -> Failure { Failure("cannot be replaced", path, code: EISDIR) }

    package static func attributes(at path: String) -> (isDirectory: Bool, permissions: mode_t)? {
        (try? FileStatus(at: path)).map { ($0.kind == .directory, $0.permissions) }
    }

    package static func size(of path: String) throws(Failure) -> Int64 {
        let status = try FileStatus(at: path)
        guard status.kind == .regular else { throw Failure("isn't a regular file", path, code: EINVAL) }
        return status.size
    }

    /// Creates a directory and its missing parents. Only the owner can access them.
    package static func makeDirectories(_ path: String) throws(Failure) {
        if attributes(at: path)?.isDirectory == true { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeDirectories(String(path[..<slash])) }
        do { try makeDirectory(path, permissions: 0o700) } catch {
            if error.code != EEXIST || attributes(at: path)?.isDirectory != true { throw error }
        }
        flushDirectory(of: path)
    }

    /// Flushes a file's directory, so a new name survives a crash. Ignores failures.
    package static func flushDirectory(of path: String) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
        try? SystemFile(reading: directory ?? ".").flush()
    }

    /// Atomically replaces a file with a new file that only its owner can read.
    package static func replace(_ path: String, with data: Data) throws(Failure) {
        if attributes(at: path)?.isDirectory ?? false { throw directory(path) }
        let file = try temporary(beside: path, permissions: 0o600)
        do {
            try file.setPermissions(0o600)
            try file.write(data)
            try file.flushData()
            try file.move(to: path)
        } catch {
            remove(file.path)
            throw error
        }
    }
}

extension SystemFile {
    package func truncate(to size: Int64) throws(Failure) {
        if uninterrupted({ ftruncate(descriptor, off_t(size)) }) != 0 { throw Failure("cannot be truncated", path) }
    }

    package func flush() throws(Failure) {
        if uninterrupted({ fsync(descriptor) }) != 0 { throw Failure("cannot be written", path) }
    }

    /// Waits until the bytes would survive a crash, if the file system supports this.
    package func flushData() throws(Failure) {
        #if os(Linux) || os(Android)
        let result = uninterrupted { fdatasync(descriptor) }
        #else
        // On Darwin, fsync(2) leaves the bytes in the drive's cache.
        let result = fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : uninterrupted { fsync(descriptor) }
        #endif
        if result != 0, errno != EINVAL, errno != ENOTSUP { throw Failure("cannot be flushed to disk", path) }
    }

    /// Starts to write the file's bytes to the disk, without waiting. Does nothing on Darwin.
    package func beginFlush() {
        #if os(Linux) || os(Android)
        _ = Self.syncFileRange?(descriptor, 0, 0, 2)
        #endif
    }

    /// Reserves disk space without changing the file's size. Returns false if the system can't, as on Darwin.
    package func reserve(_ count: Int64, at offset: Int64) -> Bool {
        #if os(Linux) || os(Android)
        guard let fallocate = Self.fallocate else { return false }
        return uninterrupted { fallocate(descriptor, 1, offset, count) } == 0
        #else
        return false
        #endif
    }

    /// Sets the permission bits, regardless of the process's umask.
    package func setPermissions(_ mode: mode_t) throws(Failure) {
        if fchmod(descriptor, mode) != 0 { throw Failure("cannot be written", path) }
    }

    /// Waits for the file's lock. Returns without the lock if the file system doesn't support locks.
    package func lock() throws(Failure) {
        if uninterrupted({ flock(descriptor, LOCK_EX) }) != 0, !Self.meansNoLocks(errno) {
            throw Failure("cannot be locked", path)
        }
    }

    /// Whether a file system that doesn't support locks, such as some network shares, fails with this error.
    package static func meansNoLocks(_ code: Int32) -> Bool {
        [ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL].contains(code)
    }

    /// Takes the file's lock if possible. Returns false if another open file holds the lock, and true if the file
    /// system doesn't support locks.
    package func tryLock(shared: Bool = false) -> Bool {
        uninterrupted { flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) } == 0 || errno != EWOULDBLOCK
    }

    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Opens or creates a file for its owner only and takes its lock. Opens the file again if it was removed meanwhile.
    /// Returns `nil` if another open file holds the lock.
    package static func locked(_ path: String) throws(Failure) -> SystemFile? {
        var waits = 0
        for _ in 0..<100 {
            let file = try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
            guard file.tryLock() else {
                // A process that lists partial transfers holds the lock for a moment, so try again.
                waits += 1
                if waits > 5 { break }
                usleep(1000)
                continue
            }
            if file.isAt(path) { return file }
        }
        return nil
    }
}

package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case regular, directory, link, other }

    /// Identifies a file. All hard links to a file have the same identity.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let kind: Kind
    package let size: Int64
    /// The modification time in nanoseconds since 1970, clamped to 64 bits.
    package let modified: Int64
    package let permissions: mode_t
    package let linkCount: Int
    package let identity: Identity

    init(_ info: stat) {
        // Some Android versions use a wider type for the mode.
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

    /// Returns a time in nanoseconds. Clamps times before 1678 and after 2262, which don't fit in 64 bits.
    private static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
        let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooFar) = whole.addingReportingOverflow(rest)
        return isFar || isTooFar ? seconds < 0 ? .min : .max : sum
    }
}

/// A failure in this module. Callers convert it to their own error with a code, such as an `ErrandError`.
package protocol SupportFault: Error, CustomStringConvertible {}
