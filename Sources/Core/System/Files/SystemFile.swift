import ErrandEssentials

/// An open file: the one wrapper of a descriptor in this project.
///
/// ```swift
/// let file = try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
/// try file.write(data, at: 4096)
/// try file.flushData()
/// ```
///
/// A call is repeated when a signal interrupts it, and reads and writes as much as it is asked to. Every call may
/// block; call it from a `@concurrent` function. A failure names the path and has the system's error number. The last
/// use closes the file.
package struct SystemFile: ~Copyable, Sendable {
    /// How a file is opened.
    package struct Access: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let read = Access(rawValue: 1)
        package static let write = Access(rawValue: 2)
        /// Every write goes to the end of the file.
        package static let append = Access(rawValue: 4)
        /// Creates the file if it does not exist.
        package static let create = Access(rawValue: 8)
        /// With `create`: an existing file is a failure (`EEXIST`).
        package static let exclusive = Access(rawValue: 16)
        /// For a file of ours in a place where others may leave things: it is opened at once, and only if it is a
        /// regular file at this path. A symbolic link is a failure (`ELOOP`), as are a pipe or a device (`ENXIO`), a
        /// directory (`EISDIR`) and, with `write`, a file that has another name too (`EMLINK`).
        package static let refusesLinks = Access(rawValue: 32)
        /// Anything but a regular file is a failure, at once; symbolic links to one are followed.
        package static let onlyRegular = Access(rawValue: 64)

        fileprivate var isForRegular: Bool { contains(.refusesLinks) || contains(.onlyRegular) }

        /// Why an open file is refused; nil if it is not.
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
            // A pipe without a writer would block; for a regular file it changes nothing.
            if isForRegular { flags |= O_NONBLOCK }
            return flags
        }
    }

    /// A failure of the system, and the path of the file.
    package struct Failure: SupportFault {
        /// A sentence with the path.
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

    /// Opens a file; one that `create` creates gets the permissions that the process does not mask.
    package init(_ path: String, _ access: Access, permissions: mode_t = 0o666) throws(Failure) {
        let opened = systemOpen(path, access.flags, permissions)
        if let code = opened < 0 ? errno : access.refusal(of: opened) {
            if opened >= 0 { close(opened) }
            let what = access.contains(.exclusive) ? "created" : access.contains(.create) ? "opened" : "read"
            throw Failure("cannot be \(what)", path, code: code)
        }
        (self.path, descriptor) = (path, opened)
    }

    /// Opens a file for reading.
    package init(reading path: String) throws(Failure) { try self.init(path, .read) }

    /// Creates a new file for writing; an existing file is a failure.
    package init(creating path: String, mode: mode_t = 0o666) throws(Failure) {
        try self.init(path, [.write, .create, .exclusive], permissions: mode)
    }

    deinit { close(descriptor) }

    /// The attributes of the open file; nil only where the file system fails.
    package var status: FileStatus? { FileStatus(descriptor: descriptor) }

    /// Whether the path still leads to this file, and not to another one, a link or nothing.
    package func isAt(_ path: String) -> Bool {
        guard let mine = status, let other = try? FileStatus(at: path, followingLinks: false) else { return false }
        return mine.identity == other.identity
    }
}

/// Repeats a call of the system until no signal interrupts it.
func uninterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension SystemFile {
    /// The failure of a file whose place a directory takes.
    package static func directory(_ path: String) -> Failure { Failure("cannot be replaced", path, code: EISDIR) }

    /// Whether a path leads to a directory, and its permission bits; nil if there is nothing.
    package static func attributes(at path: String) -> (isDirectory: Bool, permissions: mode_t)? {
        (try? FileStatus(at: path)).map { ($0.kind == .directory, $0.permissions) }
    }

    /// The size of a regular file; anything else is a failure.
    package static func size(of path: String) throws(Failure) -> Int64 {
        let status = try FileStatus(at: path)
        guard status.kind == .regular else { throw Failure("is not a regular file", path, code: EINVAL) }
        return status.size
    }

    /// Creates a directory for its owner only, and those above it, unless they exist.
    package static func makeDirectories(_ path: String) throws(Failure) {
        if attributes(at: path)?.isDirectory == true { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeDirectories(String(path[..<slash])) }
        do { try makeDirectory(path, permissions: 0o700) } catch {
            if error.code != EEXIST || attributes(at: path)?.isDirectory != true { throw error }
        }
        flushDirectory(of: path)
    }

    /// Flushes the directory of a file, so that a new name survives a crash of the machine. A failure is ignored.
    package static func flushDirectory(of path: String) {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        try? SystemFile(reading: end == path.startIndex ? "/" : String(path[..<end])).flush()
    }

    /// Replaces a file by one with these bytes that only its owner can read: a reader sees the old one or the new one
    /// as a whole.
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

    /// A name beside `path` that no other file has, and that fits wherever the name of `path` does.
    package static func temporary(beside path: String) -> String {
        let name = ".errand-\(getpid())-\(UInt64.random(in: 0 ... .max)).partial"
        guard let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}
