import ErrandEssentials
#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

/// An open file, for what `Data(contentsOf:)` and `Data.write(to:)` cannot do: pieces, atomic replacement, flushing.
///
/// Every call may block; call it from a `@concurrent` function.
package struct SystemFile: ~Copyable {
    /// What the system said, and the path of the file.
    package struct Failure: SupportFault {
        package let description: String
        package let code: Int32
        /// What the system says, without the file.
        package var reason: String { String(cString: strerror(code)) }

        package init(_ what: String, _ path: String, code: Int32 = errno) {
            self.code = code
            description = "\(path.debugDescription) \(what): \(String(cString: strerror(code)))"
        }
    }

    package let descriptor: Int32
    private let path: String

    package init(reading path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw Failure("cannot be read", path) }
    }

    /// A new file; one that is there already is an error.
    package init(creating path: String, mode: mode_t = 0o666) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor < 0 { throw Failure("cannot be created", path) }
    }

    deinit { close(descriptor) }

    /// The next bytes, at most `count`; empty at the end.
    package func read(_ count: Int) throws(Failure) -> Data {
        var data = Data(count: count)
        var received = -1
        repeat {
            received = data.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, count) }
        } while received < 0 && errno == EINTR
        if received < 0 { throw Failure("cannot be read", path) }
        return received == count ? data : Data(data.prefix(received))
    }

    package func write(_ data: Data) throws(Failure) {
        var offset = 0
        while offset < data.count {
            let written = data.withUnsafeBytes { bytes in
                systemWrite(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw Failure("cannot be written", path) }
            offset += written
        }
    }

    package func flush() throws(Failure) {
        if fsync(descriptor) != 0 { throw Failure("cannot be written", path) }
    }

    /// Sets the permission bits, whatever the process masks.
    package func setPermissions(_ mode: mode_t) throws(Failure) {
        if fchmod(descriptor, mode) != 0 { throw Failure("cannot be written", path) }
    }

    /// A directory is where a file is to be.
    package static func directory(_ path: String) -> Failure { Failure("cannot be replaced", path, code: EISDIR) }

    /// What is at a path: whether that is a directory, and its permission bits; nil if there is nothing.
    package static func place(at path: String) -> (isDirectory: Bool, permissions: mode_t)? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        return (info.st_mode & S_IFMT == S_IFDIR, info.st_mode & 0o777)
    }

    /// The size of a regular file; anything else is an error.
    package static func size(of path: String) throws(Failure) -> Int64 {
        var info = stat()
        guard stat(path, &info) == 0 else { throw Failure("cannot be read", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw Failure("is not a regular file", path, code: EINVAL) }
        return Int64(info.st_size)
    }

    /// When the bytes were last changed, in nanoseconds since 1970.
    package static func modified(_ info: stat) -> Int64 {
        #if canImport(Darwin)
        let time = info.st_mtimespec
        #else
        let time = info.st_mtim
        #endif
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    package static func rename(_ from: String, to path: String) throws(Failure) {
        if systemRename(from, path) != 0 { throw Failure("cannot be replaced", path) }
    }

    package static func remove(_ path: String) { unlink(path) }

    /// A name beside `path` that nothing else has, and that fits wherever the name of `path` does.
    package static func temporary(beside path: String) -> String {
        let name = ".errand-\(getpid())-\(UInt64.random(in: 0 ... .max)).partial"
        guard let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

private func systemRename(_ from: String, _ to: String) -> Int32 { rename(from, to) }
