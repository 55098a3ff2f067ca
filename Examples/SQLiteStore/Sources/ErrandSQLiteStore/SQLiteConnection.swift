import ErrandCache
import ErrandEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// A database and its statements. The owner must call it from one thread at a time.
final class SQLiteConnection {
    enum Value {
        case blob(Data)
        case integer(Int64)
    }

    /// An error from SQLite.
    struct Failure: Error {
        let operation: String
        let code: Int32
        /// Whether the file is damaged, or isn't a database.
        var isCorruption: Bool { code & 0xFF == SQLiteLibrary.corrupt || code & 0xFF == SQLiteLibrary.notADatabase }
        var error: CacheStoreError { CacheStoreError("SQLite: \(operation) failed with the code \(code)") }
    }

    private let library: SQLiteLibrary
    private let database: OpaquePointer?

    /// Opens a file that only its owner can read.
    init(_ path: String, _ library: SQLiteLibrary) throws {
        // SQLite gives its journal the database's permissions, so create the file first.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            throw CacheStoreError("the database cannot be opened: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        var database: OpaquePointer?
        let code = library.open(path, &database, SQLiteLibrary.openFlags, nil)
        (self.library, self.database) = (library, database)
        if code != SQLiteLibrary.ok { throw Failure(operation: "open", code: code) }
        _ = library.busyTimeout(database, 5_000)
    }

    deinit { _ = library.close(database) }

    /// Runs one statement, and calls `read` for each row.
    func run(
        _ text: String, _ values: Value..., read: (Row) throws -> Void = { _ in }
    ) throws {
        var statement: OpaquePointer?
        try check(library.prepare(database, text, -1, &statement, nil), "prepare")
        defer { _ = library.finalize(statement) }
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .integer(let number): try check(library.bindInteger(statement, position, number), "bind")
            case .blob(let data):
                try data.withUnsafeBytes { bytes in
                    // A null address would bind NULL, so an empty blob needs an address too.
                    try withUnsafeBytes(of: UInt8(0)) { empty in
                        try check(
                            library.bindBlob(
                                statement, position, bytes.baseAddress ?? empty.baseAddress, Int32(bytes.count),
                                SQLiteLibrary.transient), "bind")
                    }
                }
            }
        }
        while true {
            let code = library.step(statement)
            if code == SQLiteLibrary.done { return }
            guard code == SQLiteLibrary.row else { throw Failure(operation: "step", code: code) }
            try read(Row(library: library, statement: statement))
        }
    }

    /// Runs several statements as a transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    private func check(_ code: Int32, _ operation: String) throws {
        if code != SQLiteLibrary.ok { throw Failure(operation: operation, code: code) }
    }

    /// A result row. Valid only while it is read.
    struct Row {
        let library: SQLiteLibrary
        let statement: OpaquePointer?

        func data(_ column: Int32) -> Data {
            guard let bytes = library.columnBlob(statement, column) else { return Data() }
            return Data(bytes: bytes, count: Int(library.columnBytes(statement, column)))
        }

        func integer(_ column: Int32) -> Int64 { library.columnInteger(statement, column) }
    }
}
