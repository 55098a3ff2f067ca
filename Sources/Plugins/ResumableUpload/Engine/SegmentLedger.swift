import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The segments of a running upload, and their record on the disk.
final class SegmentLedger: Sendable {
    private struct State {
        var segments: [UploadSegment]
        /// Segments that are complete, as confirmed by the server in this run.
        var complete: Set<Int> = []
        var mayBeJoined: Bool
    }

    let sum: SegmentSum
    /// The record and its content apart from the segments, or `nil` if uploads aren't recorded.
    private let record: (file: UploadRecordFile, content: UploadRecord)?
    private let state: Mutex<State>

    /// - Parameter mayBeJoined: Whether an earlier run asked the server to join the segments.
    init(
        _ segments: [UploadSegment], mayBeJoined: Bool = false, _ sum: SegmentSum,
        _ record: (file: UploadRecordFile, content: UploadRecord)?
    ) {
        (self.sum, self.record) = (sum, record)
        state = Mutex(State(segments: segments, mayBeJoined: mayBeJoined))
    }

    var segments: [UploadSegment] { state.withLock { $0.segments } }
    var places: [UploadResource] { segments.compactMap(\.resource) }
    /// The segments that may be incomplete on the server.
    var open: [Int] {
        state.withLock { state in state.segments.indices.filter { !state.complete.contains($0) } }
    }
    /// Whether the server was asked to join the segments, and may have done it.
    var mayBeJoined: Bool { state.withLock { $0.mayBeJoined } }

    func keep(_ index: Int, _ resource: UploadResource?, _ acknowledged: Int64, flushes: Bool) throws(TransferError) {
        try change(flushes: flushes) { state in
            state.segments[index].resource = resource
            state.segments[index].acknowledged = min(max(0, acknowledged), state.segments[index].length)
        }
    }

    func complete(_ index: Int) { state.withLock { _ = $0.complete.insert(index) } }

    /// Marks all segments as incomplete, so the server is asked about each again.
    func doubt() { state.withLock { $0.complete = [] } }

    /// Records on the disk that the server is about to be asked to join the segments.
    func willJoin() throws(TransferError) {
        if mayBeJoined { return }
        try change(flushes: true) { $0.mayBeJoined = true }
    }

    /// Write under the lock, so the file's order matches the changes.
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

/// A range of the body. It's a separate upload until the server joins all segments.
struct UploadSegment: Codable, Sendable, Equatable {
    var start: Int64
    /// Exclusive.
    var end: Int64
    /// `nil` until the server has sent the segment's URL.
    var resource: UploadResource?
    /// The number of bytes that the server had when last asked, for display.
    var acknowledged: Int64 = 0

    var length: Int64 { end - start }

    static let limit = 16

    /// Splits a body into as many segments of similar length as allowed. Returns `nil` if that's only one.
    ///
    /// - Parameter minimum: The minimum size of a segment in bytes.
    static func split(_ total: Int64, into count: Int, minimum: Int64) -> [UploadSegment]? {
        let count = min(Int64(min(count, limit)), total / max(1, minimum))
        guard count > 1 else { return nil }
        let (length, longer) = (total / count, total % count)
        return (0..<count).map { index in
            let start = index * length + min(index, longer)
            return UploadSegment(start: start, end: start + length + (index < longer ? 1 : 0))
        }
    }

    /// Validates segments read from the disk: they must be adjacent and cover the whole body.
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
