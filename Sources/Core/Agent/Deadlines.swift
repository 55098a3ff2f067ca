import Synchronization

/// One timer for all deadlines of an agent: a heap of instants and one task that sleeps until the earliest.
final class Deadlines: Sendable {
    private struct Entry {
        let instant: ContinuousClock.Instant
        let activity: Activity
    }

    private struct State {
        var heap: [Entry] = []
        var positions: [Activity.ID: Int] = [:]
        var sleeper: Task<Void, Never>?
        var wakes: ContinuousClock.Instant?
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.sleeper?.cancel() } }

    func add(_ activity: Activity, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.heap.append(Entry(instant: instant, activity: activity))
            state.positions[activity.id] = state.heap.count - 1
            Self.siftUp(&state, state.heap.count - 1)
            schedule(&state)
        }
    }

    func remove(_ activity: Activity) {
        state.withLock { state in
            guard let position = state.positions[activity.id] else { return }
            Self.remove(&state, at: position)
            if state.heap.isEmpty { schedule(&state) }
        }
    }

    private func fire() {
        let now = time.now
        let due = state.withLock { state in
            var due: [Activity] = []
            while let first = state.heap.first, first.instant <= now {
                due.append(first.activity)
                Self.remove(&state, at: 0)
            }
            state.wakes = nil
            schedule(&state)
            return due
        }
        for activity in due { activity.cancel(.deadline) }
    }

    /// Sleeps until the earliest; a sleeper that wakes too early looks and sleeps on, so it is replaced only by an earlier one.
    private func schedule(_ state: inout State) {
        guard let first = state.heap.first?.instant else {
            state.sleeper?.cancel()
            (state.sleeper, state.wakes) = (nil, nil)
            return
        }
        if let wakes = state.wakes, wakes <= first { return }
        state.sleeper?.cancel()
        state.wakes = first
        state.sleeper = Task.detached { [time, weak self] in
            do { try await time.sleep(until: first) } catch { return }
            self?.fire()
        }
    }

    private static func remove(_ state: inout State, at position: Int) {
        state.positions[state.heap[position].activity.id] = nil
        let last = state.heap.removeLast()
        guard position < state.heap.count else { return }
        state.heap[position] = last
        state.positions[last.activity.id] = position
        siftDown(&state, position)
        siftUp(&state, position)
    }

    private static func siftUp(_ state: inout State, _ start: Int) {
        var child = start
        while child > 0, state.heap[child].instant < state.heap[(child - 1) / 2].instant {
            swap(&state, child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func siftDown(_ state: inout State, _ start: Int) {
        var parent = start
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < state.heap.count }
            guard let child = children.min(by: { state.heap[$0].instant < state.heap[$1].instant }),
                state.heap[child].instant < state.heap[parent].instant
            else { return }
            swap(&state, child, parent)
            parent = child
        }
    }

    private static func swap(_ state: inout State, _ a: Int, _ b: Int) {
        state.heap.swapAt(a, b)
        state.positions[state.heap[a].activity.id] = a
        state.positions[state.heap[b].activity.id] = b
    }
}
