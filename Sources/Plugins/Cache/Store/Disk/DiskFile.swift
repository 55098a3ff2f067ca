import ErrandEssentials
import ErrandSupport

/// An open file, and the system calls of the disk store. All calls can block.
struct DiskFile: ~Copyable {
    enum Failure: Error {
        /// The store has reached its limit, and no more entries can be evicted.
        case limitReached
        /// The code of a failed system call.
        case system(Int32)

        static let missing = Failure.system(ENOENT)
        static let damaged = Failure.system(EIO)

        private var code: Int32? { if case .system(let code) = self { code } else { nil } }
        var isMissing: Bool { code == ENOENT }
        /// Whether the path is something other than a file of the store, such as a link.
        var isForeign: Bool { code == ELOOP || code == ENXIO || code == EMLINK }
        /// Whether the disk has no space left for the store's user.
        var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

        var error: CacheStoreError {
            switch self {
            case .limitReached: CacheStoreError("the store has reached its limit, and no entry could be evicted")
            case .system(let code): CacheStoreError("the cache directory can't be used: \(systemErrorText(code))")
            }
        }
    }

    struct Status: Sendable, Hashable {
        var size: Int64
        /// The time of the last use in nanoseconds since 1970. Stored as the file's modification time.
        var used: Int64
        var isRegular: Bool

        fileprivate init(_ status: FileStatus) {
            size = status.size
            isRegular = status.kind == .regular
            used = status.modified
        }

        init?(path: String) {
            guard let status = try? FileStatus(at: path, followingLinks: false) else { return nil }
            self.init(status)
        }
    }

    let file: SystemFile

    private init(_ path: String, _ access: SystemFile.Access) throws(Failure) {
        file = try Failure.converting { () throws(SystemFile.Failure) in
            try SystemFile(path, access, permissions: 0o600)
        }
    }

    init(reading path: String) throws(Failure) { try self.init(path, Self.reading) }
    /// Option set literals from another module aren't constant-folded.
    private static let reading: SystemFile.Access = [.read, .refusesLinks]

    init(updating path: String) throws(Failure) { try self.init(path, [.read, .write, .refusesLinks]) }

    /// Creates a file that only its owner can access.
    init(creating path: String) throws(Failure) { try self.init(path, [.read, .write, .create, .exclusive]) }

    init(opening path: String) throws(Failure) { try self.init(path, [.read, .write, .create, .refusesLinks]) }

    var status: Status? { file.status.map(Status.init) }

    func clear(slot: Int, of format: DiskFormat) throws(Failure) {
        let offset = DiskFormat.prefixLength + slot * format.slotLength
        try write(Data(count: DiskFormat.slotOverhead), at: Int64(offset))
    }

    func touch(_ used: Int64) { file.setTimes(used) }

    func read(_ count: Int, at offset: Int64) throws(Failure) -> Data? {
        let data = try Failure.converting { () throws(SystemFile.Failure) in try file.read(count, at: offset) }
        return data.count == count ? data : nil
    }

    func read(slotsOf format: DiskFormat) throws(Failure) -> Data? {
        try read(format.slots * format.slotLength, at: Int64(DiskFormat.prefixLength))
    }

    func write(_ data: Data, at offset: Int64) throws(Failure) {
        try Failure.converting { () throws(SystemFile.Failure) in try file.write(data, at: offset) }
    }

    func isNamed(_ path: String) -> Bool { file.isAt(path) }

    /// Takes the file's lock, which excludes other processes and other stores in this process.
    func lock() throws(Failure) { try Failure.converting { () throws(SystemFile.Failure) in try file.lock() } }

    func unlock() { file.unlock() }

    static func rename(_ from: String, to path: String) throws(Failure) {
        try Failure.converting { () throws(SystemFile.Failure) in try SystemFile.rename(from, to: path) }
    }

    @discardableResult
    static func remove(_ path: String) -> Bool { SystemFile.remove(path) }

    static func link(_ from: String, to path: String) -> Bool { (try? SystemFile.link(from, to: path)) != nil }

    /// Creates a directory that only its owner can access, and its parents.
    ///
    /// - Parameter replacingFile: Whether to rename a regular file at this path.
    static func makeDirectory(_ path: String, replacingFile: Bool = false) throws(Failure) {
        do { return try SystemFile.makeDirectory(path, permissions: 0o700) } catch {
            if error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                try makeDirectory(String(path[..<slash]))
            } else if error.code == EEXIST {
                guard Status(path: path)?.isRegular == true else { return }
                guard replacingFile else { throw Failure.system(error.code) }
                setAside(path)
            } else {
                throw Failure.system(error.code)
            }
        }
        do { try SystemFile.makeDirectory(path, permissions: 0o700) } catch {
            if error.code != EEXIST { throw Failure.system(error.code) }
        }
    }

    /// Renames a file that doesn't belong to the store. The link fails if another process has created the directory
    /// meanwhile. On file systems without links, the file stays.
    private static func setAside(_ path: String) {
        let names = (0..<100).lazy.map { path + ($0 == 0 ? ".replaced" : ".replaced-\($0)") }
        if names.contains(where: { link(path, to: $0) }) { remove(path) }
    }

    static func list(_ path: String, atMost limit: Int = .max, body: (String) -> Void) throws(Failure) {
        var count = 0
        try Failure.converting { () throws(SystemFile.Failure) in
            try SystemFile.list(path) { name in
                guard count < limit else { return false }
                if name.hasPrefix(".") { return true }
                count += 1
                body(name)
                return true
            }
        }
    }
}

extension DiskFile.Failure {
    fileprivate static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(Self) -> Value {
        do { return try body() } catch { throw Self.system(error.code) }
    }
}
