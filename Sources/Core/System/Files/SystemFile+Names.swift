import ErrandEssentials

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
