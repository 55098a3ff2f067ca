#if os(Linux) || os(Android)
import ErrandSupport
import Synchronization

/// A short wait that doesn't need descriptors. `Task.sleep` does: without them, libdispatch ends the process or never
/// wakes the task.
enum DescriptorPause {
    private static let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
    private static let microseconds: UInt32 = 20_000

    /// Waits about 20 milliseconds, even if the task is cancelled.
    static func wait() async {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.append(continuation)
                return waiting.count == 1
            }
            if isFirst { startThread() }
        }
    }

    private static func startThread() {
        let code = SystemCalls.startThread {
            usleep(microseconds)
            resumeAll()
        }
        if code != 0 { resumeAll() }
    }

    private static func resumeAll() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in all { continuation.resume() }
    }
}
#endif
