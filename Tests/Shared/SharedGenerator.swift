import Synchronization

/// A ``SeededGenerator`` that several tasks can share.
package final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    package init(seed: some BinaryInteger) { generator = Mutex(SeededGenerator(seed: seed)) }

    package func below(_ limit: Int) -> Int { generator.withLock { $0.below(limit) } }
}
