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
