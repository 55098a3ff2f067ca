import Synchronization

/// A ``SeededGenerator`` that several tasks can share.
package final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    package init(seed: some BinaryInteger) { generator = Mutex(SeededGenerator(seed: seed)) }

    /// Returns a number from 0 up to but not including `limit`.
    package func below(_ limit: Int) -> Int { generator.withLock { $0.below(limit) } }
}
