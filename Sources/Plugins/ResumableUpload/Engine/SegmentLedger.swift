import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The segments of a running upload, and their record on the disk.
final class SegmentLedger: Sendable {
    private struct State {
        var segments: [UploadSegment]
        /// Those of which the server has all bytes, as it has said in this run.
        var complete: Set<Int> = []
        var mayBeJoined: Bool
    }

    let sum: SegmentSum
    /// The record and what it has of the upload besides the segments; nil where none is kept.
    private let record: (file: UploadRecordFile, content: UploadRecord)?
    private let state: Mutex<State>

    /// - Parameter mayBeJoined: whether an earlier run has asked the server to join the segments.
    init(
        _ segments: [UploadSegment], mayBeJoined: Bool = false, _ sum: SegmentSum,
        _ record: (file: UploadRecordFile, content: UploadRecord)?
    ) {
        (self.sum, self.record) = (sum, record)
        state = Mutex(State(segments: segments, mayBeJoined: mayBeJoined))
    }

    var segments: [UploadSegment] { state.withLock { $0.segments } }
    var places: [UploadResource] { segments.compactMap(\.resource) }
    /// The segments of which the server may lack bytes.
    var open: [Int] {
        state.withLock { state in state.segments.indices.filter { !state.complete.contains($0) } }
    }
    /// Whether the server was asked to join the segments, and may have done so.
    var mayBeJoined: Bool { state.withLock { $0.mayBeJoined } }

    /// Keeps what is known of a segment.
    func keep(_ index: Int, _ resource: UploadResource?, _ acknowledged: Int64, flushes: Bool) throws(TransferError) {
        try change(flushes: flushes) { state in
            state.segments[index].resource = resource
            state.segments[index].acknowledged = min(max(0, acknowledged), state.segments[index].length)
        }
    }

    /// The server has all of a segment.
    func complete(_ index: Int) { state.withLock { _ = $0.complete.insert(index) } }

    /// The server has to be asked once more for each segment.
    func doubt() { state.withLock { $0.complete = [] } }

    /// The server is about to be asked to join the segments; it is on the disk before.
    func willJoin() throws(TransferError) {
        if mayBeJoined { return }
        try change(flushes: true) { $0.mayBeJoined = true }
    }

    /// The file is written under the lock, so that it follows the segments.
    private func change(flushes: Bool, _ body: (inout State) -> Void) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            body(&state)
            guard let record else { return }
            var content = record.content
            content.segments = state.segments
            content.mayBeJoined = state.mayBeJoined ? true : nil
            content.acknowledged = state.segments.reduce(0) { $0 + $1.acknowledged }
            try record.file.write(content, flushes: flushes)
        }
    }
}

/// A range of the body that is an upload of its own, until the server joins it with the others.
struct UploadSegment: Codable, Sendable, Equatable {
    var start: Int64
    /// After the last byte.
    var end: Int64
    /// Nil before the server has named one.
    var resource: UploadResource?
    /// Bytes that the server had when it was asked last, for people.
    var acknowledged: Int64 = 0

    var length: Int64 { end - start }

    /// The largest number of segments.
    static let limit = 16

    /// Segments of about the same length, as many as there may be; nil where there would be one only.
    ///
    /// - Parameter minimum: the fewest bytes of a segment.
    static func split(_ total: Int64, into count: Int, minimum: Int64) -> [UploadSegment]? {
        let count = min(Int64(min(count, limit)), total / max(1, minimum))
        guard count > 1 else { return nil }
        let (length, longer) = (total / count, total % count)
        return (0..<count).map { index in
            let start = index * length + min(index, longer)
            return UploadSegment(start: start, end: start + length + (index < longer ? 1 : 0))
        }
    }

    /// Whether segments that were read from a disk are those of a body: adjacent, from its first byte to its last.
    static func areWhole(_ segments: [UploadSegment], of total: Int64?) -> Bool {
        guard 2...limit ~= segments.count, segments.last?.end == total else { return false }
        var expected: Int64 = 0
        for segment in segments {
            guard segment.start == expected, segment.end > segment.start, segment.end <= 1 << 60,
                0...segment.length ~= segment.acknowledged
            else { return false }
            expected = segment.end
        }
        return true
    }
}
