import Errand

/// The bytes of the steps added up, and of a list how many of its steps are done: never falls. A pure value.
struct ChainProgress: Sendable {
    /// Those that have begun and not ended, in the order of their places: few, as a rule one.
    private var running: [(step: Int, progress: TransferProgress)] = []
    private var sent: Int128 = 0
    private var received: Int128 = 0
    private var fraction: Double?

    mutating func begin(_ step: Int) {
        var place = running.count
        while place > 0, running[place - 1].step > step { place -= 1 }
        running.insert((step, TransferProgress()), at: place)
    }

    /// A running step reports its progress; what is less than it reported before is left out.
    mutating func update(_ step: Int, _ progress: TransferProgress) {
        guard let place = place(of: step) else { return }
        let before = running[place].progress
        let now = TransferProgress(
            sent: max(before.sent, progress.sent), received: max(before.received, progress.received))
        sent += Int128(now.sent) - Int128(before.sent)
        received += Int128(now.received) - Int128(before.received)
        running[place].progress = now
    }

    mutating func end(_ step: Int) {
        if let place = place(of: step) { running.remove(at: place) }
    }

    /// So many steps of a list are done, each of which ends where the next one begins.
    mutating func count(_ done: Int, of all: Int) {
        if let place = place(of: done - 1) { running[place] = (done, TransferProgress()) }
        fraction = max(fraction ?? 0, all > 0 ? min(1, Double(done) / Double(all)) : 1)
    }

    /// By halves: a body may run thousands at a time.
    private func place(of step: Int) -> Int? {
        var (low, high) = (0, running.count)
        while low < high {
            let middle = (low + high) / 2
            if running[middle].step < step { low = middle + 1 } else { high = middle }
        }
        return low < running.count && running[low].step == step ? low : nil
    }

    /// The whole. What is to come is not known, so it has no totals.
    var whole: TransferProgress {
        TransferProgress(sent: Int64(clamping: sent), received: Int64(clamping: received), fraction: fraction)
    }
}
