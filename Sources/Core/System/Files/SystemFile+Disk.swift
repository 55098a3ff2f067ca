import ErrandEssentials

extension SystemFile {
    /// Truncates the file to a size, or extends it with zeros.
    package func truncate(to size: Int64) throws(Failure) {
        if uninterrupted({ ftruncate(descriptor, off_t(size)) }) != 0 { throw Failure("cannot be truncated", path) }
    }

    /// Waits until the bytes and attributes are on disk.
    package func flush() throws(Failure) {
        if uninterrupted({ fsync(descriptor) }) != 0 { throw Failure("cannot be written", path) }
    }

    /// Waits until the bytes would survive a crash of the machine. Succeeds if the file system doesn't support this.
    package func flushData() throws(Failure) {
        #if os(Linux) || os(Android)
        let result = uninterrupted { fdatasync(descriptor) }
        #else
        // On Darwin, fsync(2) leaves the bytes in the drive's own memory.
        let result = fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : uninterrupted { fsync(descriptor) }
        #endif
        if result != 0, errno != EINVAL, errno != ENOTSUP { throw Failure("cannot be flushed to disk", path) }
    }

    /// Asks the system to start writing the bytes to disk, without waiting. Ignored on Darwin.
    package func beginFlush() {
        #if os(Linux) || os(Android)
        _ = Self.syncFileRange?(descriptor, 0, 0, 2)
        #endif
    }

    /// Reserves disk space for bytes to be written, without changing the file's size. Returns false if that isn't
    /// possible, as on Darwin.
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

    /// Waits until no other open file holds the lock.
    package func lock() throws(Failure) {
        if uninterrupted({ flock(descriptor, LOCK_EX) }) != 0 { throw Failure("cannot be locked", path) }
    }

    /// Takes the lock, shared or exclusive. Returns false if another open file holds it, and true if the file system
    /// doesn't support locks.
    package func tryLock(shared: Bool = false) -> Bool {
        uninterrupted { flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) } == 0 || errno != EWOULDBLOCK
    }

    /// Releases the lock. Closing the file also releases it.
    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Opens a file for its owner only, creating it if necessary, and takes its lock. Returns `nil` if another open
    /// file holds the lock. Opens the file again if it was removed during the wait.
    package static func locked(_ path: String) throws(Failure) -> SystemFile? {
        var waits = 0
        for _ in 0..<100 {
            let file = try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
            guard file.tryLock() else {
                // A listing holds the lock for a moment.
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
