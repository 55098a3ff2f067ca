import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The file that contains an upload's record. It's locked, so only one run in any process uses the record.
final class UploadRecordFile: Sendable {
    private struct State {
        var sequence: UInt64
        var latest: UploadRecord?
        var isOver = false
    }

    /// The record of an earlier run. It's nil if the record is missing or invalid.
    let found: UploadRecord?
    private let path: String
    private let file: SystemFile
    private let state: Mutex<State>

    static let prefix = "errand-"
    static let ending = ".upload"

    static func path(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(ending)" }

    static func id(of name: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(ending) else { return nil }
        let id = name.dropFirst(prefix.count).dropLast(ending.count)
        return id.utf8.count == 24 && id.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil } ? String(id) : nil
    }

    /// Opens and locks the file. Throws `busy` if another run uses the file. Blocks while it reads the file.
    init(_ id: String, in directory: String) throws(TransferError) {
        path = Self.path(id, in: directory)
        file = try Self.open(path, in: directory)
        let newest = Self.read(file)
        found = newest?.record
        state = Mutex(State(sequence: newest?.sequence ?? 0, latest: newest?.record))
    }

    private static func open(_ path: String, in directory: String) throws(TransferError) -> SystemFile {
        let file = try TransferError.converting { () throws(SystemFile.Failure) in
            try SystemFile.makeDirectories(directory)
            return try SystemFile.locked(path)
        }
        guard let file else { throw TransferError(.busy, "another upload of the same file is running (\(path))") }
        return file
    }

    static func read(_ file: borrowing SystemFile) -> (record: UploadRecord, sequence: UInt64)? {
        guard let data = try? file.read(2 * RecordSlot.size + 1, at: 0), data.count <= 2 * RecordSlot.size else {
            return nil
        }
        return RecordSlot.newest(Array(data), magic: UploadRecord.magic) { payload in
            let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(payload))
            return record?.format == UploadRecord.format ? record : nil
        }
    }

    /// Writes a record to the older of two slots, so one slot is intact at all times. If `flushes` is true, waits until
    /// the record would survive a crash of the machine. Otherwise, the record survives only the end of the process.
    func write(_ record: UploadRecord, flushes: Bool = true) throws(TransferError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let payload = (try? encoder.encode(record)) ?? Data()
        let failure = state.withLock { state -> TransferError? in
            if state.isOver { return nil }
            state.sequence += 1
            guard let slot = RecordSlot.bytes(payload, sequence: state.sequence, magic: UploadRecord.magic) else {
                return TransferError(.fileFailed, "the upload's record doesn't fit in \(path)")
            }
            let place = Int64(state.sequence % 2) * Int64(RecordSlot.size)
            do throws(SystemFile.Failure) {
                try file.write(slot, at: place)
                if flushes { try file.flushData() }
            } catch { return TransferError(error) }
            state.latest = record
            return nil
        }
        if let failure { throw failure }
    }

    /// Records the number of sent bytes, for display. Ignores failures.
    func keep(sent: Int64) {
        guard var record = state.withLock({ $0.isOver ? nil : $0.latest }), record.segments == nil else { return }
        record.sent = sent
        try? write(record, flushes: false)
    }

    func remove() {
        // The file is removed only once, because its name may belong to another run afterwards.
        if state.withLock({ state in
            defer { state.isOver = true }
            return state.isOver
        }) {
            return
        }
        SystemFile.remove(path)
    }

    /// Releases the lock. Further writes are ignored, because the record may then belong to another run. A transport
    /// may keep this object after its request has ended.
    func release() {
        state.withLock { state in
            if !state.isOver, file.status?.size == 0, file.isAt(path) { SystemFile.remove(path) }
            state.isOver = true
            file.unlock()
        }
    }
}

extension TransferError {
    init(_ failure: SystemFile.Failure) { self.init(systemError: failure.code, failure.description) }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(TransferError) -> Value {
        do { return try body() } catch { throw TransferError(error) }
    }
}

struct UploadRecord: Codable, Sendable, Equatable {
    var format = Self.format
    /// A digest of the upload. The request itself isn't stored, so secrets in its URL aren't written to disk.
    var request: String
    /// The user to whom the upload belongs. It's nil in records that earlier versions wrote. Such uploads count as
    /// anonymous.
    var user: UserStamp?
    var url: String
    var name: String?
    var source: SourceFingerprint
    var server: UploadServer
    /// The upload's URL on the server. It's nil until the server has sent it.
    var resource: UploadResource?
    /// The number of bytes that the server has confirmed, for display.
    var acknowledged: Int64 = 0
    /// The number of bytes that were sent by the end of the last run, for display. It's nil while an upload is running,
    /// and for segments.
    var sent: Int64?
    /// The upload's segments. It's nil for a single upload, whose URL is in `resource`.
    var segments: [UploadSegment]?
    /// Whether the server was asked to join the segments. If so, the joined upload may depend on them. Nil means false.
    var mayBeJoined: Bool?

    static let format = 1
    static let magic = Array("ErrandU1".utf8)

    var places: [UploadResource] { resource.map { [$0] } ?? segments?.compactMap(\.resource) ?? [] }

    /// The number of bytes that a progress bar showed at the end of the last run.
    var reached: Int64 { min(max(0, acknowledged, sent ?? 0), source.size) }
}
