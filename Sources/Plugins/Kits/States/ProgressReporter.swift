public import Errand
public import ErrandHTTP

/// Reports the progress of an operation with several parts, such as a batch, whose parts update a shared state on many
/// threads. Reports the latest progress in order and outside the lock.
///
/// ```swift
/// let bytes: [Int64] = [0, 0]
/// let reporter = ProgressReporter(bytes, of: exchange.activity) { TransferProgress(received: $0.reduce(0, +)) }
/// let options = CallOptions(progress: { progress in reporter.update { $0[1] = progress.received } })
/// ```
public struct ProgressReporter<State: Sendable>: Sendable {
    private let notifier: LatestValueNotifier<State, TransferProgress>

    /// Creates a reporter.
    ///
    /// - Parameter progress: Computes the operation's progress from the state. Runs under the lock, so return quickly.
    public init(
        _ state: State, of activity: Activity, progress: @escaping @Sendable (State) -> TransferProgress
    ) {
        notifier = LatestValueNotifier(state, value: progress) { activity.report(.progress($0)) }
    }

    /// Changes the state under its lock, and reports the progress unless `reporting` is `false`.
    public func update(reporting: Bool = true, _ change: (inout State) -> Void) {
        if reporting { notifier.change(change) } else { notifier.changeSilently(change) }
    }

    /// Waits until all updates so far are reported. Call it at the end of the operation.
    public func allReported() async { await notifier.allDelivered() }
}
