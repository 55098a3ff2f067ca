import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// Locked, so only one run in any process uses an upload's record.
final class UploadRecordFile: Sendable {
    private struct State {
        var sequence: UInt64
        var latest: UploadRecord?
        var isOver = false
    }

    /// The record of an earlier run. Nil if it's missing or invalid.
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

    /// Throws `busy` if another run uses the file. Blocks.
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

    /// Replaces the older of two slots, so one is intact at all times. With `flushes`, waits until the record survives
    /// a crash of the machine, not only of the process.
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

    /// For display. Ignores failures.
    func keep(sent: Int64) {
        guard var record = state.withLock({ $0.isOver ? nil : $0.latest }), record.segments == nil else { return }
        record.sent = sent
        try? write(record, flushes: false)
    }

    func remove() {
        // Only once, because the file's name may belong to another run afterwards.
        if state.withLock({ state in
            defer { state.isOver = true }
            return state.isOver
        }) {
            return
        }
        SystemFile.remove(path)
    }

    /// Ignores further writes, because the record may then belong to another run. A transport may keep this object
    /// after its request has ended.
    func release() {
        state.withLock { state in
            if !state.isOver, file.status?.size == 0, file.isAt(path) { SystemFile.remove(path) }
            state.isOver = true
            file.unlock()
        }
    }
}

extension TransferError {
    init(_ failure: SystemFile.Failure) { self.init(.fileFailed, failure.description) }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(TransferError) -> Value {
        do { return try body() } catch { throw TransferError(error) }
    }
}

struct UploadRecord: Codable, Sendable, Equatable {
    var format = Self.format
    /// A digest of the upload, so no secret in its URL is written to disk.
    var request: String
    /// Nil in records of earlier versions, which count as anonymous.
    var user: UserStamp?
    var url: String
    var name: String?
    var source: SourceFingerprint
    var server: UploadServer
    /// Nil until the server has sent the upload's URL.
    var resource: UploadResource?
    /// Confirmed by the server, for display.
    var acknowledged: Int64 = 0
    /// The bytes sent by the end of the last run, for display. Nil while it runs, and for segments.
    var sent: Int64?
    /// Nil for a single upload, whose URL is in `resource`.
    var segments: [UploadSegment]?
    /// Whether the server was asked to join the segments, so the result may depend on them. Nil means false.
    var mayBeJoined: Bool?

    static let format = 1
    static let magic = Array("ErrandU1".utf8)

    var places: [UploadResource] { resource.map { [$0] } ?? segments?.compactMap(\.resource) ?? [] }

    /// What a progress bar showed at the end of the last run.
    var reached: Int64 { min(max(0, acknowledged, sent ?? 0), source.size) }
}
