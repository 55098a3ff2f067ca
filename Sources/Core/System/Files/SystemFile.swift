import ErrandEssentials

/// An open file, the project's only wrapper of a file descriptor.
///
/// ```swift
/// let file = try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
/// try file.write(data, at: 4096)
/// try file.flushData()
/// ```
///
/// Calls are repeated if a signal interrupts them, and reads and writes transfer as much as requested. Every call may
/// block, so call it from a `@concurrent` function. A failure contains the path and the system's error number.
/// Releasing the value closes the file.
package struct SystemFile: ~Copyable, Sendable {
    package struct Access: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let read = Access(rawValue: 1)
        package static let write = Access(rawValue: 2)
        /// Writes every time to the end of the file.
        package static let append = Access(rawValue: 4)
        package static let create = Access(rawValue: 8)
        /// With `create`: fails with `EEXIST` if the file exists.
        package static let exclusive = Access(rawValue: 16)
        /// For the app's own file in a place where others can put files: opens without blocking, and only a regular
        /// file at this exact path. Fails with `ELOOP` for a symbolic link, `ENXIO` for a pipe or device, `EISDIR` for
        /// a directory, and, with `write`, `EMLINK` for a file with other names.
        package static let refusesLinks = Access(rawValue: 32)
        /// Fails at once unless the file is regular. Follows symbolic links.
        package static let onlyRegular = Access(rawValue: 64)

        fileprivate var isForRegular: Bool { contains(.refusesLinks) || contains(.onlyRegular) }

        /// Returns the error number for which an open file is refused, if it is.
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

    /// A system failure, with the path of the file.
    package struct Failure: SupportFault {
        /// A sentence that includes the path.
        package let description: String
        package let path: String
        /// The system's error number, such as `ENOSPC`.
        package let code: Int32
        /// The system's text, without the path.
        package var reason: String { systemErrorText(code) }

        package init(_ what: String, _ path: String, code: Int32 = errno) {
            (self.path, self.code) = (path, code)
            description = "\(path.debugDescription) \(what): \(systemErrorText(code))"
        }
    }

    package let path: String
    let descriptor: Int32

    /// Opens a file. If `create` creates it, the process's umask applies to its permissions.
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

    /// Creates a new file for writing. Fails if the file exists.
    package init(creating path: String, mode: mode_t = 0o666) throws(Failure) {
        try self.init(path, [.write, .create, .exclusive], permissions: mode)
    }

    deinit { close(descriptor) }

    /// The attributes of the open file; `nil` only if the file system fails.
    package var status: FileStatus? { FileStatus(descriptor: descriptor) }

    /// Returns whether the path still refers to this file, without following a symbolic link.
    package func isAt(_ path: String) -> Bool {
        guard let mine = status, let other = try? FileStatus(at: path, followingLinks: false) else { return false }
        return mine.identity == other.identity
    }
}

/// Repeats a system call until no signal interrupts it.
func uninterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension SystemFile {
    /// Returns the failure for a directory in the place of a file.
    package static func directory(_ path: String) -> Failure { Failure("cannot be replaced", path, code: EISDIR) }

    /// Returns whether a path leads to a directory, along with its permission bits, or `nil` if it doesn't exist.
    package static func attributes(at path: String) -> (isDirectory: Bool, permissions: mode_t)? {
        (try? FileStatus(at: path)).map { ($0.kind == .directory, $0.permissions) }
    }

    /// Returns the size of a regular file. Fails for anything else.
    package static func size(of path: String) throws(Failure) -> Int64 {
        let status = try FileStatus(at: path)
        guard status.kind == .regular else { throw Failure("is not a regular file", path, code: EINVAL) }
        return status.size
    }

    /// Creates a directory for its owner only, including missing parent directories.
    package static func makeDirectories(_ path: String) throws(Failure) {
        if attributes(at: path)?.isDirectory == true { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeDirectories(String(path[..<slash])) }
        do { try makeDirectory(path, permissions: 0o700) } catch {
            if error.code != EEXIST || attributes(at: path)?.isDirectory != true { throw error }
        }
        flushDirectory(of: path)
    }

    /// Flushes a file's directory, so a new name survives a crash of the machine. Ignores failures.
    package static func flushDirectory(of path: String) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
        try? SystemFile(reading: directory ?? ".").flush()
    }

    /// Replaces a file with a new file that only its owner can read. Readers see either the old or the new file as a
    /// whole.
    package static func replace(_ path: String, with data: Data) throws(Failure) {
        if attributes(at: path)?.isDirectory ?? false { throw directory(path) }
        let temporary = temporary(beside: path)
        do {
            let file = try SystemFile(creating: temporary, mode: 0o600)
            try file.setPermissions(0o600)
            try file.write(data)
            try file.flushData()
            try rename(temporary, to: path)
        } catch {
            remove(temporary)
            throw error
        }
    }

    /// Returns a random, short name in the directory of `path`.
    package static func temporary(beside path: String) -> String {
        let name = ".errand-\(getpid())-\(UInt64.random(in: 0 ... .max)).partial"
        guard let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}
