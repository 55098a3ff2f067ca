/// The first cause of a cancellation. More cases can be added, so write a `default` in a `switch`.
public enum CancellationCause: Sendable, Hashable {
    /// The task that awaited `send` was cancelled.
    case task
    /// `RequestHandle.cancel()` was called.
    case handle
    /// `Activity.cancel()` was called, for example by an accessory.
    case activity
    /// `cancelAll` was called, or the agent was deallocated.
    case agent
    /// The deadline passed. The outcome is then a failure.
    case deadline
    /// A filter, a check, the decoding or the transport threw a cancellation, although the call wasn't cancelled. A
    /// cancelled source of a request body instead fails the call with ``ErrandError/Code/encodingFailed``.
    case within
}
