import ErrandSupport
import ErrandTesting
import Synchronization

/// A thread that tasks can prefer, on which each piece of their work is measured: from the point where a task continues
/// to the point where it waits again.
final class BenchExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var use = ThreadUse()
        var isOver = false
    }

    private let state = Mutex(State())
    private let bell: Bell

    /// Nil if the system has no thread or no descriptor left. The thread keeps the executor until it is ended.
    init?() {
        guard let bell = Bell() else { return nil }
        self.bell = bell
        guard SystemThread.start(stack: 1 << 20, { self.run() }) else { return nil }
    }

    deinit { bell.close() }

    /// Ends the thread once it is idle.
    func end() {
        state.withLock { $0.isOver = true }
        bell.ring()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // Each job is taken out once and run once, before the executor of its thread ends.
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        bell.ring()
    }

    /// The use since the last call.
    func takeUse() -> ThreadUse {
        state.withLock { state in
            defer { state.use = ThreadUse() }
            return state.use
        }
    }

    private func run() {
        let executor = unsafe asUnownedTaskExecutor()
        while true {
            let (job, isOver) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isOver)
            }
            if let job {
                let use = ThreadUse.measured { unsafe job.runSynchronously(on: executor) }
                state.withLock { $0.use += use }
            } else if isOver {
                return
            } else {
                bell.wait()
            }
        }
    }
}

/// The use of a thread by some pieces of work.
struct ThreadUse: Sendable {
    /// The time for which the processor worked.
    var worked = Duration.zero
    /// The time for which the thread was occupied while no processor worked for it.
    var blocked = Duration.zero

    static func += (a: inout ThreadUse, b: ThreadUse) {
        (a.worked, a.blocked) = (a.worked + b.worked, a.blocked + b.blocked)
    }

    static func measured(_ body: () -> Void) -> ThreadUse {
        let (begin, worked, waits) = (ContinuousClock.now, SystemThread.processorTime, SystemThread.waits)
        body()
        let spent = SystemThread.processorTime - worked
        // A thread that did not wait by itself was preempted.
        let hasWaited = waits == nil || SystemThread.waits != waits
        let blocked = hasWaited ? max(.zero, ContinuousClock.now - begin - spent) : .zero
        return ThreadUse(worked: spent, blocked: blocked)
    }

    /// The median of each part, which other load on the machine does not affect.
    static func median(of uses: [ThreadUse]) -> ThreadUse {
        func middle(_ values: [Duration]) -> Duration { values.isEmpty ? .zero : values.sorted()[values.count / 2] }
        return ThreadUse(worked: middle(uses.map(\.worked)), blocked: middle(uses.map(\.blocked)))
    }

    /// The maximum: longer than a lock that is held for an instant blocks, and more work than a small message needs in
    /// any build.
    static let most = ThreadUse(worked: .milliseconds(5), blocked: .microseconds(800))
}
