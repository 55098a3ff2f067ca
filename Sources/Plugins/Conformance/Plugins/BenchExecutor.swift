import ErrandSupport
import ErrandTesting
import Synchronization

/// A thread for tasks to prefer. It measures each piece of their work, from where a task resumes to where it suspends.
final class BenchExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var use = ThreadUse()
        var isOver = false
    }

    private let state = Mutex(State())
    private let bell: Bell

    /// Returns `nil` if the system has no thread or descriptor left. The thread keeps the executor alive until
    /// ``end()``.
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
        // Each job is taken once and run once, before its thread's executor ends.
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        bell.ring()
    }

    /// Returns the use since the last call.
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

/// How some work used its thread.
struct ThreadUse: Sendable {
    /// The processor time.
    var worked = Duration.zero
    /// The time the thread was occupied without using a processor.
    var blocked = Duration.zero

    static func += (a: inout ThreadUse, b: ThreadUse) {
        (a.worked, a.blocked) = (a.worked + b.worked, a.blocked + b.blocked)
    }

    static func measured(_ body: () -> Void) -> ThreadUse {
        let (begin, worked, waits) = (ContinuousClock.now, SystemThread.processorTime, SystemThread.waits)
        body()
        let spent = SystemThread.processorTime - worked
        // A thread that didn't wait by itself was preempted.
        let hasWaited = waits == nil || SystemThread.waits != waits
        let blocked = hasWaited ? max(.zero, ContinuousClock.now - begin - spent) : .zero
        return ThreadUse(worked: spent, blocked: blocked)
    }

    /// Returns the median of each part, which isn't affected by other load on the machine.
    static func median(of uses: [ThreadUse]) -> ThreadUse {
        func middle(_ values: [Duration]) -> Duration { values.isEmpty ? .zero : values.sorted()[values.count / 2] }
        return ThreadUse(worked: middle(uses.map(\.worked)), blocked: middle(uses.map(\.blocked)))
    }

    /// The maximum allowed use. A lock that is held for an instant blocks for less, and a small message needs less work
    /// in any build.
    static let most = ThreadUse(worked: .milliseconds(5), blocked: .microseconds(800))
}
