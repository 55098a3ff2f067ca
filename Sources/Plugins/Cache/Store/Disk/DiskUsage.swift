import ErrandEssentials
import ErrandSupport
import Synchronization

/// The total bytes and files of a store. The usage file also contains a flag for an unfinished change, and a checksum.
struct DiskUsage: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0

    init() {}

    /// Reads the usage file. Fails if its contents are damaged or the last change didn't finish.
    init?(reading file: borrowing DiskFile?) {
        guard let data = try? file?.read(32, at: 0) else { return nil }
        let record = data.span
        let (bytes, files): (UInt64, UInt64) = (record.littleEndian(at: 0), record.littleEndian(at: 8))
        guard record.littleEndian(at: 16, as: UInt64.self) == 0, bytes < 1 << 62, files < 1 << 62,
            DiskChecksum.of(record.extracting(..<24)) == record.littleEndian(at: 24)
        else { return nil }
        (self.bytes, self.files) = (Int64(bytes), Int64(files))
    }

    func write(to file: borrowing DiskFile?, isOpen: Bool) throws(DiskFile.Failure) {
        var writer = ByteWriter()
        writer.add(UInt64(clamping: bytes))
        writer.add(UInt64(clamping: files))
        writer.add(UInt64(isOpen ? 1 : 0))
        writer.add(DiskChecksum.of(writer.bytes))
        try file?.write(Data(writer.bytes), at: 0)
    }
}

extension DiskDirectory {
    func usage() throws(DiskFile.Failure) -> CacheLimit {
        try withLockedUsage { _, usage throws(DiskFile.Failure) in
            CacheLimit(bytes: usage.bytes, entries: Int(clamping: usage.files))
        }
    }

    /// Runs `body` with the store's lock held. If the process crashes in `body`, the next process counts the files.
    func withLockedUsage<Value: Sendable>(
        _ body: (inout State, inout DiskUsage) throws(DiskFile.Failure) -> Value
    ) throws(DiskFile.Failure) -> Value {
        let result: Result<Value, DiskFile.Failure> = state.withLock { state in
            Result { () throws(DiskFile.Failure) in
                try openUsage(&state)
                var usage: DiskUsage
                if let known = DiskUsage(reading: state.usage) {
                    usage = known
                } else {
                    usage = DiskUsage()
                    recount(&usage, &state.candidates)
                }
                try usage.write(to: state.usage, isOpen: true)
                defer {
                    try? usage.write(to: state.usage, isOpen: false)
                    state.usage?.unlock()
                }
                return try body(&state, &usage)
            }
        }
        return try result.get()
    }

    /// Opens the usage file. Opens it again if another process has replaced the directory.
    private func openUsage(_ state: inout State) throws(DiskFile.Failure) {
        let path = root + "/usage"
        for attempt in 0... {
            if state.usage == nil {
                do { state.usage = try DiskFile(opening: path) } catch {
                    guard attempt <= 1 else { throw error }
                    if error.isMissing {
                        try prepare()
                    } else {
                        guard error.isForeign, DiskFile.remove(path) else { throw error }
                    }
                    continue
                }
            }
            try state.usage?.lock()
            if state.usage?.isNamed(path) == true { return }
            state.usage = nil
            if attempt > 3 { throw .damaged }
        }
    }
}
