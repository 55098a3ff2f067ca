import ErrandEssentials
import ErrandTransfers
import Synchronization

/// Adds up the segments' sent and confirmed bytes, and determines the upload's state.
final class SegmentSum: Sendable {
    private struct Segment {
        var sent: Int64
        var acknowledged: Int64
        /// `nil` before the segment begins and after it's complete.
        var state: TransferState?
    }

    private let segments: Mutex<[Segment]>
    private let meter: TransferMeter
    private let acknowledged: Acknowledgement

    /// - Parameter found: The bytes that the server had of each segment in an earlier run.
    init(_ found: [Int64], _ meter: TransferMeter, _ acknowledged: Acknowledgement) {
        segments = Mutex(found.map { Segment(sent: $0, acknowledged: $0) })
        (self.meter, self.acknowledged) = (meter, acknowledged)
    }

    fileprivate func move(_ index: Int, to offset: Int64, _ state: TransferState?) {
        let (more, shown) = segments.withLock { segments in
            let more = offset - segments[index].sent
            segments[index].sent = offset
            return (more, Self.show(state, &segments, index))
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
        if let shown = segments.withLock({ Self.show(state, &$0, index) }) { meter.set(shown) }
    }

    /// Returns the upload's new state, or `nil` if unchanged: sending while any segment is sending, otherwise the last
    /// reported state.
    private static func show(_ state: TransferState?, _ segments: inout [Segment], _ index: Int) -> TransferState? {
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
