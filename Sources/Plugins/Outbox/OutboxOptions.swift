public import Errand

/// The limits and waits of an ``Outbox``. Other values of all properties are taken for the nearest that make sense.
///
/// ```swift
/// var options = OutboxOptions(maximumConcurrent: 2)
/// options.maximumAge = .seconds(86_400)
/// let outbox = try await agent.outbox(at: directory, sending: types, options: options)
/// ```
public struct OutboxOptions: Sendable {
    /// How many lanes are sent at once; 4 by default.
    public var maximumConcurrent: Int
    /// The waits after failures that pass, for each lane: 1 second, doubled up to 5 minutes, in part at random by
    /// default. A `Retry-After` of the server counts, up to an hour.
    public var backoff: Backoff
    /// The maximum number of entries; 10,000 by default.
    public var maximumEntries = 10_000
    /// The maximum size of all entries in bytes; 64 MiB by default.
    public var maximumBytes = 64 << 20
    /// The maximum size of an entry's encoded request in bytes; 1 MiB by default, at most 16 MiB.
    public var maximumEntryBytes = 1 << 20
    /// The maximum age of an entry whose request sets none; nil, the default, for no limit. Counted by the calendar's
    /// clock.
    public var maximumAge: Duration?
    /// Whether this process may send; true by default. One that only enqueues, such as an extension of an app, says
    /// false.
    public var allowsSending = true
    /// The time between two looks for what another process has enqueued, and whether it still sends; 2 seconds by
    /// default.
    public var checkInterval: Duration = .seconds(2)
    /// Whether another kind of error passes, so that the entry waits and is sent again; nil by default. Errors of the
    /// network, of the connection's security, and retryable statuses such as 503 wait anyway.
    public var repeatsError: (@Sendable (any Error) -> Bool)?
    /// The options that each delivery is sent with.
    public var call = CallOptions()

    /// Makes options; the defaults are those of the properties.
    public init(
        maximumConcurrent: Int = 4, backoff: Backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(300))
    ) {
        (self.maximumConcurrent, self.backoff) = (maximumConcurrent, backoff)
    }

    var entryLimit: Int { min(max(1, maximumEntryBytes), OutboxFormat.maximumPayload / 2) }
}
