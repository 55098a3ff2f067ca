import ErrandSupport

import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file and the system calls of the disk store. Every call may block.
struct DiskFile: ~Copyable {
    /// An error of the system, without a path.
    struct Failure: Error {
        let code: Int32
        /// No further entry can be evicted to keep the limit.
        static let full = Failure(code: EFBIG)
        static let missing = Failure(code: ENOENT)
        static let damaged = Failure(code: EIO)
        var isMissing: Bool { code == ENOENT }
        /// Whether the disk is full or the user's quota is exceeded.
        var isFull: Bool { code == ENOSPC || code == EDQUOT }
        var error: CacheStoreError { CacheStoreError("the cache directory: \(String(cString: strerror(code)))") }
    }

    /// The relevant attributes of a file.
    struct Status: Sendable, Hashable {
        var size: Int64
        /// When the file was last used, in nanoseconds since 1970.
        var used: Int64
        var isRegular: Bool

        fileprivate init(_ info: stat) {
            size = Int64(info.st_size)
            isRegular = info.st_mode & S_IFMT == S_IFREG
            used = SystemFile.modified(info)
        }

        init?(path: String) {
            var info = stat()
            guard lstat(path, &info) == 0 else { return nil }
            self.init(info)
        }
    }

    let descriptor: Int32

    init(reading path: String) throws(Failure) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 { throw Failure(code: errno) }
    }

    /// Opens a file to be changed in place.
    init(updating path: String) throws(Failure) {
        descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 { throw Failure(code: errno) }
    }

    /// Creates a file with access for its owner only.
    init(creating path: String) throws(Failure) {
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Failure(code: errno) }
    }

    /// Opens a file, or creates it with access for its owner only.
    init(opening path: String) throws(Failure) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { throw Failure(code: errno) }
    }

    deinit { close(descriptor) }

    var status: Status? {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? Status(info) : nil
    }

    /// Marks the file as used at a time, in nanoseconds since 1970.
    func touch(_ used: Int64) {
        let time = timespec(tv_sec: Int(used / 1_000_000_000), tv_nsec: Int(used % 1_000_000_000))
        let times = [time, time]
        futimens(descriptor, times)
    }

    /// Reads exactly this number of bytes; nil if the file has fewer.
    func read(_ count: Int, at offset: Int64) throws(Failure) -> Data? {
        guard count > 0 else { return Data() }
        guard let buffer = malloc(count) else { throw Failure(code: ENOMEM) }
        do {
            let space = UnsafeMutableRawBufferPointer(start: buffer, count: count)
            if try PositionedIO.read(space, from: descriptor, at: offset) == count {
                return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
            }
        } catch {
            free(buffer)
            throw Failure(code: error.code)
        }
        free(buffer)
        return nil
    }

    /// Reads the slots for heads of an entry's file.
    func read(slotsOf format: DiskFormat) throws(Failure) -> Data? {
        try read(format.slots * format.slotLength, at: Int64(DiskFormat.prefixLength))
    }

    func write(_ data: Data, at offset: Int64) throws(Failure) {
        let result: Result<Void, PositionedIO.Failure> = data.withUnsafeBytes { bytes in
            Result { () throws(PositionedIO.Failure) in
                try PositionedIO.write(bytes, to: descriptor, at: offset)
            }
        }
        do { try result.get() } catch { throw Failure(code: error.code) }
    }

    /// Whether the path still refers to this file.
    func isNamed(_ path: String) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    /// Locks the file; waits while another process, or another store of this one, holds the lock.
    func lock() throws(Failure) {
        while flock(descriptor, LOCK_EX) != 0 { if errno != EINTR { throw Failure(code: errno) } }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    static func rename(_ from: String, to path: String) throws(Failure) {
        if systemRename(from, path) != 0 { throw Failure(code: errno) }
    }

    @discardableResult
    static func remove(_ path: String) -> Bool { unlink(path) == 0 }

    /// Links a file under a second name; false if the name exists.
    static func link(_ from: String, to path: String) -> Bool { systemLink(from, path) == 0 }

    /// Creates a directory with access for its owner only; a regular file at its path is removed.
    static func makeDirectory(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) == 0 { return }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try makeDirectory(String(path[..<slash]))
        } else if errno == EEXIST {
            guard Status(path: path)?.isRegular == true else { return }
            unlink(path)
        } else {
            throw Failure(code: errno)
        }
        if mkdir(path, 0o700) != 0 && errno != EEXIST { throw Failure(code: errno) }
    }

    /// Calls the body with the name of each file, or of the first `limit` files, in no particular order.
    static func list(_ path: String, atMost limit: Int = .max, body: (String) -> Void) throws(Failure) {
        guard let directory = opendir(path) else { throw Failure(code: errno) }
        defer { closedir(directory) }
        var count = 0
        while count < limit, let item = readdir(directory) {
            let name = withUnsafeBytes(of: &item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(".") { continue }
            count += 1
            body(name)
        }
    }
}

private func systemRename(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func systemLink(_ from: String, _ to: String) -> Int32 { link(from, to) }
