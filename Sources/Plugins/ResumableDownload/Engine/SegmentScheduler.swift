import Errand
import Synchronization

/// Distributes a file's incomplete parts among segments. A segment that doesn't find a part to download takes half of
/// the largest part that another segment is downloading.
final class SegmentScheduler: Sendable {
    private struct Work {
        let claim: SegmentClaim
        let began: ContinuousClock.Instant
        let doneBefore: Int64
    }

    private struct State {
        var open: [Int64]
        var working: [Int: Work] = [:]
        var lastID = 0
        /// The number of changes. Before a segment waits, it checks that this number is the same as before, so it can't
        /// miss a change.
        var changes = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The number of times that a slow segment's part may still be taken over.
        var takeovers: Int
    }

    private let file: PartialFile
    private let time: any TimeSource
    private let minimum: Int64
    private let state: Mutex<State>

    /// The time between an idle segment's attempts to take over part of a slow segment's work.
    static let interval = Duration.milliseconds(250)
    /// A time in seconds. If a segment needs less time than this for the rest of its part, it keeps the part.
    private static let minimumTimeLeft = 2.0

    init(_ file: PartialFile, minimum: Int64, segments: Int, time: any TimeSource) {
        (self.file, self.minimum, self.time) = (file, minimum, time)
        let open = file.plan.parts.filter { !$0.isDone }.map(\.start)
        state = Mutex(State(open: open, takeovers: 2 * segments))
    }

    var openCount: Int { state.withLock { $0.open.count } }

    /// Returns a part for the caller to download. If other segments are downloading all parts, waits for a part.
    /// Returns nil if the file is complete. `rate` is the number of bytes per second that the caller has received so
    /// far.
    func take(rate: Double) async throws -> SegmentClaim? {
        while true {
            try Task.checkCancellation()
            let now = time.now
            let (claim, seen, interrupted) = state.withLock { state -> (SegmentClaim?, Int?, SegmentClaim?) in
                if !state.open.isEmpty { return (assign(&state, state.open.removeFirst(), at: now), nil, nil) }
                if state.working.isEmpty { return (nil, nil, nil) }
                let (start, slow) = takeOver(&state, rate, at: now)
                return (start.map { assign(&state, $0, at: now) }, state.changes, slow)
            }
            interrupted?.interrupt()
            if let claim { return claim }
            guard let seen else { return nil }
            await wait(after: seen)
        }
    }

    func giveBack(_ claim: SegmentClaim) {
        let isDone = file.part(claim.start)?.isDone ?? true
        change { state in
            state.working[claim.id] = nil
            if !isDone { state.open.insert(claim.start, at: 0) }
        }
    }

    /// Wakes idle segments at intervals, until the task is cancelled.
    func supervise() async throws {
        while true {
            try await time.sleep(until: time.now.advanced(by: Self.interval))
            change { _ in }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            state.changes += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.resume() }
    }

    private func wait(after seen: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isDue = state.withLock { state in
                    let isDue = state.changes != seen || Task.isCancelled
                    if !isDue { state.waiters.append(waiter) }
                    return isDue
                }
                if isDue { waiter.resume() }
            }
        } onCancel: {
            change { _ in }
        }
    }

    private func assign(
        _ state: inout State, _ start: Int64, at now: ContinuousClock.Instant
    ) -> SegmentClaim {
        state.lastID += 1
        let claim = SegmentClaim(id: state.lastID, start: start)
        state.working[claim.id] = Work(claim: claim, began: now, doneBefore: file.part(start)?.done ?? 0)
        return claim
    }

    private func takeOver(
        _ state: inout State, _ rate: Double, at now: ContinuousClock.Instant
    ) -> (start: Int64?, interrupted: SegmentClaim?) {
        var largest: (start: Int64, left: Int64)?
        var slowest: (claim: SegmentClaim, seconds: Double)?
        for work in state.working.values {
            guard let part = file.part(work.claim.start), let left = part.left, left > 0 else { continue }
            let elapsed = work.began.duration(to: now) / .seconds(1)
            let speed = elapsed > 0 ? Double(part.done - work.doneBefore) / elapsed : 0
            // The segment hasn't run long enough to measure its speed.
            if elapsed < Self.minimumTimeLeft { continue }
            let seconds = speed > 0 ? Double(left) / speed : .infinity
            if seconds < Self.minimumTimeLeft { continue }
            if left > largest?.left ?? 0 { largest = (part.start, left) }
            if rate > 0, speed * 4 <= rate, seconds >= slowest?.seconds ?? Self.minimumTimeLeft {
                slowest = (work.claim, seconds)
            }
        }
        if let largest, let start = file.halve(largest.start, minimum: minimum) { return (start, nil) }
        // The largest part is too short to halve, so this takes over the rest of the slowest segment's part. That
        // segment must be far slower than the caller.
        guard let slowest, state.takeovers > 0 else { return (nil, nil) }
        state.takeovers -= 1
        return (file.cut(slowest.claim.start), slowest.claim)
    }
}

final class SegmentClaim: Sendable {
    let id: Int
    let start: Int64
    private let state = Mutex<(isInterrupted: Bool, action: (@Sendable () -> Void)?)>((false, nil))

    init(id: Int, start: Int64) { (self.id, self.start) = (id, start) }

    /// Sets the action to run when the segment is interrupted. If it was already interrupted, runs the action
    /// immediately.
    func onInterrupt(_ action: @escaping @Sendable () -> Void) {
        let isInterrupted = state.withLock { state in
            state.action = action
            return state.isInterrupted
        }
        if isInterrupted { action() }
    }

    func interrupt() {
        let action = state.withLock { state in
            state.isInterrupted = true
            return state.action
        }
        action?()
    }

    /// Removes the action. Returns whether the segment was interrupted since the last call.
    func takeInterrupt() -> Bool {
        state.withLock { state in
            defer { state = (false, nil) }
            return state.isInterrupted
        }
    }
}
