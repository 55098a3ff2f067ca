import Errand

/// The sum of the bytes of the steps, and for a list the number of completed steps: never decreases. A pure value.
struct ChainProgress: Sendable {
    /// The steps that have begun and not ended, in order: few, usually one.
    private var running: [(step: Int, progress: TransferProgress)] = []
    private var sent: Int128 = 0
    private var received: Int128 = 0
    private var fraction: Double?

    mutating func begin(_ step: Int) {
        var index = running.count
        while index > 0, running[index - 1].step > step { index -= 1 }
        running.insert((step, TransferProgress()), at: index)
    }

    /// A running step reports its progress; a number that is smaller than one before is ignored.
    mutating func update(_ step: Int, _ progress: TransferProgress) {
        guard let index = index(of: step) else { return }
        let before = running[index].progress
        let now = TransferProgress(
            sent: max(before.sent, progress.sent), received: max(before.received, progress.received))
        sent += Int128(now.sent) - Int128(before.sent)
        received += Int128(now.received) - Int128(before.received)
        running[index].progress = now
    }

    mutating func end(_ step: Int) {
        if let index = index(of: step) { running.remove(at: index) }
    }

    /// This many steps of a list are complete; each ends where the next one begins.
    mutating func count(_ done: Int, of all: Int) {
        if let index = index(of: done - 1) { running[index] = (done, TransferProgress()) }
        fraction = max(fraction ?? 0, all > 0 ? min(1, Double(done) / Double(all)) : 1)
    }

    /// A binary search: a body may run thousands at a time.
    private func index(of step: Int) -> Int? {
        var (low, high) = (0, running.count)
        while low < high {
            let middle = (low + high) / 2
            if running[middle].step < step { low = middle + 1 } else { high = middle }
        }
        return low < running.count && running[low].step == step ? low : nil
    }

    /// The progress of the chain. Later steps are unknown, so it has no totals.
    var whole: TransferProgress {
        TransferProgress(sent: Int64(clamping: sent), received: Int64(clamping: received), fraction: fraction)
    }
}
