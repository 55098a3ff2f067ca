import Errand

/// The bytes of the steps added up, and of a list how many of its steps are done: never falls. A pure value.
struct ChainProgress: Sendable {
    private var running: [Int: TransferProgress] = [:]
    private var sent: Int128 = 0
    private var received: Int128 = 0
    private var fraction: Double?

    mutating func begin(_ step: Int) { running[step] = TransferProgress() }

    /// A running step reports its progress; what is less than it reported before is left out.
    mutating func update(_ step: Int, _ progress: TransferProgress) {
        guard let before = running[step] else { return }
        let now = TransferProgress(
            sent: max(before.sent, progress.sent), received: max(before.received, progress.received))
        sent += Int128(now.sent) - Int128(before.sent)
        received += Int128(now.received) - Int128(before.received)
        running[step] = now
    }

    mutating func end(_ step: Int) { running[step] = nil }

    /// So many steps of a list are done.
    mutating func count(_ done: Int, of all: Int) {
        fraction = max(fraction ?? 0, all > 0 ? min(1, Double(done) / Double(all)) : 1)
    }

    /// The whole. What is to come is not known, so it has no totals.
    var whole: TransferProgress {
        TransferProgress(sent: Int64(clamping: sent), received: Int64(clamping: received), fraction: fraction)
    }
}
