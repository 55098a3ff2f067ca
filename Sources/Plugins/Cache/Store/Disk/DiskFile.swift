import ErrandEssentials
import ErrandSupport

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
        /// Whether something else than a file of the store's own has its name.
        var isForeign: Bool { [ELOOP, ENXIO, EMLINK].contains(code) }
        /// Whether the disk is full or the user's quota is exceeded.
        var isFull: Bool { code == ENOSPC || code == EDQUOT }
        var error: CacheStoreError { CacheStoreError("the cache directory: \(systemErrorText(code))") }
    }

    /// The relevant attributes of a file.
    struct Status: Sendable, Hashable {
        var size: Int64
        /// When the file was last used, in nanoseconds since 1970.
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
    /// Made once: a literal of another module's option set is not folded.
    private static let reading: SystemFile.Access = [.read, .refusesLinks]

    /// To be changed where it is.
    init(updating path: String) throws(Failure) { try self.init(path, [.read, .write, .refusesLinks]) }

    /// For its owner only.
    init(creating path: String) throws(Failure) { try self.init(path, [.read, .write, .create, .exclusive]) }

    /// For its owner only; an existing file stays.
    init(opening path: String) throws(Failure) { try self.init(path, [.read, .write, .create, .refusesLinks]) }

    var status: Status? { file.status.map(Status.init) }

    /// Clears a slot for a head.
    func clear(slot: Int, of format: DiskFormat) throws(Failure) {
        let offset = DiskFormat.prefixLength + slot * format.slotLength
        try write(Data(count: DiskFormat.slotOverhead), at: Int64(offset))
    }

    /// Marks it as used at that moment.
    func touch(_ used: Int64) { file.setTimes(used) }

    /// Reads exactly this number of bytes; nil if the file has fewer.
    func read(_ count: Int, at offset: Int64) throws(Failure) -> Data? {
        let data = try Failure.converting { () throws(SystemFile.Failure) in try file.read(count, at: offset) }
        return data.count == count ? data : nil
    }

    /// Reads the slots for heads of an entry's file.
    func read(slotsOf format: DiskFormat) throws(Failure) -> Data? {
        try read(format.slots * format.slotLength, at: Int64(DiskFormat.prefixLength))
    }

    func write(_ data: Data, at offset: Int64) throws(Failure) {
        try Failure.converting { () throws(SystemFile.Failure) in try file.write(data, at: offset) }
    }

    /// Whether the name still leads to this file.
    func isNamed(_ path: String) -> Bool { file.isAt(path) }

    /// Waits until no other process and no other store of this one holds the lock of this file.
    func lock() throws(Failure) { try Failure.converting { () throws(SystemFile.Failure) in try file.lock() } }

    func unlock() { file.unlock() }

    static func rename(_ from: String, to path: String) throws(Failure) {
        try Failure.converting { () throws(SystemFile.Failure) in try SystemFile.rename(from, to: path) }
    }

    @discardableResult
    static func remove(_ path: String) -> Bool { SystemFile.remove(path) }

    /// Gives a file a second name, unless that is taken.
    static func link(_ from: String, to path: String) -> Bool { (try? SystemFile.link(from, to: path)) != nil }

    /// Creates a directory with access for its owner only, unless there is one.
    ///
    /// - Parameter replacingFile: whether a regular file at its path makes way.
    static func makeDirectory(_ path: String, replacingFile: Bool = false) throws(Failure) {
        do { return try SystemFile.makeDirectory(path, permissions: 0o700) } catch {
            if error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                try makeDirectory(String(path[..<slash]))
            } else if error.code == EEXIST {
                guard Status(path: path)?.isRegular == true else { return }
                guard replacingFile else { throw Failure(code: error.code) }
                setAside(path)
            } else {
                throw Failure(code: error.code)
            }
        }
        do { try SystemFile.makeDirectory(path, permissions: 0o700) } catch {
            if error.code != EEXIST { throw Failure(code: error.code) }
        }
    }

    /// Gives a file that is not the store's a free name beside its old one. By a link, which fails for the directory
    /// that another process has made meanwhile; where there are no links the file stays.
    private static func setAside(_ path: String) {
        let names = (0..<100).lazy.map { path + ($0 == 0 ? ".replaced" : ".replaced-\($0)") }
        if names.contains(where: { link(path, to: $0) }) { remove(path) }
    }

    /// Calls the body with the name of each file, or of the first `limit` files, in no particular order.
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
    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(Self) -> Value {
        do { return try body() } catch { throw Self(code: error.code) }
    }
}
