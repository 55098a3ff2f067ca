/// The first cause of a cancellation. Cases may be added: write a `default`.
public enum CancellationCause: Sendable, Hashable {
    /// The task that awaited `send`.
    case task
    /// `RequestHandle.cancel()`.
    case handle
    /// `Activity.cancel()`, by an accessory for instance.
    case activity
    /// `cancelAll` or the end of the agent.
    case agent
    /// The deadline passed; the outcome is then a failure.
    case deadline
    /// A filter, a check, the decoding or the transport threw a cancellation of its own, though none of the above had
    /// cancelled the call. Not the source of a body that is sent: one that was cancelled elsewhere fails the call with
    /// ``ErrandError/Code/encodingFailed``.
    case within
}
