/// The frames around the innermost one. One that leaves stays in memory for the next one to replace: there is nothing to
/// destroy.
@usableFromInline package struct FrameStack<Frame: BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline var frames: [Frame]
    @usableFromInline package var count = 0

    /// Starts with room for a few frames, which are copies of one until then.
    package init(repeating frame: Frame) { frames = Array(repeating: frame, count: 16) }

    /// How many frames there is room for.
    package var capacity: Int { frames.count }

    /// The last frame.
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
