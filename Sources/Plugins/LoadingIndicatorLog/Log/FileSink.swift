public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Records as text at the end of a file that rotates: `errand.log`, then `errand.log.1` and so on, the oldest removed.
///
/// ```swift
/// let log = RequestLog(.headers, to: FileSink(at: directory.appending(path: "errand.log"), maximumBytes: 1_000_000, maximumOldFiles: 3))
/// ```
///
/// Only the owner can read the files. A symbolic link in place of the file is rejected. A record that cannot be written
/// is lost, and ``failure`` has the reason; the next one is attempted again. Only one process may write to a file.
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

    /// - Parameters:
    ///   - file: a file URL in a directory that exists.
    ///   - maximumBytes: the approximate size of one file in bytes; 10 MB by default.
    ///   - maximumOldFiles: the number of old files that are kept beside the current one, at most 100; 3 by default.
    public init(at file: URL, maximumBytes: Int = 10_000_000, maximumOldFiles: Int = 3) {
        path = file.path
        self.limit = max(1, maximumBytes)
        self.kept = min(max(0, maximumOldFiles), 100)
    }

    /// The reason why the last record could not be written; nil if it was written.
    public var failure: String? { state.withLock { $0.failure } }

    /// Appends the record's text and a line break.
    public func write(_ record: LogRecord) {
        let text = ControlCharacters.escaped(record.description, allowsLines: true) + "\n"
        state.withLock { state in
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
