#if os(Linux) || os(Android)
import Dispatch
import ErrandEssentials
import Synchronization

/// Writes offers of HTTP/3 on a queue: one write at a time, and of those that wait for it the latest alone, however fast
/// servers change what they offer.
final class AlternativeWriter: Sendable {
    struct Snapshot: Sendable {
        var offers: [AlternativeTable.Offer]
        /// The time at which they were taken, as the loop counts it.
        var now: UInt64
    }

    private static let queue = DispatchQueue(label: "errand.curl.alternatives", qos: .utility)

    private let write: @Sendable (Snapshot) -> Void
    /// What waits to be written; nil where nothing does.
    private let waiting = Mutex<Snapshot?>(nil)

    init(write: @escaping @Sendable (Snapshot) -> Void) { self.write = write }

    convenience init(_ file: AlternativeFile) {
        self.init { file.write($0.offers, at: $0.now, date: Date()) }
    }

    /// Never blocks.
    func save(_ snapshot: Snapshot) {
        let former = waiting.withLock { waiting in
            defer { waiting = snapshot }
            return waiting
        }
        if former == nil { Self.queue.async { [self] in writeLatest() } }
    }

    private func writeLatest() {
        let latest = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        if let latest { write(latest) }
    }
}
#endif
