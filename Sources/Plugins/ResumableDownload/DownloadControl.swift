public import Errand
import Synchronization

/// Pauses and resumes a download, from any thread.
///
/// ```swift
/// let control = DownloadControl()
/// let task = Task { try await agent.send(request, options: .download(control)) }
/// control.pause()      // closes the connections, keeps the received bytes
/// control.resume()     // requests the rest
/// ```
///
/// A download that cannot be resumed keeps its connection and stops reading. While a download is paused, only the
/// request's deadline applies. One control may serve several downloads.
public final class DownloadControl: Sendable {
    private struct State {
        var isPaused = false
        var lastID = 0
        var interrupts: [Int: @Sendable () -> Bool] = [:]
        var interrupted: Set<Int> = []
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// A control that is not paused.
    public init() {}

    /// Whether ``pause()`` was called and ``resume()`` was not.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses the downloads; the received bytes are kept.
    public func pause() {
        let interrupts = state.withLock { state in
            state.isPaused = true
            return state.interrupts
        }
        for (id, interrupt) in interrupts { run(interrupt, id) }
    }

    /// Resumes the downloads.
    public func resume() {
        let waiters = state.withLock { state in
            state.isPaused = false
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns once the control is not paused. Throws when the task is cancelled.
    func waitUntilResumed() async throws {
        guard isPaused else { return }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
                let (isOver, isCancelled) = state.withLock { state in
                    let isCancelled = Task.isCancelled
                    if state.isPaused && !isCancelled { state.waiters[id] = waiter }
                    return (!state.isPaused, isCancelled)
                }
                if isCancelled { waiter.resume(throwing: CancellationError()) } else if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Records the interruption first, so that the interrupted body can see its reason.
    private func run(_ interrupt: @Sendable () -> Bool, _ id: Int) {
        state.withLock { _ = $0.interrupted.insert(id) }
        if !interrupt() { state.withLock { _ = $0.interrupted.remove(id) } }
    }

    /// Runs a body that `pause()` interrupts, at once if the control is paused already: then this throws ``DownloadPause``.
    /// `interrupt` returns whether it interrupted anything.
    func interruptible<Value>(
        _ interrupt: @escaping @Sendable () -> Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        let (id, isPaused) = state.withLock { state in
            state.lastID += 1
            state.interrupts[state.lastID] = interrupt
            return (state.lastID, state.isPaused)
        }
        defer {
            state.withLock { state in
                state.interrupts[id] = nil
                state.interrupted.remove(id)
            }
        }
        if isPaused { run(interrupt, id) }
        do { return try await body() } catch {
            throw state.withLock({ $0.interrupted.contains(id) }) && !Task.isCancelled ? DownloadPause() : error
        }
    }
}

/// A transfer ended because the download was paused; never thrown to a caller.
struct DownloadPause: Error {}

/// The options that a call passes to its download.
struct DownloadCall: Sendable {
    var control: DownloadControl?
    var listeners: [@Sendable (DownloadEvent) -> Void] = []

    enum Key: TagKey {
        static var defaultValue: DownloadCall { DownloadCall() }
    }
}

extension CallOptions {
    /// Options that control and observe a download: `agent.send(request, options: .download { print($0.received) })`. The
    /// closure is called on any thread, one report at a time.
    public static func download(
        _ control: DownloadControl? = nil, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) -> CallOptions {
        var options = CallOptions()
        var listener: (@Sendable (DownloadEvent) -> Void)?
        if let progress {
            listener = { event in
                if case .progress(let newest) = event { progress(newest) }
            }
        }
        options.addDownload(control, listener)
        return options
    }

    /// The same with a closure that runs on the main actor, such as one that changes a view:
    /// `.download(progressOnMain: { bar.progress = $0.fraction ?? 0 })`. Of several reports that wait for the main actor it
    /// receives the newest.
    public static func download(
        _ control: DownloadControl? = nil, progressOnMain: @escaping @MainActor @Sendable (DownloadProgress) -> Void
    ) -> CallOptions {
        let listener = MainActorListener(merging: { _, newest in newest }, progressOnMain)
        return download(control, progress: { listener.receive($0) })
    }

    mutating func addDownload(_ control: DownloadControl?, _ listener: (@Sendable (DownloadEvent) -> Void)?) {
        var call = tags[DownloadCall.Key.self]
        call.control = control ?? call.control
        if let listener { call.listeners.append(listener) }
        tags[DownloadCall.Key.self] = call
    }
}
