import Errand
public import ErrandCache
public import ErrandEssentials

/// Keeps responses in a SQLite database that several processes can share.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system,
///     filters: [.cache(SQLiteStore(at: caches.appending(path: "responses.db")))])
/// ```
///
/// The database opens on first use, with the system's SQLite. If it is missing, each method throws, and every request
/// is a miss. A damaged file is replaced. Only the file's owner can read it.
public actor SQLiteStore: CacheStore {
    private let place: URL
    private let limit: CacheLimit
    private var opened: SQLiteConnection?
    private var key: Data?
    private var writes = InFlightWrites()

    /// Creates a store without opening the database.
    ///
    /// - Parameters:
    ///   - place: the file. Its folder must exist.
    ///   - limit: the total size of heads, bodies and keys. Defaults to 50 MB. One body may have
    ///     `maximumEntryBytes`.
    public init(at place: URL, limit: CacheLimit = .megabytes(50)) { (self.place, self.limit) = (place, limit) }

    /// Whether the system has SQLite.
    public static var isAvailable: Bool { SQLiteLibrary.shared != nil }

    /// Returns an entry, and marks it as used.
    public func entry(for key: CacheKey) throws -> CacheEntry? {
        try with { database in
            var found: CacheEntry?
            try database.run("SELECT head, body FROM entries WHERE key = ?", .blob(Self.bytes(key))) { row in
                guard let head = CacheEntryHead(encoded: row.data(0)) else { return }
                found = CacheEntry(head: head, body: HTTPBody(row.data(1)))
            }
            if found != nil {
                try database.run("UPDATE entries SET used = \(Self.nextUse) WHERE key = ?", .blob(Self.bytes(key)))
            }
            return found
        }
    }

    /// Stores an entry. If reading its body throws, rethrows the error and keeps the earlier entry.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        let body = try await entry.body.collect(upTo: Int(clamping: limit.maximumEntryBytes))
        if writes.isStopped(write) { return }
        let (head, bytes) = (entry.head.encoded(), Self.bytes(key))
        let size = Int64(head.count + body.count + bytes.count)
        try with { database in
            try database.transaction {
                try database.run(
                    "INSERT OR REPLACE INTO entries (key, head, body, size, used) VALUES (?, ?, ?, ?, \(Self.nextUse))",
                    .blob(bytes), .blob(head), .blob(body), .integer(size))
                try Self.evict(to: limit, database)
            }
        }
    }

    /// Replaces an entry's head and keeps its body, if the stored head still equals `old`.
    public func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) throws -> Bool {
        try with { database in
            try database.transaction {
                var isReplaced = false
                try database.run(
                    """
                    UPDATE entries SET head = ?, size = size - length(head) + length(?1), used = \(Self.nextUse)
                    WHERE key = ?2 AND head = ?3 RETURNING 1
                    """, .blob(head.encoded()), .blob(Self.bytes(key)), .blob(old.encoded())
                ) { _ in isReplaced = true }
                // The new head may be larger than the old one.
                if isReplaced { try Self.evict(to: limit, database) }
                return isReplaced
            }
        }
    }

    /// Removes an entry.
    public func remove(_ key: CacheKey) throws {
        writes.stop(key)
        try with { try $0.run("DELETE FROM entries WHERE key = ?", .blob(Self.bytes(key))) }
    }

    /// Removes the entries whose heads match.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) throws {
        writes.stop(where: matches)
        try with { database in
            try database.transaction {
                var found: [Int64] = []
                try database.run("SELECT rowid, head FROM entries") { row in
                    if CacheEntryHead(encoded: row.data(1)).map(matches) ?? true { found.append(row.integer(0)) }
                }
                for row in found { try database.run("DELETE FROM entries WHERE rowid = ?", .integer(row)) }
            }
        }
    }

    /// A key for hashing values that must not be stored in plain text. It is stored with the entries.
    public func secret() throws -> Data {
        if let key { return key }
        let made = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
        let stored = try with { database in
            // If two processes create a secret at the same time, both use the first inserted secret.
            try database.run("INSERT OR IGNORE INTO secrets (id, value) VALUES (0, ?)", .blob(made))
            var value = made
            try database.run("SELECT value FROM secrets WHERE id = 0") { value = $0.data(0) }
            return value
        }
        key = stored
        return stored
    }

    private static func bytes(_ key: CacheKey) -> Data { Data(key.digestBytes) }

    private static let nextUse = "(SELECT coalesce(max(used), 0) + 1 FROM entries)"

    private static func evict(to limit: CacheLimit, _ database: SQLiteConnection) throws {
        var (bytes, count): (Int64, Int64) = (0, 0)
        try database.run("SELECT coalesce(sum(size), 0), count(*) FROM entries") { row in
            (bytes, count) = (row.integer(0), row.integer(1))
        }
        var removed: [Int64] = []
        if bytes > limit.bytes || count > Int64(limit.entries) {
            try database.run("SELECT rowid, size FROM entries ORDER BY used") { row in
                guard bytes > limit.bytes || count > Int64(limit.entries) else { return }
                removed.append(row.integer(0))
                (bytes, count) = (bytes - row.integer(1), count - 1)
            }
        }
        for row in removed { try database.run("DELETE FROM entries WHERE rowid = ?", .integer(row)) }
    }

    /// Runs a closure with the database. Replaces a damaged database once.
    private func with<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        do { return try body(connection()) } catch let failure as SQLiteConnection.Failure {
            guard failure.isCorruption else { throw failure.error }
        }
        (opened, key) = (nil, nil)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + suffix) }
        do { return try body(connection()) } catch let failure as SQLiteConnection.Failure { throw failure.error }
    }

    private func connection() throws -> SQLiteConnection {
        if let opened { return opened }
        guard let library = SQLiteLibrary.shared else { throw CacheStoreError("this system has no SQLite library") }
        let database = try SQLiteConnection(place.path, library)
        try database.run("PRAGMA journal_mode = WAL")
        // A power failure may lose the latest entries, but doesn't damage the database.
        try database.run("PRAGMA synchronous = NORMAL")
        try database.run(
            """
            CREATE TABLE IF NOT EXISTS entries
            (key BLOB PRIMARY KEY, head BLOB NOT NULL, body BLOB NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL)
            """)
        try database.run("CREATE INDEX IF NOT EXISTS uses ON entries (used)")
        try database.run("CREATE TABLE IF NOT EXISTS secrets (id INTEGER PRIMARY KEY, value BLOB NOT NULL)")
        opened = database
        return database
    }
}
