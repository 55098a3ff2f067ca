import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The record of an upload on the disk, locked against other runs of the same upload, in other processes too.
final class UploadRecordFile: Sendable {
    private struct State {
        var sequence: UInt64
        /// Removed, or given back.
        var isOver = false
    }

    /// The record that was found; nil where there was none that can be read.
    let found: UploadRecord?
    private let path: String
    private let file: SystemFile
    private let state: Mutex<State>

    static let prefix = "errand-"
    static let ending = ".upload"

    static func path(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(ending)" }

    /// The id in the name of a record.
    static func id(of name: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(ending) else { return nil }
        let id = name.dropFirst(prefix.count).dropLast(ending.count)
        return id.utf8.count == 24 && id.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil } ? String(id) : nil
    }

    /// Opens the record of an earlier run, or makes an empty one. Throws `busy` while another run holds it. Blocks.
    init(_ id: String, in directory: String) throws(TransferError) {
        path = Self.path(id, in: directory)
        file = try Self.open(path, in: directory)
        let newest = Self.read(file)
        found = newest?.record
        state = Mutex(State(sequence: newest?.sequence ?? 0))
    }

    private static func open(_ path: String, in directory: String) throws(TransferError) -> SystemFile {
        let file = try TransferError.converting { () throws(SystemFile.Failure) in
            try SystemFile.makeDirectories(directory)
            return try SystemFile.locked(path)
        }
        guard let file else { throw TransferError(.busy, "another upload of the same file is running (\(path))") }
        return file
    }

    /// The newest intact record of a file; one of another format, or that cannot be decoded, is none.
    static func read(_ file: borrowing SystemFile) -> (record: UploadRecord, sequence: UInt64)? {
        guard let data = try? file.read(2 * RecordSlot.size + 1, at: 0), data.count <= 2 * RecordSlot.size else {
            return nil
        }
        return RecordSlot.newest(Array(data), magic: UploadRecord.magic) { payload in
            let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(payload))
            return record?.format == UploadRecord.format ? record : nil
        }
    }

    /// Replaces the record, in the slot that is not the newest: one of the two is intact at every moment.
    ///
    /// - Parameter flushes: whether it waits until the record survives a crash of the machine; it always survives the end of
    ///   the process.
    func write(_ record: UploadRecord, flushes: Bool = true) throws(TransferError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let payload = (try? encoder.encode(record)) ?? Data()
        let failure = state.withLock { state -> TransferError? in
            if state.isOver { return nil }
            state.sequence += 1
            guard let slot = RecordSlot.bytes(payload, sequence: state.sequence, magic: UploadRecord.magic) else {
                return TransferError(.fileFailed, "the record of the upload does not fit in \(path)")
            }
            let place = Int64(state.sequence % 2) * Int64(RecordSlot.size)
            do throws(SystemFile.Failure) {
                try file.write(slot, at: place)
                if flushes { try file.flushData() }
            } catch { return TransferError(error) }
            return nil
        }
        if let failure { throw failure }
    }

    /// Removes the record: the upload is complete.
    func remove() {
        // Once: afterwards the name may belong to another run.
        if state.withLock({ state in
            defer { state.isOver = true }
            return state.isOver
        }) {
            return
        }
        SystemFile.remove(path)
    }

    /// Releases the lock: from now on the record may be another run's, and nothing is written to it. A transport may hold this
    /// object for a while after the end of its request.
    func release() {
        state.withLock { state in
            // Nothing was recorded: the file would stay for good.
            if !state.isOver, file.status?.size == 0, file.isAt(path) { SystemFile.remove(path) }
            state.isOver = true
            file.unlock()
        }
    }
}

extension TransferError {
    /// A failure of the system.
    init(_ failure: SystemFile.Failure) { self.init(.fileFailed, failure.description) }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(TransferError) -> Value {
        do { return try body() } catch { throw TransferError(error) }
    }
}

/// What a later run has to know of an unfinished upload.
struct UploadRecord: Codable, Sendable, Equatable {
    /// The version of this format; another one is not read.
    var format = Self.format
    /// A digest of what identifies the upload, so that no secret of the request's URL is on the disk.
    var request: String
    /// Whose the upload is; nil in records of earlier versions, which count as nobody's.
    var user: UserStamp?
    /// The request's URL for people to read, its query masked.
    var url: String
    /// The name of the file; nil for another body.
    var name: String?
    var source: SourceFingerprint
    var server: UploadServer
    /// Nil before the server has named one.
    var resource: UploadResource?
    /// Bytes that the server had when it was asked last, for people.
    var acknowledged: Int64 = 0
    /// The segments of a body that is sent in several; nil for one upload, whose place is `resource`.
    var segments: [UploadSegment]?
    /// True once the server was asked to join the segments: what it made of them may need them.
    var mayBeJoined: Bool?

    static let format = 1
    static let magic = Array("ErrandU1".utf8)

    /// The places of the upload, or of its segments.
    var places: [UploadResource] { resource.map { [$0] } ?? segments?.compactMap(\.resource) ?? [] }
}
