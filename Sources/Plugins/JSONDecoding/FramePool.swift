import Synchronization

/// Keeps the frames of a decoding, with their document and their containers, for the next one by the same decoder: a small
/// text takes less time than their allocation.
final class FramePool: Sendable {
    private let kept = Mutex<Root?>(nil)

    /// A frame in the pool has no other reference.
    private struct Root: @unchecked Sendable {
        var frame: ValueFrame
    }

    /// Calls a function with a frame for a whole text.
    func withRoot<Value>(_ body: (ValueFrame) throws -> Value) rethrows -> Value {
        var root = take() ?? Root(frame: ValueFrame(JSONDocument()))
        defer { if ValueFrame.takeBack(&root.frame) { keep(root) } }
        return try body(root.frame)
    }

    private func take() -> Root? {
        kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
    }

    private func keep(_ root: Root) {
        let dropped = kept.withLock { kept in
            defer { kept = root }
            return kept
        }
        withExtendedLifetime(dropped) {}
    }
}
