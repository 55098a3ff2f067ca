#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// The system's SQLite, loaded when the first store opens. Neither building nor starting a program requires it.
struct SQLiteLibrary: Sendable {
    typealias Open =
        @convention(c) @Sendable (
            UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
        ) -> Int32
    typealias Prepare =
        @convention(c) @Sendable (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>?,
            UnsafeMutablePointer<UnsafePointer<CChar>?>?
        ) -> Int32
    /// The last argument is SQLITE_TRANSIENT, which makes SQLite copy the bytes.
    typealias BindBlob = @convention(c) @Sendable (OpaquePointer?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    typealias BindInteger = @convention(c) @Sendable (OpaquePointer?, Int32, Int64) -> Int32
    typealias ColumnBlob = @convention(c) @Sendable (OpaquePointer?, Int32) -> UnsafeRawPointer?
    typealias ColumnInteger = @convention(c) @Sendable (OpaquePointer?, Int32) -> Int64
    /// A function that only takes a connection or a statement.
    typealias Plain = @convention(c) @Sendable (OpaquePointer?) -> Int32
    typealias WithNumber = @convention(c) @Sendable (OpaquePointer?, Int32) -> Int32

    let open: Open
    let prepare: Prepare
    let bindBlob: BindBlob
    let bindInteger: BindInteger
    let columnBlob: ColumnBlob
    let columnInteger: ColumnInteger
    let columnBytes: WithNumber
    let busyTimeout: WithNumber
    let close: Plain
    let step: Plain
    let finalize: Plain

    static let ok: Int32 = 0
    static let corrupt: Int32 = 11
    static let notADatabase: Int32 = 26
    static let row: Int32 = 100
    static let done: Int32 = 101
    /// Read and write, create, and no locking, because the caller ensures one thread at a time.
    static let openFlags: Int32 = 0x2 | 0x4 | 0x8000
    static let transient = -1

    /// Nil if the system lacks SQLite.
    static let shared: SQLiteLibrary? = {
        // Apple's dlopen also searches the current directory for a name without a path.
        #if canImport(Darwin)
        let names = ["/usr/lib/libsqlite3.dylib"]
        #else
        let names = ["libsqlite3.so.0", "libsqlite3.so"]
        #endif
        for name in names {
            if let handle = dlopen(name, RTLD_NOW), let library = SQLiteLibrary(handle) { return library }
        }
        return nil
    }()

    /// Returns nil if a function is missing.
    private init?(_ handle: UnsafeMutableRawPointer) {
        func function<Function>(_ name: String) -> Function? {
            dlsym(handle, "sqlite3_" + name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let open: Open = function("open_v2"), let prepare: Prepare = function("prepare_v2"),
            let bindBlob: BindBlob = function("bind_blob"), let bindInteger: BindInteger = function("bind_int64"),
            let columnBlob: ColumnBlob = function("column_blob"),
            let columnInteger: ColumnInteger = function("column_int64"),
            let columnBytes: WithNumber = function("column_bytes"),
            let busyTimeout: WithNumber = function("busy_timeout"), let close: Plain = function("close_v2"),
            let step: Plain = function("step"), let finalize: Plain = function("finalize")
        else { return nil }
        (self.open, self.prepare, self.bindBlob, self.bindInteger) = (open, prepare, bindBlob, bindInteger)
        (self.columnBlob, self.columnInteger, self.columnBytes) = (columnBlob, columnInteger, columnBytes)
        (self.busyTimeout, self.close, self.step, self.finalize) = (busyTimeout, close, step, finalize)
    }
}
