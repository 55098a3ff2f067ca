public import ErrandHTTP
import ErrandSupport

/// Reports the progress of a composite, computed from a state that its members change from many threads: the newest
/// value, in order, outside of the lock.
///
/// ```swift
/// let bytes: [Int64] = [0, 0]
/// let reporter = ProgressReporter(bytes, of: exchange.activity) { TransferProgress(received: $0.reduce(0, +)) }
/// let options = CallOptions(progress: { progress in reporter.update { $0[1] = progress.received } })
/// ```
public struct ProgressReporter<State: Sendable>: Sendable {
    private let notifier: LatestValueNotifier<State, TransferProgress>

    /// - Parameters:
    ///   - state: the state at the beginning.
    ///   - activity: the activity of the composite, which reports the progress.
    ///   - progress: computes the progress of the whole; runs under the lock of the state, so keep it short.
    public init(
        _ state: State, of activity: Activity, progress: @escaping @Sendable (State) -> TransferProgress
    ) {
        notifier = LatestValueNotifier(state, value: progress) { activity.report(.progress($0)) }
    }

    /// Changes the state under its lock, and reports unless that is turned off.
    public func update(reporting: Bool = true, _ change: (inout State) -> Void) {
        if reporting { notifier.change(change) } else { notifier.changeSilently(change) }
    }

    /// Returns when every update so far has been reported, also by another thread; at the end of a composite's `run`.
    public func allReported() async { await notifier.allDelivered() }
}
