/// A stack of the frames around the innermost one. A popped frame stays in memory until it's replaced, because it
/// doesn't need to be destroyed.
@usableFromInline package struct FrameStack<Frame: BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline var frames: [Frame]
    @usableFromInline package var count = 0

    /// Creates a stack with room for a few frames, filled with copies of one.
    package init(repeating frame: Frame) { frames = Array(repeating: frame, count: 16) }

    package var capacity: Int { frames.count }

    @inlinable @inline(__always) package var last: Frame { frames[count &- 1] }

    @inlinable package subscript(level: Int) -> Frame { frames[level] }

    @inlinable @inline(__always) package mutating func push(_ frame: Frame) {
        if count == frames.count { grow() }
        frames[count] = frame
        count &+= 1
    }

    @inlinable @inline(__always) package mutating func pop() -> Frame {
        count &-= 1
        return frames[count]
    }

    /// Drops the frames after the first `count`.
    package mutating func truncate(to count: Int) { self.count = min(count, self.count) }

    @usableFromInline @inline(never) mutating func grow() { frames += frames }
}
