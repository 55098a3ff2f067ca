import Synchronization

/// A counter for several threads.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    @discardableResult
    package func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}
