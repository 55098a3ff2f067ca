import Errand
public import ErrandEssentials
import ErrandSupport
import Synchronization

/// Stores each entry as a file in a directory and evicts the least recently used entries. Several processes can share
/// the directory.
///
/// ```swift
/// filters: [.cache(.disk(at: directory, limit: .megabytes(50)))]
/// ```
///
/// The first use creates the directory, accessible only to its owner. If a regular file exists at the directory's path,
/// the store renames the file with the suffix `.replaced`. The store uses only the subdirectory `errand-cache`, which
/// is excluded from backups on Apple platforms.
///
/// An entry appears completely or not at all. A damaged entry, or an entry that another version of the format wrote, is
/// removed and counts as a miss. While an entry is being written, it can temporarily use space beyond the limit, up to
/// ``CacheLimit/maximumEntryBytes``. Use the same limit for all stores of a directory.
public final class DiskStore: CacheStore {
    /// Encrypts bytes before they're written and decrypts them after they're read.
    ///
    /// Use authenticated encryption with a new nonce each time. If `open` throws, the entry is a miss.
    public struct Seal: Sendable {
        let seal: @Sendable (Data) throws -> Data
        let open: @Sendable (Data) throws -> Data

        /// Creates a seal. Both closures receive a head or up to 256 KiB of a body.
        public init(
            seal: @escaping @Sendable (Data) throws -> Data, open: @escaping @Sendable (Data) throws -> Data
        ) {
            self.seal = seal
            self.open = open
        }
    }

    /// The directory of the store.
    public let directory: URL
    let limit: CacheLimit
    let seal: Seal?
    let files: DiskDirectory
    /// This store's writes. Writes by other stores in the same directory can't be stopped.
    private let writes = Mutex(InFlightWrites())
    /// The maximum length of a body for which a new head rewrites the whole entry.
    static let rewrittenLength: Int64 = 32 << 10
    /// The maximum length of a file that is read and checked at once. Longer bodies are streamed.
    static let wholeLength: Int64 = 1 << 20

    /// Creates a store for a directory.
    ///
    /// - Parameters:
    ///   - directory: A file URL. Several stores and processes can use the same directory with the same limit.
    ///   - limit: Defaults to 50 MB.
    ///   - seal: Encrypts the entries. Defaults to nil, which stores plain data.
    public init(at directory: URL, limit: CacheLimit = .megabytes(50), seal: Seal? = nil) {
        self.directory = directory
        self.limit = limit
        self.seal = seal
        files = DiskDirectory(root: directory.path, limit: limit)
    }

    /// Returns a key's entry after checking it.
    ///
    /// If the file has more than 1 MiB, the body is a stream that is checked in chunks. When the stream reaches a
    /// damaged chunk, it throws, and the entry is removed.
    @concurrent public func entry(for key: CacheKey) async throws -> CacheEntry? {
        let digest = key.digestBytes
        let path = files.path(of: digest)
        do {
            if let entry = try read(path, digest) { return entry }
            // Read the file again, because a writer may have been replacing its head.
            let file = try DiskFile(reading: path)
            try file.lock()
            if let entry = try read(path, digest) { return entry }
            try? files.remove(digest)
            return nil
        } catch {
            if error.isMissing { return nil }
            throw error.error
        }
    }

    private func read(_ path: String, _ digest: [UInt8]) throws(DiskFile.Failure) -> CacheEntry? {
        let file = try DiskFile(reading: path)
        guard let status = file.status, status.size >= Int64(DiskFormat.prefixLength) else { return nil }
        if status.size <= Self.wholeLength {
            guard let content = try DiskContent(file, length: Int(status.size)),
                let entry = content.entry(digest: digest, open: seal?.open)
            else { return nil }
            files.use(digest, file: file, status: status)
            return entry
        }
        guard let (format, _, data) = try current(of: file, status, digest), let opened = try? opened(data),
            let head = CacheEntryHead(encoded: opened)
        else { return nil }
        files.use(digest, file: file, status: status)
        let source = DiskBodySource(file, format, offset: Int64(format.bodyStart), open: seal?.open) { [files] in
            try? files.remove(digest)
        }
        return CacheEntry(head: head, body: HTTPBody(length: format.bodyLength, source: source))
    }

    /// Stores an entry. Throws ``CacheStoreError``, for example if the entry is larger than
    /// ``CacheLimit/maximumEntryBytes``, or the error that reading the body throws.
    @concurrent public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        _ = try await store(entry, for: key, replacing: nil)
    }

    /// Stores an entry. With `old`, returns false and keeps the current file unless its head is still `old` when the
    /// new file is written.
    @concurrent func store(
        _ entry: CacheEntry, for key: CacheKey, replacing old: CacheEntryHead?
    ) async throws -> Bool {
        let digest = key.digestBytes
        let head = try seal.map { try $0.seal(entry.head.encoded()) } ?? entry.head.encoded()
        let id = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(id) } }
        do {
            let temporary = try files.retryingWhenFull(for: 0) { () throws(DiskFile.Failure) in
                try files.makeTemporary()
            }
            do {
                try await write(head, body: entry.body, digest: digest, to: temporary)
                let isInstalled: Bool
                if let old {
                    // The lock excludes other updates. After a removal or replacement, `file` is no longer at its path.
                    let path = files.path(of: digest)
                    let file = try DiskFile(updating: path)
                    try file.lock()
                    let isUnchanged = try storedHead(in: file, digest) == old.encoded()
                    isInstalled = try isUnchanged && install(temporary, digest, where: { file.isNamed(path) })
                } else {
                    isInstalled = try install(temporary, digest) { writes.withLock { !$0.isStopped(id) } }
                }
                if !isInstalled { DiskFile.remove(temporary) }
                return isInstalled
            } catch {
                DiskFile.remove(temporary)
                throw error
            }
        } catch let failure as DiskFile.Failure {
            if old != nil, failure.isMissing { return false }
            throw failure.error
        }
    }

    private func install(
        _ temporary: String, _ digest: [UInt8], where condition: () -> Bool
    ) throws(DiskFile.Failure) -> Bool {
        let needsCandidates = try files.retryingWhenFull(for: 0) { () throws(DiskFile.Failure) in
            try files.install(temporary, digest, where: condition)
        }
        if needsCandidates == true { Task(priority: .utility) { [files] in await Self.refreshCandidates(files) } }
        return needsCandidates != nil
    }

    @concurrent private static func refreshCandidates(_ files: DiskDirectory) async { files.refreshCandidates() }

    private func write(_ head: Data, body: HTTPBody, digest: [UInt8], to path: String) async throws {
        let file = try DiskFile(opening: path)
        // Rewriting a whole short entry is as fast as writing a new head.
        let hasRoom = body.length.map { $0 > Self.rewrittenLength } ?? true
        var format = DiskFormat(
            headLength: head.count, hasRoom: hasRoom, seed: .random(in: 0 ... .max), digest: digest)
        var offset = Int64(format.bodyStart)
        var (length, number): (Int64, UInt64) = (0, 0)
        func add(_ plain: Data) throws {
            let chunk = DiskFormat.chunk(try seal?.seal(plain) ?? plain, number: number, seed: format.seed)
            try limit.check(entryBytes: offset + Int64(chunk.count))
            try files.retryingWhenFull(for: Int64(chunk.count)) { () throws(DiskFile.Failure) in
                try file.write(chunk, at: offset)
            }
            offset += Int64(chunk.count)
            length += Int64(plain.count)
            number += 1
        }
        var rest = Data()
        for try await piece in body {
            rest.append(piece)
            var start = rest.startIndex
            while rest.endIndex - start >= DiskFormat.chunkLength {
                try add(rest[start..<(start + DiskFormat.chunkLength)])
                start += DiskFormat.chunkLength
            }
            if start > rest.startIndex { rest = Data(rest[start...]) }
        }
        if !rest.isEmpty { try add(rest) }
        try limit.check(entryBytes: offset)
        (format.bodyLength, format.fileLength) = (length, offset)
        var start = format.prefix + format.slot(head, number: 1)
        start.append(Data(count: format.bodyStart - start.count))
        try files.retryingWhenFull(for: Int64(start.count)) { () throws(DiskFile.Failure) in
            try file.write(start, at: 0)
        }
        file.touch(files.nextUse())
    }

    /// Replaces an entry's head. Copies the body only if the file has no room for the new head.
    @concurrent public func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) async throws -> Bool {
        let digest = key.digestBytes
        let sealed = try seal.map { try $0.seal(head.encoded()) } ?? head.encoded()
        do {
            let file = try DiskFile(updating: files.path(of: digest))
            // The lock excludes updates by other processes.
            try file.lock()
            guard let status = file.status, let (format, current, data) = try current(of: file, status, digest),
                try opened(data) == old.encoded(), file.isNamed(files.path(of: digest))
            else { return false }
            if format.slots == 2, sealed.count <= format.slotLength - DiskFormat.slotOverhead {
                let offset = DiskFormat.prefixLength + (1 - current.slot) * format.slotLength
                try file.write(format.slot(sealed, number: current.number + 1), at: Int64(offset))
                try file.clear(slot: current.slot, of: format)
                file.touch(files.nextUse())
                return true
            }
        } catch let failure as DiskFile.Failure {
            if failure.isMissing { return false }
            throw failure.error
        }
        guard let entry = try await entry(for: key), entry.head.encoded() == old.encoded() else { return false }
        return try await store(CacheEntry(head: head, body: entry.body), for: key, replacing: old)
    }

    /// Removes a key's entry, if it exists.
    @concurrent public func remove(_ key: CacheKey) async throws {
        let isArriving = writes.withLock { $0.stop(key) }
        do { try files.remove(key.digestBytes, evenIfAbsent: isArriving) } catch { throw error.error }
    }

    /// Removes entries whose heads match or can't be read. Throws ``CacheStoreError`` if the directory can't be read or
    /// an entry can't be removed.
    @concurrent public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        // The closure may use the store, so call it on a copy, without the lock.
        let arriving = writes.withLock { $0 }.ids(where: matches)
        let isArriving = writes.withLock { writes in arriving.count { writes.stop($0) } > 0 }
        let digests: [[UInt8]]
        do {
            if isArriving { try files.finishInstalling() }
            digests = try files.digests()
        } catch { throw error.error }
        var failure: DiskFile.Failure?
        for digest in digests {
            try Task.checkCancellation()
            // A head may be unreadable, for example because the process has run out of descriptors.
            if let head = try? storedHead(digest), !matches(head) { continue }
            do { try files.remove(digest) } catch { failure = failure ?? error }
        }
        if let failure { throw failure.error }
    }

    private func storedHead(_ digest: [UInt8]) throws -> CacheEntryHead? {
        let file = try DiskFile(reading: files.path(of: digest))
        guard let status = file.status, let (_, _, data) = try current(of: file, status, digest) else { return nil }
        return CacheEntryHead(encoded: try opened(data))
    }

    private func current(
        of file: borrowing DiskFile, _ status: DiskFile.Status, _ digest: [UInt8]
    ) throws(DiskFile.Failure) -> (DiskFormat, DiskFormat.Head, Data)? {
        guard let prefix = try file.read(DiskFormat.prefixLength, at: 0),
            let format = DiskFormat(prefix.span, digest: digest, fileLength: status.size),
            let slots = try file.read(slotsOf: format), let found = format.head(in: slots.span)
        else { return nil }
        return (format, found, Data(copying: slots.span.extracting(found.range)))
    }

    private func storedHead(in file: borrowing DiskFile, _ digest: [UInt8]) throws -> Data? {
        guard let status = file.status, let (_, _, data) = try current(of: file, status, digest) else { return nil }
        return try opened(data)
    }

    private func opened(_ data: Data) throws -> Data { try seal.map { try $0.open(Data(data)) } ?? data }

    /// Returns 32 random bytes that all processes share.
    @concurrent public func secret() async throws -> Data {
        do { return try files.secret() } catch { throw error.error }
    }

    /// Returns the number of bytes and entries in the directory, across all processes.
    @concurrent public func usage() async throws -> CacheLimit {
        do { return try files.usage() } catch { throw error.error }
    }
}

extension CacheStore where Self == DiskStore {
    /// Creates a store in a directory, by default with up to 50 MB.
    public static func disk(
        at directory: URL, limit: CacheLimit = .megabytes(50), seal: DiskStore.Seal? = nil
    ) -> DiskStore { DiskStore(at: directory, limit: limit, seal: seal) }
}
