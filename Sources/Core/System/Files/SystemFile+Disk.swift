import ErrandEssentials

extension SystemFile {
    /// Cuts the file to a size, or extends it with zeros.
    package func truncate(to size: Int64) throws(Failure) {
        if uninterrupted({ ftruncate(descriptor, off_t(size)) }) != 0 { throw Failure("cannot be truncated", path) }
    }

    /// Waits until the bytes and the attributes are on the disk.
    package func flush() throws(Failure) {
        if uninterrupted({ fsync(descriptor) }) != 0 { throw Failure("cannot be written", path) }
    }

    /// Waits until the bytes survive a crash of the machine. A file system without this operation is no failure.
    package func flushData() throws(Failure) {
        #if os(Linux) || os(Android)
        let result = uninterrupted { fdatasync(descriptor) }
        #else
        // fsync(2) on Darwin leaves the bytes in the drive's own memory.
        let result = fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : uninterrupted { fsync(descriptor) }
        #endif
        if result != 0, errno != EINVAL, errno != ENOTSUP { throw Failure("cannot be flushed to disk", path) }
    }

    /// Asks the system to write the bytes to the disk, without waiting for it.
    package func beginFlush() {
        #if os(Linux) || os(Android)
        _ = Self.syncFileRange?(descriptor, 0, 0, 2)
        #endif
    }

    /// Reserves room on the disk for bytes that will be written, without changing the size of the file; false where
    /// that is not possible.
    package func reserve(_ count: Int64, at offset: Int64) -> Bool {
        #if os(Linux) || os(Android)
        guard let fallocate = Self.fallocate else { return false }
        return uninterrupted { fallocate(descriptor, 1, offset, count) } == 0
        #else
        return false
        #endif
    }

    /// Sets the permission bits, whatever the process masks.
    package func setPermissions(_ mode: mode_t) throws(Failure) {
        if fchmod(descriptor, mode) != 0 { throw Failure("cannot be written", path) }
    }

    /// Waits until no other open file holds the lock.
    package func lock() throws(Failure) {
        if uninterrupted({ flock(descriptor, LOCK_EX) }) != 0 { throw Failure("cannot be locked", path) }
    }

    /// Takes the lock, shared with other shared locks or alone; false if another open file holds it. Where the file
    /// system has no locks, this is true.
    package func tryLock(shared: Bool = false) -> Bool {
        uninterrupted { flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) } == 0 || errno != EWOULDBLOCK
    }

    /// Releases the lock; closing the file does, too.
    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Opens a file for its owner only, and takes its lock; creates it where there is none. Nil if another open file
    /// holds the lock. A file that was removed while this waited is opened anew.
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
