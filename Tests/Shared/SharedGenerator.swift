import Synchronization

/// A ``SeededGenerator`` that several tasks draw from.
package final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    package init(seed: some BinaryInteger) { generator = Mutex(SeededGenerator(seed: seed)) }

    /// A number from 0 that is less than the limit.
    package func below(_ limit: Int) -> Int { generator.withLock { $0.below(limit) } }
}
