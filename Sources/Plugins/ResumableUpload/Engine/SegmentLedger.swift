import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

final class SegmentLedger: Sendable {
    private struct State {
        var segments: [UploadSegment]
        /// The segments that the server has confirmed in this run.
        var complete: Set<Int> = []
        var mayBeJoined: Bool
    }

    let sum: SegmentSum
    /// The upload's record, without its segments. It's nil if uploads aren't recorded.
    private let record: (file: UploadRecordFile, content: UploadRecord)?
    private let state: Mutex<State>

    init(
        _ segments: [UploadSegment], mayBeJoined: Bool = false, sum: SegmentSum,
        record: (file: UploadRecordFile, content: UploadRecord)?
    ) {
        (self.sum, self.record) = (sum, record)
        state = Mutex(State(segments: segments, mayBeJoined: mayBeJoined))
    }

    var segments: [UploadSegment] { state.withLock { $0.segments } }
    var places: [UploadResource] { segments.compactMap(\.resource) }
    var open: [Int] {
        state.withLock { state in state.segments.indices.filter { !state.complete.contains($0) } }
    }
    var mayBeJoined: Bool { state.withLock { $0.mayBeJoined } }

    func keep(_ index: Int, resource: UploadResource?, acknowledged: Int64, flushes: Bool) throws(TransferError) {
        try change(flushes: flushes) { state in
            state.segments[index].resource = resource
            state.segments[index].acknowledged = min(max(0, acknowledged), state.segments[index].length)
        }
    }

    func complete(_ index: Int) { state.withLock { _ = $0.complete.insert(index) } }

    func doubt() { state.withLock { $0.complete = [] } }

    func willJoin() throws(TransferError) {
        if mayBeJoined { return }
        try change(flushes: true) { $0.mayBeJoined = true }
    }

    /// Changes the state, and writes the record under the lock. The lock keeps the writes in the order of the changes.
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
    /// The offset after the segment's last byte.
    var end: Int64
    /// The segment's URL on the server. It's nil until the server has sent it.
    var resource: UploadResource?
    /// The number of bytes that the server has confirmed, for display.
    var acknowledged: Int64 = 0

    var length: Int64 { end - start }

    static let limit = 16

    /// Divides a body into at most `count` segments of at least `minimum` bytes. Returns nil if the result would be a
    /// single segment.
    static func split(_ total: Int64, into count: Int, minimum: Int64) -> [UploadSegment]? {
        let count = min(Int64(min(count, limit)), total / max(1, minimum))
        guard count > 1 else { return nil }
        let (length, longer) = (total / count, total % count)
        return (0..<count).map { index in
            let start = index * length + min(index, longer)
            return UploadSegment(start: start, end: start + length + (index < longer ? 1 : 0))
        }
    }

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

/// Adds up the segments' bytes, and determines the state of the whole upload.
final class SegmentSum: Sendable {
    private struct Segment {
        var sent: Int64
        var acknowledged: Int64
        /// The segment's state. It's nil before the segment begins and after it's complete.
        var state: TransferState?
    }

    private let segments: Mutex<[Segment]>
    private let meter: TransferMeter
    private let acknowledged: Acknowledgement

    init(_ found: [Int64], meter: TransferMeter, acknowledged: Acknowledgement) {
        segments = Mutex(found.map { Segment(sent: $0, acknowledged: $0) })
        (self.meter, self.acknowledged) = (meter, acknowledged)
    }

    fileprivate func move(_ index: Int, to offset: Int64, _ state: TransferState?) {
        let (more, shown) = segments.withLock { segments in
            let more = offset - segments[index].sent
            segments[index].sent = offset
            return (more, Self.show(state, in: &segments, at: index))
        }
        if more != 0 { meter.shift(by: more) }
        if let shown { meter.set(shown) }
    }

    fileprivate func add(_ index: Int, _ count: Int64) {
        segments.withLock { segments in
            segments[index].sent += count
            segments[index].state = .sending
        }
        meter.add(count)
    }

    fileprivate func acknowledge(_ index: Int, _ count: Int64) {
        let more = segments.withLock { segments in
            defer { segments[index].acknowledged = count }
            return count - segments[index].acknowledged
        }
        acknowledged.shift(by: more)
    }

    fileprivate func set(_ index: Int, _ state: TransferState) {
        if let shown = segments.withLock({ Self.show(state, in: &$0, at: index) }) { meter.set(shown) }
    }

    /// Sets a segment's state. Returns the state of the whole upload, or nil if that is unchanged. The upload counts as
    /// sending while any segment is sending.
    private static func show(_ state: TransferState?, in segments: inout [Segment], at index: Int) -> TransferState? {
        segments[index].state = state
        if segments.contains(where: { $0.state == .sending }) { return nil }
        return state ?? segments.compactMap(\.state).first
    }
}

final class SegmentTally: UploadTally {
    private let sum: SegmentSum
    private let index: Int

    init(_ sum: SegmentSum, _ index: Int) { (self.sum, self.index) = (sum, index) }

    func begin(at offset: Int64, of total: Int64?) { sum.move(index, to: offset, .connecting) }
    func add(_ count: Int64) { sum.add(index, count) }
    func acknowledge(_ count: Int64) { sum.acknowledge(index, count) }
    func set(_ state: TransferState) { sum.set(index, state) }

    func end(at total: Int64) {
        sum.acknowledge(index, total)
        sum.move(index, to: total, nil)
    }
}
