import Synchronization

/// The only background validation of a key. It ends once: with its work, or with the last reference to it where the work
/// was cancelled before it began.
final class RevalidationTurn: Sendable {
    private let isOver = Atomic(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { end() }

    func end() { if !isOver.exchange(true, ordering: .acquiringAndReleasing) { onEnd() } }
}
