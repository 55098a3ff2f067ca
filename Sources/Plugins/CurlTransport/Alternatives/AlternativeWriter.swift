#if os(Linux) || os(Android)
import Dispatch
import ErrandEssentials
import Synchronization

/// Writes HTTP/3 offers on a queue, one write at a time. Skips snapshots that were replaced while they waited.
final class AlternativeWriter: Sendable {
    struct Snapshot: Sendable {
        var offers: [AlternativeTable.Offer]
        /// On the loop's clock.
        var now: UInt64
    }

    private static let queue = DispatchQueue(label: "errand.curl.alternatives", qos: .utility)

    private let write: @Sendable (Snapshot) -> Void
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
