import ErrandEssentials
import ErrandSupport

/// The file with the outbox's records. A process appends records while it holds the directory's lock. Every call can
/// block.
struct OutboxLog: ~Copyable {
    private let directory: String
    private let lockFile: SystemFile
    private var file: SystemFile?
    /// The end of the part of the file that this process has read or written.
    private(set) var end: Int64 = 0
    private var isRead = false

    private var path: String { "\(directory)/outbox.log" }
    static func lockPath(in directory: String) -> String { "\(directory)/outbox.lock" }
    static func senderPath(in directory: String) -> String { "\(directory)/outbox.sender" }

    init(at directory: String) throws(OutboxError) {
        self.directory = directory
        try OutboxError.converting { () throws(SystemFile.Failure) in try SystemFile.makeDirectories(directory) }
        lockFile = try Self.opened(Self.lockPath(in: directory))
    }

    /// Opens a file for the log. Throws if a link, a pipe or a device is at the path.
    static func opened(_ path: String) throws(OutboxError) -> SystemFile {
        try OutboxError.converting { () throws(SystemFile.Failure) in
            try SystemFile(path, [.read, .write, .create, .refusesLinks], permissions: 0o600)
        }
    }

    /// Acquires the directory's lock. Returns false if another process holds it.
    func tryLock() throws(OutboxError) -> Bool {
        guard lockFile.tryLock() else { return false }
        if lockFile.isAt(Self.lockPath(in: directory)) { return true }
        lockFile.unlock()
        throw OutboxError(.fileFailed, "\(directory) was removed while it was open")
    }

    func unlock() { lockFile.unlock() }

    /// Reads the records that other processes have added. Requires the lock. If the file was replaced, calls `reset`
    /// and reads the file from the beginning.
    mutating func readNew(
        nextID: UInt64, reset: () -> Void, _ receive: (OutboxScanner.Item) -> Void
    ) throws(OutboxError) {
        var nextID = nextID
        var size = file?.status?.size ?? 0
        if !isRead || file?.isAt(path) != true || size < end {
            file = try Self.opened(path)
            isRead = false
            size = file?.status?.size ?? 0
            reset()
            nextID = 1
            end = try begin(size)
            size = max(size, end)
        }
        var scanner = OutboxScanner(from: end, size: size, nextID: nextID)
        while let item = try scanner.next({ (count, offset) throws(OutboxError) in try read(count, at: offset) }) {
            receive(item)
        }
        end = scanner.validEnd
        // If the file is longer, a crash during a write has left a partial record.
        if end < size { try truncate() }
        isRead = true
    }

    /// Begins to read the file. Returns the offset of the first record.
    private mutating func begin(_ size: Int64) throws(OutboxError) -> Int64 {
        let prefix = OutboxFormat.prefix
        let found = Array(try read(prefix.count, at: 0))
        if found.count == prefix.count, found.dropLast() == prefix.dropLast(), found != prefix {
            throw OutboxError(.unknownFormat, "\(path) has an unknown version")
        }
        if found == prefix { return Int64(prefix.count) }
        // The file's prefix is damaged, so the scanner looks for records from the beginning.
        if size > Int64(prefix.count) { return 0 }
        try write(prefix, at: 0)
        try flush()
        SystemFile.flushDirectory(of: path)
        return Int64(prefix.count)
    }

    /// Reads an entry's payload. Returns nil if the payload is damaged. Throws if the file was replaced and couldn't be
    /// read, because the extent then belongs to the previous file.
    func payload(at extent: StoredEntry.Extent) throws(OutboxError) -> Data? {
        guard isRead else { throw OutboxError(.fileFailed, "\(path) was replaced, and the new file could not be read") }
        let data = try read(extent.length + OutboxFormat.sumSize, at: extent.offset)
        guard data.count == extent.length + OutboxFormat.sumSize else { return nil }
        let bytes = data.span
        let isWhole =
            OutboxFormat.checksum(bytes.extracting(..<extent.length)) == bytes.littleEndian(at: extent.length)
        return isWhole ? data.prefix(extent.length) : nil
    }

    private func read(_ count: Int, at offset: Int64) throws(OutboxError) -> Data {
        try OutboxError.converting { () throws(SystemFile.Failure) in try file?.read(count, at: offset) } ?? Data()
    }

    /// Appends records and returns their offset. Requires the lock. If it fails, the file is unchanged.
    mutating func append(_ bytes: [UInt8]) throws(OutboxError) -> Int64 {
        let start = end
        do {
            try write(bytes, at: start)
            try flush()
        } catch {
            try? truncate()
            throw error
        }
        end += Int64(bytes.count)
        return start
    }

    /// Replaces the file with a file that contains only these entries. Returns the entries with their new positions.
    /// Requires the lock.
    mutating func rewrite(_ entries: [StoredEntry], next: UInt64) throws(OutboxError) -> [StoredEntry] {
        let new = try OutboxError.converting { () throws(SystemFile.Failure) in
            try SystemFile.temporary(beside: path, [.read, .write], permissions: 0o600)
        }
        do {
            var (bytes, size, moved) = (OutboxFormat.prefix, Int64(0), [StoredEntry]())
            OutboxFormat.add(.next, id: next, to: &bytes)
            for entry in entries {
                // A damaged entry is left out. The engine reports it.
                guard let payload = try payload(at: entry.extent) else { continue }
                let content = entry.payload(entry.value(in: payload))
                let start = OutboxFormat.add(.put, id: entry.id, payload: content, to: &bytes)
                moved.append(
                    entry.placed(at: size + Int64(start), content.count, valueLength: entry.valueLength))
                if bytes.count < OutboxScanner.pieceSize { continue }
                try OutboxError.converting { () throws(SystemFile.Failure) in try new.write(bytes, at: size) }
                size += Int64(bytes.count)
                bytes.removeAll(keepingCapacity: true)
            }
            try OutboxError.converting { () throws(SystemFile.Failure) in
                try new.write(bytes, at: size)
                try new.flushData()
                try new.move(to: path)
            }
            SystemFile.flushDirectory(of: path)
            file = consume new
            end = size + Int64(bytes.count)
            return moved
        } catch {
            SystemFile.remove(new.path)
            throw error
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(OutboxError) {
        try OutboxError.converting { () throws(SystemFile.Failure) in try file?.write(bytes, at: offset) }
    }

    private func flush() throws(OutboxError) {
        try OutboxError.converting { () throws(SystemFile.Failure) in try file?.flushData() }
    }

    private func truncate() throws(OutboxError) {
        try OutboxError.converting { () throws(SystemFile.Failure) in try file?.truncate(to: end) }
    }
}
