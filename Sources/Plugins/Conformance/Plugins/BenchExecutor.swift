import ErrandPlatform
import ErrandSupport
import ErrandTesting
import Synchronization

/// An executor with a thread that runs tasks. It measures the work of a task between two suspensions.
final class BenchExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var use = ThreadUse()
        var isOver = false
    }

    private let state = Mutex(State())
    private let bell: Bell

    /// Starts the thread, which keeps the executor alive until ``end()``. Returns `nil` if the system doesn't have more
    /// threads or descriptors.
    init?() {
        guard let bell = Bell() else { return nil }
        self.bell = bell
        guard SystemThread.start(stack: 1 << 20, { self.run() }) else { return nil }
    }

    deinit { bell.close() }

    func end() {
        state.withLock { $0.isOver = true }
        bell.ring()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // Using an `UnownedJob` is safe here, because each job runs once, before its executor ends.
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        bell.ring()
    }

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

struct ThreadUse: Sendable {
    /// The time in which the thread used a processor.
    var worked = Duration.zero
    /// The time in which the thread waited without using a processor.
    var blocked = Duration.zero

    static func += (a: inout ThreadUse, b: ThreadUse) {
        (a.worked, a.blocked) = (a.worked + b.worked, a.blocked + b.blocked)
    }

    static func measured(_ body: () -> Void) -> ThreadUse {
        let (begin, worked, waits) = (ContinuousClock.now, SystemThread.processorTime, SystemThread.waits)
        body()
        let spent = SystemThread.processorTime - worked
        // If the thread didn't wait voluntarily, the system gave its processor to other work. This time doesn't count.
        let hasWaited = waits == nil || SystemThread.waits != waits
        let blocked = hasWaited ? max(.zero, ContinuousClock.now - begin - spent) : .zero
        return ThreadUse(worked: spent, blocked: blocked)
    }

    /// Returns the median, because other work on the machine hardly affects it.
    static func median(of uses: [ThreadUse]) -> ThreadUse {
        func middle(_ values: [Duration]) -> Duration { values.isEmpty ? .zero : values.sorted()[values.count / 2] }
        return ThreadUse(worked: middle(uses.map(\.worked)), blocked: middle(uses.map(\.blocked)))
    }

    /// The limits for a single event. Waiting for a lock that is held only briefly takes less time, and handling small
    /// messages takes less work in any build.
    static let most = ThreadUse(worked: .milliseconds(5), blocked: .microseconds(800))
}
