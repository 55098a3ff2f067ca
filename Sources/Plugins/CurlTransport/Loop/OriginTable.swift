#if os(Linux) || os(Android)
/// The origins of the transfers, and the transfers that wait for another transfer to the same origin to end.
struct OriginTable {
    private var origins: [String: Origin] = [:]
    private var last: (target: RequestTarget, origin: Origin)?
    /// Origins whose next waiting transfer may start.
    private var ready: [Origin] = []
    private(set) var waitingCount = 0

    /// The number of origins at which unused origins are removed. It's twice the number that remained last time, so a
    /// program with thousands of hosts doesn't search all of them for each new host.
    private var sweepCount = Self.minimumSweepCount
    private static let minimumSweepCount = 256

    mutating func origin(of transfer: Transfer) -> Origin {
        if let last, last.target.hasSameStart(as: transfer.target) { return last.origin }
        let name = transfer.target.originName
        let origin = origins[name] ?? Origin(name)
        if origins.count >= sweepCount {
            origins = origins.filter { !$0.value.isUnused }
            sweepCount = max(Self.minimumSweepCount, 2 * origins.count)
        }
        origins[name] = origin
        last = (transfer.target, origin)
        return origin
    }

    mutating func leave(_ transfer: Transfer) {
        guard let origin = transfer.origin else { return }
        transfer.origin = nil
        origin.transfers -= 1
        if !origin.line.isEmpty { return ready.append(origin) }
        // Keep an origin that has open sockets, because they still refer to it.
        if origin.isUnused {
            origins[origin.name] = nil
            if last?.origin === origin { last = nil }
        }
    }

    // MARK: Waiting

    mutating func enqueue(_ transfer: Transfer, for origin: Origin) {
        origin.line.append(transfer)
        transfer.waitsAt = origin
        waitingCount += 1
    }

    mutating func remove(_ transfer: Transfer) -> Bool {
        guard let origin = transfer.waitsAt else { return false }
        transfer.waitsAt = nil
        origin.line.remove(transfer)
        waitingCount -= 1
        return true
    }

    mutating func next(below limit: Int) -> Transfer? {
        while let origin = ready.last {
            if origin.transfers < limit, let transfer = origin.line.removeFirst() {
                transfer.waitsAt = nil
                waitingCount -= 1
                return transfer
            }
            ready.removeLast()
        }
        return nil
    }
}

final class Origin {
    let name: String
    /// The number of open sockets, including sockets that are connecting.
    var open = 0
    /// Whether the last response was HTTP/1 although HTTP/2 was possible.
    var speaksHTTP1 = false
    /// When the number of sockets was last at its limit.
    var lastFull: UInt64 = 0
    var transfers = 0
    var line = TransferQueue()

    init(_ name: String) { self.name = name }

    var isUnused: Bool { transfers == 0 && open == 0 && line.isEmpty }
}

/// A queue of transfers that any of them can leave.
struct TransferQueue {
    private var slots: [Transfer?] = []
    /// The index of the first transfer, or of an empty slot before it.
    private var first = 0
    private var count = 0

    private static let smallest = 64

    var isEmpty: Bool { count == 0 }

    mutating func append(_ transfer: Transfer) {
        if slots.count > Self.smallest, count < slots.count / 2 { compact() }
        transfer.slot = slots.count
        slots.append(transfer)
        count += 1
    }

    mutating func remove(_ transfer: Transfer) {
        guard slots[transfer.slot] === transfer else { return }
        slots[transfer.slot] = nil
        count -= 1
    }

    mutating func removeFirst() -> Transfer? {
        while first < slots.count {
            defer { first += 1 }
            guard let transfer = slots[first] else { continue }
            slots[first] = nil
            count -= 1
            return transfer
        }
        slots.removeAll()
        first = 0
        return nil
    }

    private mutating func compact() {
        slots.removeAll { $0 == nil }
        first = 0
        for (index, transfer) in slots.enumerated() { transfer?.slot = index }
    }
}
#endif
