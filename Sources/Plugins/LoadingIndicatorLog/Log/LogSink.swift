public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// A type that writes log records, for example to a file, a screen or a logging system.
///
/// ```swift
/// struct Console: LogSink {
///     func write(_ record: LogRecord) { print(record) }
/// }
/// ```
///
/// A sink receives one record at a time, in the order in which the activities ended. It runs on the log's own thread,
/// so a slow sink doesn't delay requests.
public protocol LogSink: Sendable {
    /// Writes a record.
    func write(_ record: LogRecord)
}

/// A sink that calls a closure for each record.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogRecord) -> Void

    /// Creates a sink from a closure. The closure is called like ``LogSink/write(_:)``.
    public init(_ body: @escaping @Sendable (LogRecord) -> Void) { self.body = body }

    /// Calls the closure.
    public func write(_ record: LogRecord) { body(record) }
}

/// A sink that writes records as text to standard error. On a terminal, it shows the outcome in color, unless
/// `NO_COLOR` is set and not empty.
public struct StandardErrorSink: LogSink {
    private let isColored: Bool

    /// Creates a sink. Whether it uses color is determined now.
    public init() {
        let isPlain = !(environmentVariable("NO_COLOR") ?? "").isEmpty
        isColored = !isPlain && isatty(2) == 1
    }

    /// Writes the record's text to standard error.
    public func write(_ record: LogRecord) { DescriptorText.put(Self.text(record, isColored: isColored) + "\n", 2) }

    static func text(_ record: LogRecord, isColored: Bool) -> String {
        let text = ControlCharacters.escaped(record.description, allowsLines: true)
        guard isColored else { return text }
        let color =
            switch record.outcome {
            case .success: "32"
            case .failure: "31"
            case .cancelled: "33"
            }
        return "\u{1B}[\(color)m●\u{1B}[0m " + text
    }
}

enum DescriptorText {
    @discardableResult
    static func put(_ text: String, _ descriptor: Int32) -> Bool {
        SystemFile.write(Array(text.utf8), to: descriptor, waits: false) == nil
    }
}

/// A sink that appends records as text to a file. If the file becomes too large, the sink renames it and begins a new
/// file: `errand.log` becomes `errand.log.1`, and so on. It removes the oldest file.
///
/// ```swift
/// let file = FileSink(at: directory.appending(path: "errand.log"), maximumBytes: 1_000_000, maximumOldFiles: 3)
/// let log = RequestLog(.headers, to: file)
/// ```
///
/// Only the owner can read the files. The sink refuses a symbolic link. If another program moves or removes the file,
/// the sink creates a new file. Only one process may write to a file.
///
/// If the sink can't write a record, the record is lost, and ``failure`` contains the reason. The sink tries again with
/// the next record.
public final class FileSink: LogSink {
    private struct State: ~Copyable {
        var file: SystemFile?
        var size = 0
        var failure: String?
    }

    private let path: String
    private let limit: Int
    private let kept: Int
    private let state = Mutex(State())

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - file: The URL of the file. Its directory must exist.
    ///   - maximumBytes: The approximate maximum size of one file in bytes. Defaults to 10 MB.
    ///   - maximumOldFiles: The number of old files to keep, at most 100. Defaults to 3.
    public init(at file: URL, maximumBytes: Int = 10_000_000, maximumOldFiles: Int = 3) {
        path = file.path
        self.limit = max(1, maximumBytes)
        self.kept = min(max(0, maximumOldFiles), 100)
    }

    /// The reason why the last record couldn't be written. It's nil if the record was written.
    public var failure: String? { state.withLock { $0.failure } }

    /// Appends the record's text to the file.
    public func write(_ record: LogRecord) {
        let text = ControlCharacters.escaped(record.description, allowsLines: true) + "\n"
        state.withLock { state in
            // Another program may have emptied or moved the file, so its size is checked.
            let status = state.file?.status(ifAt: path)
            if status == nil { state.file = nil }
            state.size = Int(status?.size ?? 0)
            if state.size > 0, state.size + text.utf8.count > limit { rotate(&state) }
            if state.file == nil { open(&state) }
            if state.size > 0, state.size + text.utf8.count > limit {
                rotate(&state)
                open(&state)
            }
            if state.file == nil { return }
            do throws(SystemFile.Failure) {
                try state.file?.write(Array(text.utf8))
                state.failure = nil
                state.size += text.utf8.count
            } catch {
                // Removes a partly written line, because the next record would otherwise continue this line.
                try? state.file?.truncate(to: Int64(state.size))
                state.failure = "writing: \(error.reason)"
            }
        }
    }

    private func open(_ state: inout State) {
        do throws(SystemFile.Failure) {
            let file = try SystemFile(path, [.write, .append, .create, .refusesLinks], permissions: 0o600)
            state.size = Int(file.status?.size ?? 0)
            state.file = consume file
        } catch {
            state.failure = "opening: \(error.reason)"
        }
    }

    private func rotate(_ state: inout State) {
        state.file = nil
        state.size = 0
        if kept == 0 { SystemFile.remove(path) }
        for number in stride(from: kept, to: 0, by: -1) {
            try? SystemFile.rename(number == 1 ? path : "\(path).\(number - 1)", to: "\(path).\(number)")
        }
    }
}
