import ErrandEssentials
import ErrandTransfers
import Synchronization

protocol UploadTally: AnyObject, Sendable {
    func begin(at offset: Int64, of total: Int64?)
    func add(_ count: Int64)
    func acknowledge(_ count: Int64)
    func set(_ state: TransferState)
    func end(at total: Int64)
}

final class WholeTally: UploadTally {
    private let meter: TransferMeter
    private let acknowledged: Acknowledgement

    init(_ meter: TransferMeter, _ acknowledged: Acknowledgement) {
        (self.meter, self.acknowledged) = (meter, acknowledged)
    }

    func begin(at offset: Int64, of total: Int64?) {
        acknowledged.beginTransfer()
        meter.begin(at: offset, total: total)
    }

    func add(_ count: Int64) { meter.add(count) }
    func acknowledge(_ count: Int64) { acknowledged.set(count) }
    func set(_ state: TransferState) { meter.set(state) }

    func end(at total: Int64) {
        acknowledged.set(total)
        meter.end(at: total)
    }
}

/// Stores the number of confirmed bytes, and the number of the call's current transfer. The first transfer has the
/// number 1.
final class Acknowledgement: Sendable {
    private let state = Mutex((count: Int64(0), transfer: 0, reported: (count: Int64(0), transfer: 0)))

    var count: Int64 { state.withLock { $0.count } }
    var reported: Int64 { state.withLock { $0.reported.count } }

    /// Returns the values for a report. If fewer bytes were sent than in the last report, another transfer has begun.
    /// Call this for one report at a time, in order.
    func values(reporting sent: Int64) -> (count: Int64, transfer: Int) {
        state.withLock { state in
            state.transfer = max(1, state.transfer)
            if sent < state.reported.count, state.transfer == state.reported.transfer { state.transfer += 1 }
            state.reported = (sent, state.transfer)
            return (state.count, state.transfer)
        }
    }

    func set(_ count: Int64) { state.withLock { $0.count = count } }

    func shift(by count: Int64) { state.withLock { $0.count += count } }

    func beginTransfer() { state.withLock { $0.transfer += 1 } }
}
