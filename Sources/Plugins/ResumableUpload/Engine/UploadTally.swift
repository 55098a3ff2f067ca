import ErrandEssentials
import ErrandTransfers
import Synchronization

/// Where a run reports the bytes that it sends, and its state: those of the whole body, or those of a segment.
protocol UploadTally: AnyObject, Sendable {
    /// An attempt begins behind so many bytes of so many.
    func begin(at offset: Int64, of total: Int64?)
    /// So many bytes were passed to the network.
    func add(_ count: Int64)
    /// The server has so many bytes.
    func acknowledge(_ count: Int64)
    func set(_ state: TransferState)
    /// The server has all bytes.
    func end(at total: Int64)
}

/// The bytes of a whole body.
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

/// What the server has confirmed, and which transfer of the call this is, from 1.
final class Acknowledgement: Sendable {
    private let state = Mutex((count: Int64(0), transfer: 0, reported: (count: Int64(0), transfer: 0)))

    /// What the server has confirmed.
    var count: Int64 { state.withLock { $0.count } }

    /// For a report of so many bytes: fewer than the last one had belong to another transfer. Called for one report at a
    /// time, in their order.
    func values(reporting sent: Int64) -> (count: Int64, transfer: Int) {
        state.withLock { state in
            state.transfer = max(1, state.transfer)
            if sent < state.reported.count, state.transfer == state.reported.transfer { state.transfer += 1 }
            state.reported = (sent, state.transfer)
            return (state.count, state.transfer)
        }
    }

    func set(_ count: Int64) { state.withLock { $0.count = count } }

    /// The server has so many bytes more, or fewer.
    func shift(by count: Int64) { state.withLock { $0.count += count } }

    func beginTransfer() { state.withLock { $0.transfer += 1 } }
}
